// A page that opens a devnet in a worker and asks for an estimate: what every bundler here has to build.
import { createNode } from 'plumbline-l2';

try {
  const node = await createNode();
  const [from, to] = await node.request({ method: 'eth_accounts' });
  const { gasLimit } = await node.request({ method: 'linea_estimateGas', params: [{ from, to, value: '0x1' }] });
  globalThis.outcome = { gasLimit };
} catch (error) {
  globalThis.outcome = { code: error.code ?? String(error), message: error.message };
}
