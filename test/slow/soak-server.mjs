/**
 * The process that the soak test measures: the built package's node behind its HTTP server. It tells its port, and its
 * memory after garbage collection whenever it is asked. Run with `--expose-gc`; the argument is the mining mode as JSON.
 */
import { createInlineNode, serve } from 'plumbline-l2/node';

const node = await createInlineNode({ chain: { kind: 'devnet', mining: JSON.parse(process.argv[2]) } });
const server = await serve(node, { port: 0 });
const turn = () => new Promise((resolve) => setTimeout(resolve, 50));

process.on('message', async (message) => {
  if (message === 'stop') {
    await server.close();
    await node.close();
    process.disconnect();
    return;
  }
  // Twice: what finalizers let go of is collected by the second.
  for (let i = 0; i < 2; i++) {
    await turn();
    globalThis.gc();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send({ heapUsed, external, rss });
});
process.send({ port: server.port });
