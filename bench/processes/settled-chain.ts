/** A devnet with its layer 1 and beacon chain behind a server, in a process of its own: `ACCOUNTS SLOTS`. Prints where it is. */
import { createInlineNode, serve } from '../../src/hosts/cli/server.js';
import { settledAlloc } from '../settled-alloc.js';

const [accounts, slots] = process.argv.slice(2).map(Number);
const node = await createInlineNode({
  chain: { kind: 'devnet', alloc: settledAlloc(accounts!, slots!) },
  http: { allowedOrigins: ['loopback'] },
});
await node.request({ method: 'anvil_mine', params: ['0x8'] });
const { port } = await serve(node, { port: 0 });
const final = await node.handleL1(new Request('http://devnet.local/eth/v1/beacon/headers/finalized'));
const { data } = (await final.json()) as { data: { root: string } };
console.log(JSON.stringify({ url: `http://127.0.0.1:${port}`, root: data.root }));
