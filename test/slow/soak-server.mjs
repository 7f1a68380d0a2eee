/**
 * The process that the soak tests and the tests of hostile clients measure: the built package's node behind its HTTP server. It
 * sends its port; for `measure` its memory after garbage collection, and the peak of what was resident; and for `stop`, when all
 * is closed, the handles that it has more than at its start. Run with `--expose-gc`; the argument is the chain as JSON, a light
 * one without its network.
 */
import { devnet } from 'plumbline-l2';
import { createInlineNode } from 'plumbline-l2/inline';
import { serve } from 'plumbline-l2-cli';

const turn = () => new Promise((resolve) => setTimeout(resolve, 50));
const handles = () => process.getActiveResourcesInfo().filter((name) => name !== 'Immediate');

/** Nothing is sent before the port is known. */
let handle = () => {};
// Before the first look at the handles, because listening to the parent is one.
process.on('message', (message) => handle(message));
const atStart = handles();
const given = JSON.parse(process.argv[2]);
const chain = given.kind === 'light' ? { ...given, network: devnet() } : given;
// No test may fail because the machine is busy.
// Time and gas are not what these tests limit.
const limits = { requestTimeoutMs: 3_600_000, gasBudget: 1e15, connectionGasBudget: 1e15 };
const node = await createInlineNode({ chain, ...limits });
const server = await serve(node, { port: 0 });

/** Handles that are not among those of the start; looked at again while some of them are closing. */
async function left() {
  let found;
  for (let look = 0; look < 40; look++) {
    const before = [...atStart];
    found = handles().filter((name) => {
      const at = before.indexOf(name);
      if (at >= 0) before.splice(at, 1);
      return at < 0;
    });
    if (found.length === 0) return found;
    await turn();
  }
  return found;
}

handle = async (message) => {
  if (message === 'stop') {
    await server.close();
    await node.close();
    process.send({ left: await left() });
    process.disconnect();
    return;
  }
  // Twice: what finalizers let go of is collected by the second.
  for (let i = 0; i < 2; i++) {
    await turn();
    globalThis.gc();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send({ heapUsed, external, rss, peakRss: process.resourceUsage().maxRSS * 1024 });
};
process.send({ port: server.port });
