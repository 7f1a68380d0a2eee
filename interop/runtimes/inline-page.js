// The same without a worker and without top-level await, for builds of one file.
import { createInlineNode } from 'plumbline-l2/inline';

async function run() {
  const node = await createInlineNode();
  const [from, to] = await node.request({ method: 'eth_accounts' });
  const { gasLimit } = await node.request({ method: 'linea_estimateGas', params: [{ from, to, value: '0x1' }] });
  return { gasLimit };
}

globalThis.outcome = undefined;
run().then(
  (outcome) => {
    globalThis.outcome = outcome;
  },
  (error) => {
    globalThis.outcome = { code: error.code ?? String(error), message: error.message };
  },
);
