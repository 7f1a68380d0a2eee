/**
 * The servers of `trickle`, of the built package: a devnet, and a light node over the endpoints of the arguments. Sends their
 * ports; for each message, the bytes that are in use after garbage collection, and the most that was resident. Run with
 * `--expose-gc`.
 */
type Index = typeof import('../../src/index.js');
type Server = typeof import('../../src/hosts/cli/server.js');

/** What the process says of its memory, bytes. */
export interface TrickleMemory {
  readonly inUse: number;
  readonly resident: number;
  readonly mostResident: number;
}

const { devnet } = (await import(import.meta.resolve('plumbline-l2'))) as Index;
const { createInlineNode, serve } = (await import(import.meta.resolve('plumbline-l2-cli'))) as Server;
const endpoints = process.argv.slice(2);
const chain = await serve(await createInlineNode(), { port: 0 });
const light = await serve(
  await createInlineNode({ chain: { kind: 'light', network: devnet(), endpoints, level: 'linked' } }),
  { port: 0 },
);

process.on('message', () => {
  (globalThis as unknown as { gc(): void }).gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  const memory: TrickleMemory = {
    inUse: heapUsed + external,
    resident: rss,
    mostResident: process.resourceUsage().maxRSS * 1024,
  };
  process.send!(memory);
});
process.send!({ devnet: chain.port, light: light.port });
