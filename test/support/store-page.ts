/** What runs in the pages of the store tests: a stored devnet in a worker that can be ended. Bundled by `store-browser.ts`. */
import type { UntypedMethod } from '../../dist/index.js';
import {
  createNode,
  DEV_ACCOUNTS,
  type Hex,
  linea,
  type NodeOptions,
  type PlumblineNode,
  type ProviderEvents,
  TEST_TOKEN,
} from '../../dist/index.js';
import { hexToBytes, loadHasher, verifyLineaProof } from '../../dist/verify.js';
import { rawDatabase } from './store-raw.js';

type StoreStatus = ProviderEvents['storage'];

/** A block that the page was told of: the transaction that made it was answered. */
export interface Acknowledged {
  readonly number: number;
  readonly hash: Hex;
}

export interface Found {
  readonly head: number;
  readonly status: StoreStatus | undefined;
  /** Stages of opening and loading. */
  readonly stages: readonly string[];
  /** Hashes of the blocks from the one asked for on; null for one that was pruned. */
  readonly hashes: readonly (Hex | null)[];
}

interface Rpc {
  readonly number: Hex;
  readonly hash: Hex;
  readonly parentHash: Hex;
}

const word = (value: string) => value.replace('0x', '').padStart(64, '0');
const hex = (value: number): Hex => `0x${value.toString(16)}`;

let worker: Worker | undefined;
let node: PlumblineNode | undefined;
let stages: string[] = [];
let statuses: StoreStatus[] = [];
let acknowledged: Acknowledged[] = [];
let streaming: Promise<void> = Promise.resolve();
let isStopped = false;
/** Unhandled rejections of a worker that reports them. */
const unhandled: string[] = [];

const ask = <T>(method: string, ...params: unknown[]) => node!.request<UntypedMethod>({ method, params }) as Promise<T>;
const blockAt = (tag: string) => ask<Rpc>('eth_getBlockByNumber', tag, false);
/** @returns null for a block that was pruned (docs/spec/json-rpc.md 4.1, code 4444) */
const heldAt = (tag: string) =>
  blockAt(tag).catch((error: { code?: unknown }) => {
    if (error.code === 4444) return null;
    throw error;
  });

/** An error as it can leave the page. */
function plain(error: unknown): { code?: unknown; details?: unknown; message: string } {
  const { code, details, message } = error as { code?: unknown; details?: unknown; message: string };
  return { code, details, message };
}

const token = (from: number, to: string, amount: number) => ({
  from: DEV_ACCOUNTS[from]!.address,
  to: TEST_TOKEN,
  gas: '0x186a0',
  maxFeePerGas: '0x3b9aca00',
  maxPriorityFeePerGas: '0x5f5e100',
  data: `0xa9059cbb${word(to)}${word(hex(amount))}`,
});

