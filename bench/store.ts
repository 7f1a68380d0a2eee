import 'fake-indexeddb/auto';
import { decodeBlockRecord, encodeBlockRecord } from '../src/chain/devnet/block-record.js';
import type { GenesisAlloc } from '../src/chain/devnet/genesis.js';
import { TEST_TOKEN } from '../src/chain/devnet/test-token.js';
import { parseSignedTransaction } from '../src/ethereum/transaction.js';
import { createInlineNode, type InlineOptions } from '../src/hosts/inline.js';
import type { PlumblineNode } from '../src/hosts/node-handle.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';
import { openIdbStore } from '../src/store/idb-store.js';
import { MemoryStore } from '../src/store/memory-store.js';
import type { Commit } from '../src/store/page-store.js';
import { signTransaction, transferCalldata } from '../test/support/sign.js';
import { type BenchArea, type Figure, median } from './area.js';

const ACCOUNTS = 100_000;
const BLOCKS = 8;
const TRANSFERS = 200;
const SENDERS = 10;

const accountAt = (n: number): Hex =>
  `0x${(BigInt(n + 1) * 0x9e3779b97f4a7c15f39cc0605cedc834n).toString(16).padStart(40, '0').slice(-40)}`;

/** Outlives its node, and counts what is written and how long that takes. */
class MeasuredStore extends MemoryStore {
  bytes = 0;

  override async commit(commit: Commit): Promise<void> {
    for (const { value } of commit.puts ?? []) this.bytes += value.length;
    await super.commit(commit);
  }

  override async close(): Promise<void> {}
}

async function timed<Result>(body: () => Promise<Result>): Promise<[number, Result]> {
  const started = performance.now();
  const result = await body();
  return [performance.now() - started, result];
}

const ask = (node: PlumblineNode, method: string, ...params: unknown[]) => node.request({ method, params });
const prove = (node: PlumblineNode) => ask(node, 'linea_getProof', accountAt(77), [], 'latest');

/** The transfers of one block: every sender pays twenty of the many accounts. */
function transfersOf(block: number): Hex[] {
  const each = TRANSFERS / SENDERS;
  return Array.from({ length: TRANSFERS }, (_, i) =>
    signTransaction(i % SENDERS, {
      nonce: block * each + Math.floor(i / SENDERS),
      to: TEST_TOKEN,
      data: transferCalldata(accountAt((block * TRANSFERS + i) * 37), 1n + BigInt(i)),
      gasLimit: 100_000n,
      maxFeePerGas: 10n ** 9n,
      maxPriorityFeePerGas: 10n ** 8n,
    }),
  );
}

/** Seals the blocks. @returns milliseconds of recovering senders and making each block, by block */
async function sealAll(node: PlumblineNode, transfers: readonly Hex[][]): Promise<number[]> {
  const times: number[] = [];
  for (const raws of transfers) {
    const started = performance.now();
    for (const raw of raws) parseSignedTransaction(hexToBytes(raw), node.info.chainId);
    const recovery = performance.now() - started;
    for (const raw of raws) await ask(node, 'eth_sendRawTransaction', raw);
    const [sealing] = await timed(() => ask(node, 'evm_mine'));
    times.push(recovery + sealing);
  }
  return times;
}

/** Writes the stored blocks again, in IndexedDB. @returns milliseconds and bytes of each */
async function persistAll(store: MemoryStore, chainId: number): Promise<{ ms: number[]; bytes: number[] }> {
  const database = await openIdbStore('bench-store');
  const [ms, bytes]: [number[], number[]] = [[], []];
  for (let number = 1; number <= BLOCKS; number++) {
    const record = decodeBlockRecord((await store.get('blocks', number))!, chainId);
    // As the chain hands it over: decoded.
    record.changes.length;
    const [took, length] = await timed(async () => {
      const value = encodeBlockRecord(record);
      const head = new TextEncoder().encode(String(number));
      await database.commit({
        puts: [
          { table: 'blocks', key: number, value },
          { table: 'meta', key: 'devnet-head', value: head },
          { table: 'meta', key: 'devnet-edits', value: Uint8Array.of(0xc0) },
        ],
      });
      return value.length;
    });
    ms.push(took);
    bytes.push(length);
  }
  await database.close();
  return { ms, bytes };
}

export const storing: BenchArea = {
  name: 'store',
  question: 'How fast does a stored devnet come back, and what does it cost to store?',
  async run(): Promise<Figure[]> {
    const alloc: Record<Hex, GenesisAlloc[Hex]> = {};
    for (let n = 0; n < ACCOUNTS; n++) alloc[accountAt(n)] = { balance: 10n ** 18n + BigInt(n) };
    const options: InlineOptions = { chain: { kind: 'devnet', scheme: 'poseidon2', mining: 'manual', alloc } };
    const store = new MeasuredStore();
    const transfers = Array.from({ length: BLOCKS }, (_, block) => transfersOf(block));

    const first = await createInlineNode({ ...options, store });
    const genesisBytes = store.bytes;
    await sealAll(first, transfers);
    const blockBytes = store.bytes - genesisBytes;
    const [checkpointMs] = await timed(() => first.close());
    const checkpointBytes = store.bytes - genesisBytes - blockBytes;

    const [rebuiltMs, rebuilt] = await timed(async () => {
      const node = await createInlineNode(options);
      await prove(node);
      return node;
    });
    const executedMs = await sealAll(rebuilt, transfers);
    const { chainId } = rebuilt.info;
    await rebuilt.close();
    const stored = await persistAll(store, chainId);

    const openings: number[] = [];
    const loads: number[] = [];
    for (let round = 0; round < 3; round++) {
      const started = performance.now();
      const node = await createInlineNode({ ...options, store });
      await prove(node);
      openings.push(performance.now() - started);
      await ask(node, 'eth_getBalance', accountAt(5), 'latest');
      loads.push(performance.now() - started);
      await node.close();
    }

    const [executed, persisted] = [median(executedMs), median(stored.ms)];
    const sealed = transfers.length;
    return [
      { name: `${ACCOUNTS} accounts rebuilt from genesis and proved from`, value: rebuiltMs, unit: 'ms' },
      {
        name: 'rebuilding over opening, each to the first linea_getProof',
        value: rebuiltMs / median(openings),
        unit: 'x',
        bar: { atLeast: 10 },
        note: `opened in ${Math.round(median(openings))} ms; ${sealed} blocks more than the rebuilt one`,
      },
      { name: 'full load after opening, sampled check', value: median(loads), unit: 'ms' },
      { name: `executing ${TRANSFERS} token transfers, senders recovered`, value: executed, unit: 'ms' },
      {
        name: 'storing that block and its share of a checkpoint over it',
        value: (persisted + checkpointMs / sealed) / executed,
        unit: 'x',
        bar: { atMost: 0.25 },
        note: `record ${persisted.toFixed(1)} ms in fake-indexeddb, checkpoint ${(checkpointMs / sealed).toFixed(1)} ms`,
      },
      { name: 'bytes of that block', value: median(stored.bytes), unit: 'bytes' },
      { name: `bytes of the checkpoint, by block, ${sealed} to one`, value: checkpointBytes / sealed, unit: 'bytes' },
      { name: `bytes of genesis and its checkpoint`, value: genesisBytes, unit: 'bytes' },
    ];
  },
};
