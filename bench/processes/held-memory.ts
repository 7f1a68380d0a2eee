/** What a devnet holds, in a fresh process that collects its garbage: `blocks COUNT`, `accounts COUNT`. Prints bytes for each. */
type Inline = typeof import('../../src/hosts/opening/inline.js');
type GenesisAccount = { readonly balance: bigint };

const [kind, count = 0] = [process.argv[2], Number(process.argv[3])];
const { createInlineNode } = (await import(import.meta.resolve('plumbline-l2/inline'))) as Inline;

/** Bytes of the heap and outside it, the memories of WebAssembly among them. */
function heldBytes(): number {
  for (let i = 0; i < 3; i++) globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Spread over the address space, as real accounts are. */
function addressOf(index: number): `0x${string}` {
  const [high, low] = [Math.imul(index + 1, 0x9e37_79b1) >>> 0, Math.imul(index + 1, 0x85eb_ca77) >>> 0];
  const words = [high, low, index, high ^ low, low].map((word) => (word >>> 0).toString(16).padStart(8, '0'));
  return `0x${words.join('')}`;
}

async function ofBlocks(): Promise<number> {
  const node = await createInlineNode({ chain: { kind: 'devnet', mining: 'manual' } });
  const from = (await node.request({ method: 'eth_accounts' }))[0]!;
  const mine = async (blocks: number) => {
    for (let i = 0; i < blocks; i++) {
      await node.request({
        method: 'eth_sendTransaction',
        params: [{ from, to: addressOf(i % 100), value: '0x1', gas: '0x5208' }],
      });
      await node.request({ method: 'evm_mine' });
    }
  };
  // What is made once is there before it counts.
  await mine(count / 10);
  const before = heldBytes();
  await mine(count);
  const bytes = (heldBytes() - before) / count;
  await node.close();
  return bytes;
}

async function ofAccounts(): Promise<number> {
  const open = (accounts: number) => {
    const alloc: Record<string, GenesisAccount> = {};
    for (let i = 0; i < accounts; i++) alloc[addressOf(i)] = { balance: 1n + BigInt(i) };
    return createInlineNode({ chain: { kind: 'devnet', alloc } });
  };
  const small = await open(1);
  const before = heldBytes();
  const large = await open(count);
  const bytes = (heldBytes() - before) / count;
  await small.close();
  await large.close();
  return bytes;
}

process.stdout.write(String(kind === 'blocks' ? await ofBlocks() : await ofAccounts()));