const page = {
  /** Starts a node in a new worker. @returns the error's plain form when it does not open */
  async open(
    options: NodeOptions,
    script = '/dist/hosts/worker/worker.js',
  ): Promise<{ error?: ReturnType<typeof plain> }> {
    stages = [];
    statuses = [];
    acknowledged = [];
    isStopped = false;
    worker = new Worker(script, { type: 'module' });
    worker.addEventListener('message', ({ data }) => {
      if (data?.unhandled !== undefined) unhandled.push(data.unhandled);
    });
    try {
      node = await createNode({ ...options, worker, onProgress: ({ stage }) => void stages.push(stage) });
      node.on('storage', (status) => void statuses.push(status));
      return {};
    } catch (error) {
      return { error: plain(error) };
    }
  },

  /** Closes the node and begins to open it again, or another one; to be ended meanwhile. */
  openAgain(options: NodeOptions): void {
    isStopped = false;
    const open = async () => {
      await node?.close();
      if (!isStopped) await page.open(options);
    };
    open().catch(() => {});
  },

  storage: () => node!.storage(),

  /** Closes the databases of `worker-mortal` as a browser does that says nothing: each transaction is an InvalidStateError. */
  kill: () => worker!.postMessage({ kill: true }),

  /** What the node holds once its state is loaded; the chain from block `from` on has to be linked. */
  async look(from: number): Promise<Found> {
    await ask('eth_getBalance', TEST_TOKEN, 'latest');
    const head = Number(await ask<Hex>('eth_blockNumber'));
    const hashes: (Hex | null)[] = [];
    for (let number = from; number <= head; number++) {
      const block = await heldAt(hex(number));
      const before = hashes.at(-1);
      if (block === null && before && number > 1) throw new Error(`block ${number} is missing behind one that is held`);
      if (block !== null && before && block.parentHash !== before) throw new Error(`block ${number} is not linked`);
      hashes.push(block?.hash ?? null);
    }
    return { head, status: statuses.at(-1), stages: [...new Set(stages)], hashes };
  },

  /** The state that is held leads to the root on layer 1, which is that of the block's record: each proof says so. */
  async prove(): Promise<number> {
    const read = (data: string) =>
      node!.l1.request<UntypedMethod>({
        method: 'eth_call',
        params: [{ to: node!.info.rollupAddress!, data }, 'latest'],
      });
    const block = Number(await read('0x695378f5'));
    const root = hexToBytes((await read(`0x8be745d1${word(hex(block))}`)) as Hex);
    const hasher = await loadHasher(node!.info.hashScheme!);
    for (const address of [TEST_TOKEN, DEV_ACCOUNTS[0]!.address, `0x${'ab'.repeat(20)}` as Hex]) {
      const keys: Hex[] = address === TEST_TOKEN ? [`0x${word('0x2')}`] : [];
      const answer = await ask('linea_getProof', address, keys, hex(block));
      const request = {
        address: hexToBytes(address),
        storageKeys: keys.map((key) => hexToBytes(key)),
        stateRoot: root,
      };
      const verdict = verifyLineaProof(hasher, request, answer);
      if (!verdict.verified) throw new Error(`proof of ${address} at ${block}: ${verdict.message}`);
    }
    return block;
  },

  /** Sends a transaction, and tells the block it came into. */
  async send(amount = 1): Promise<Acknowledged> {
    const hash = await ask<Hex>('eth_sendTransaction', token(amount % 10, `0x${'ab'.repeat(20)}`, amount));
    const { blockNumber, blockHash } = await ask<{ blockNumber: Hex; blockHash: Hex }>(
      'eth_getTransactionReceipt',
      hash,
    );
    return { number: Number(blockNumber), hash: blockHash };
  },

  /** Sends transactions of 20 000 bytes until the store fails, or that many. @returns number of the newest block */
  async fill(most: number): Promise<number> {
    for (let i = 0; i < most && statuses.at(-1)?.mode !== 'memory'; i++) {
      const data = [...crypto.getRandomValues(new Uint8Array(20_000))].map((byte) =>
        byte.toString(16).padStart(2, '0'),
      );
      const to = `0x${'ab'.repeat(20)}`;
      await ask('eth_sendTransaction', { ...token(i % 10, to, 0), to, gas: '0x200000', data: `0x${data.join('')}` });
    }
    return Number(await ask<Hex>('eth_blockNumber'));
  },

  /** Sends transactions one after the other until it is stopped; every seventh block is one of many slots. */
  stream(seed: number): void {
    let at = seed;
    const note = (block: Acknowledged) => {
      acknowledged.push(block);
      navigator.sendBeacon('/acknowledged', JSON.stringify(block));
    };
    const recipient = () => `0x${(at++ >>> 0).toString(16).padStart(8, '0').repeat(5)}`;
    streaming = (async () => {
      while (!isStopped) {
        if (at % 7 !== 0) {
          const hash = await ask<Hex>('eth_sendTransaction', token(at % 10, recipient(), 1));
          const receipt = await ask<{ blockNumber: Hex; blockHash: Hex }>('eth_getTransactionReceipt', hash);
          note({ number: Number(receipt.blockNumber), hash: receipt.blockHash });
          continue;
        }
        await ask('evm_setAutomine', false);
        for (let i = 0; i < 25; i++) await ask('eth_sendTransaction', token(i % 10, recipient(), 1));
        await ask('evm_setAutomine', true);
        const { number, hash } = await blockAt('latest');
        note({ number: Number(number), hash });
      }
    })().catch(() => {});
  },

  /** Ends the worker from outside, so many milliseconds from now. @returns what had been acknowledged by then */
  async endWorker(afterMs: number): Promise<readonly Acknowledged[]> {
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    worker?.terminate();
    const before = acknowledged.slice();
    isStopped = true;
    await streaming;
    await node?.close().catch(() => {});
    node = undefined;
    return before;
  },

  /** Whether an early block has lost what it changed. */
  async isPruned(): Promise<boolean> {
    return ask('eth_getBalance', TEST_TOKEN, '0x1').then(
      () => false,
      () => true,
    );
  },

  async close(): Promise<void> {
    await node?.close();
  },

  /** Any request. @returns its result, or the error's plain form */
  async ask(method: string, ...params: unknown[]): Promise<{ result?: unknown; error?: ReturnType<typeof plain> }> {
    try {
      return { result: await ask(method, ...params) };
    } catch (error) {
      return { error: plain(error) };
    }
  },

  unhandled: () => unhandled,

  /** Statuses of the store that were told since the node was opened. */
  statuses: () => statuses,
  stages: () => [...new Set(stages)],
  lightNetwork: () => linea,

  ...rawDatabase,
};

export type StorePage = typeof page;

declare global {
  var storePage: StorePage;
}
globalThis.storePage = page;
