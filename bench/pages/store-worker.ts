/** What bench/store.ts measures, in a worker: stored devnets on the IndexedDB of the browser. */

import type { DevnetChainOptions } from '../../src/chain/devnet/options.js';
import { decodeBlockRecord } from '../../src/chain/devnet/records/block-record.js';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { GenesisAlloc } from '../../src/chain/devnet/state/genesis.js';
import { ChainWriter } from '../../src/chain/devnet/storage/chain-writer.js';
import { DevnetStore } from '../../src/chain/devnet/storage/devnet-store.js';
import { loadSignerRecovery } from '../../src/ethereum/signer.js';
import { parseSignedTransaction } from '../../src/ethereum/transaction.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { claimStore } from '../../src/store/fence.js';
import { openIdbStore } from '../../src/store/idb-store.js';
import { MeteredStore } from '../../src/store/metered-store.js';
import { StoreHealth } from '../../src/store/store-status.js';
import { signTransaction, transferCalldata } from '../../test/support/sign.js';

/** What the worker is to do. */
export interface StoreTask {
  readonly accounts: number;
  readonly blocks: number;
  /** In each of `blocks`. */
  readonly transfers: number;
  /** Blocks of one transfer each, of another devnet. */
  readonly longChain: number;
}

/** What it found: milliseconds, and bytes that were put into the database. */
export interface StoreResult {
  readonly genesisBytes: number;
  readonly checkpointMs: number;
  readonly checkpointBytes: number;
  /** From genesis to the first proof, in memory. */
  readonly rebuiltMs: number;
  /** To the first proof, and until the state was loaded. */
  readonly openings: readonly { readonly provedMs: number; readonly loadedMs: number }[];
  /** Each block: executing it with sender recovery, in memory; storing its record, and what was put. */
  readonly executedMs: readonly number[];
  readonly storedMs: readonly number[];
  readonly storedBytes: readonly number[];
  /** The long chain: making it, opening it to its newest block, and until its state was loaded. */
  readonly madeMs: number;
  readonly longOpenings: StoreResult['openings'];
}

const SENDERS = 10;
const ROUNDS = 3;
const QUIET_MS = 500;
const PRICE = { gasLimit: 100_000n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 8n } as const;

const accountAt = (n: number): Hex =>
  `0x${(BigInt(n + 1) * 0x9e3779b97f4a7c15f39cc0605cedc834n).toString(16).padStart(40, '0').slice(-40)}`;

let putBytes = 0;

/** Counts the bytes of whatever is put into a database from now on. */
function countPuts(): void {
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (value: unknown, key?: IDBValidKey) {
    if (value instanceof Uint8Array) putBytes += value.length;
    return put.call(this, value, key);
  };
}

