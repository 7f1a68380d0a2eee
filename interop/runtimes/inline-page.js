// The same without a worker and without top-level await, for builds of one file.
import { createInlineNode } from 'plumbline-l2/inline';

async function run() {
  const node = await createInlineNode();
  const [from, to] = await node.request({ method: 'eth_accounts' });
  const { gasLimit } = await node.request({ method: 'linea_estimateGas', params: [{ from, to, value: '0x1' }] });
  return { gasLimit };
}

// The global object of a page under LavaMoat is not that of the browser, so the outcome stands in the document too.
function tell(outcome) {
  globalThis.outcome = outcome;
  globalThis.document?.documentElement.setAttribute('outcome', JSON.stringify(outcome));
}

run().then(tell, (error) => tell({ code: error.code ?? String(error), message: error.message }));