/** Bytes that have been put, once nothing is being put. */
async function putSoFar(): Promise<number> {
  for (let before = -1; before !== putBytes; ) {
    before = putBytes;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
  return putBytes;
}

async function timed<Result>(body: () => Promise<Result>): Promise<[number, Result]> {
  const started = performance.now();
  const result = await body();
  return [performance.now() - started, result];
}

async function counted(body: () => Promise<unknown>): Promise<number> {
  const before = putBytes;
  await body();
  return putBytes - before;
}

const ask = (node: PlumblineNode, method: string, ...params: unknown[]) =>
  node.request<UntypedMethod>({ method, params });
const prove = (node: PlumblineNode) => ask(node, 'linea_getProof', accountAt(77), [], 'latest');

/** The transfers of one block: every sender pays as many of the accounts. */
function transfersOf(block: number, transfers: number): Hex[] {
  const each = transfers / SENDERS;
  return Array.from({ length: transfers }, (_, i) =>
    signTransaction(i % SENDERS, {
      nonce: block * each + Math.floor(i / SENDERS),
      to: TEST_TOKEN,
      data: transferCalldata(accountAt((block * transfers + i) * 37), 1n + BigInt(i)),
      ...PRICE,
    }),
  );
}

/** Seals the blocks. @returns milliseconds of recovering senders and making each block, by block */
async function sealAll(node: PlumblineNode, transfers: readonly Hex[][]): Promise<number[]> {
  const times: number[] = [];
  await loadSignerRecovery();
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

/** Opens a stored devnet again and again. @param first - what is asked of it before its state is loaded */
async function openings(open: () => Promise<PlumblineNode>, first: (node: PlumblineNode) => Promise<unknown>) {
  const times: { provedMs: number; loadedMs: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    const node = await open();
    await first(node);
    const provedMs = performance.now() - started;
    await ask(node, 'eth_getBalance', accountAt(5), 'latest');
    times.push({ provedMs, loadedMs: performance.now() - started });
    await node.close();
  }
  return times;
}

/** Stores the newest blocks of a database again, as the chain does: each encoded, fenced, counted and committed. */
async function storeAgain(name: string, blocks: number, chainId: number) {
  const store = new MeteredStore((await claimStore(await openIdbStore(name)))!);
  const devnet = new DevnetStore(store, chainId);
  const writer = new ChainWriter(devnet, { head: 0, hashOf: () => undefined }, new StoreHealth('durable'), (work) =>
    work(),
  );
  const [storedMs, storedBytes]: [number[], number[]] = [[], []];
  for (let number = 1; number <= blocks; number++) {
    const record = decodeBlockRecord((await store.get('blocks', number))!, chainId);
    // As the chain hands it over: decoded.
    record.changes.length;
    storedBytes.push(
      await counted(async () => {
        const [took] = await timed(() => writer.save(record));
        storedMs.push(took);
      }),
    );
  }
  await writer.close();
  if (!writer.isComplete) throw new Error('the blocks were not stored');
  await store.close();
  return { storedMs, storedBytes };
}

/** A devnet with as few accounts as it comes with, and many blocks. */
async function longChain(blocks: number): Promise<Pick<StoreResult, 'madeMs' | 'longOpenings'>> {
  const open = () => createInlineNode({ storeName: 'long', chain: { kind: 'devnet', scheme: 'poseidon2' } });
  const node = await open();
  const raws = Array.from({ length: blocks }, (_, nonce) =>
    signTransaction(0, { nonce, to: accountAt(nonce % 100), value: 1n, ...PRICE }),
  );
  const [madeMs] = await timed(async () => {
    for (const raw of raws) await ask(node, 'eth_sendRawTransaction', raw);
  });
  await node.close();
  const longOpenings = await openings(open, async (opened) => {
    const newest = await ask(opened, 'eth_blockNumber');
    if (Number(newest) !== blocks) throw new Error(`opened at block ${String(newest)}`);
  });
  return { madeMs, longOpenings };
}

async function measure({ accounts, blocks, transfers, longChain: length }: StoreTask): Promise<StoreResult> {
  const alloc: Record<Hex, GenesisAlloc[Hex]> = {};
  for (let n = 0; n < accounts; n++) alloc[accountAt(n)] = { balance: 10n ** 18n + BigInt(n) };
  const chain: DevnetChainOptions = { kind: 'devnet', scheme: 'poseidon2', mining: 'manual', alloc };
  const storeName = 'large';
  const open = () => createInlineNode({ chain, storeName });
  const raws = Array.from({ length: blocks }, (_, block) => transfersOf(block, transfers));

  const first = await open();
  const genesisBytes = await putSoFar();
  await sealAll(first, raws);
  let checkpointMs = 0;
  const checkpointBytes = await counted(async () => {
    [checkpointMs] = await timed(() => first.close());
  });
  const [rebuiltMs, rebuilt] = await timed(async () => {
    const node = await createInlineNode({ chain });
    await prove(node);
    return node;
  });
  const executedMs = await sealAll(rebuilt, raws);
  const { chainId } = rebuilt.info;
  await rebuilt.close();
  const reopened = await openings(open, prove);
  const stored = await storeAgain(storeName, blocks, chainId);
  const long = await longChain(length);
  return { genesisBytes, checkpointMs, checkpointBytes, rebuiltMs, openings: reopened, executedMs, ...stored, ...long };
}

countPuts();
addEventListener('message', ({ data }: MessageEvent<StoreTask>) => {
  measure(data).then(
    (result) => postMessage({ result }),
    (error: unknown) =>
      postMessage({ error: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) }),
  );
});
