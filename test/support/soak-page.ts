/** What runs in the page of the store's soak: a devnet within a budget, in a worker. Bundled by `store-browser.ts`. */

import { openDB } from 'idb';
import type { UntypedMethod } from '../../dist/index.js';
import { createNode, DEV_ACCOUNTS, type Hex, type NodeOptions, type PlumblineNode } from '../../dist/index.js';

/** What is stored, as the node says. */
export interface Stored {
  readonly head: number;
  /** Of blocks and state. */
  readonly bytes: number;
  /** Of the same, by reading every record of the database past the node: values, keys of text, 8 for a number. */
  readonly raw: number;
  readonly blocks: number;
  /** Of everything, by the browser's estimate. */
  readonly usage: number | undefined;
}

let node: PlumblineNode | undefined;
const ask = <T>(method: string, ...params: unknown[]) => node!.request<UntypedMethod>({ method, params }) as Promise<T>;
const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Tables that the budget of a devnet is of. */
const TABLES = ['blocks', 'state', 'trie'] as const;
let name = '';

/** Bytes of all records, read one by one past the node. */
async function rawBytes(): Promise<number> {
  const database = await openDB(name);
  let bytes = 0;
  for (const table of TABLES) {
    const [keys, values] = await Promise.all([database.getAllKeys(table), database.getAll(table)]);
    for (const key of keys) bytes += typeof key === 'number' ? 8 : (key as string).length;
    for (const value of values) bytes += (value as Uint8Array).byteLength;
  }
  database.close();
  return bytes;
}

const page = {
  async open(options: NodeOptions): Promise<void> {
    name = options.storeName!;
    const worker = new Worker('/dist/hosts/worker/worker.js', { type: 'module' });
    node = await createNode({ ...options, worker });
    await ask('eth_getBalance', DEV_ACCOUNTS[0]!.address, 'latest');
  },

  /** Makes blocks of one transaction each, of 2 000 bytes that do not compress, to one of many accounts. */
  async seal(blocks: number): Promise<void> {
    for (let i = 0; i < blocks; i++) {
      const random = crypto.getRandomValues(new Uint8Array(2000));
      await ask('eth_sendTransaction', {
        from: DEV_ACCOUNTS[i % 10]!.address,
        to: `0x${hex(random.subarray(0, 1)).repeat(20)}`,
        value: '0x1',
        gas: '0x30d40',
        data: `0x${hex(random)}`,
      });
    }
  },

  async stored(): Promise<Stored> {
    for (;;) {
      const { devnet, tables, origin } = await node!.storage();
      const raw = await rawBytes();
      // A state may have been written between the two.
      if ((await node!.storage()).devnet!.bytes !== devnet!.bytes) continue;
      const head = Number(await ask<Hex>('eth_blockNumber'));
      return { head, bytes: devnet!.bytes, raw, blocks: tables.blocks.records, usage: origin?.usage };
    }
  },

  /** How a block is answered: its number, or the error's code. */
  async block(number: number): Promise<unknown> {
    try {
      const block = await ask<{ number: Hex }>('eth_getBlockByNumber', `0x${number.toString(16)}`, true);
      return Number(block.number);
    } catch (error) {
      return (error as { code: number }).code;
    }
  },

  /** Proof of the newest finalized state. */
  prove: () => ask<unknown>('linea_getProof', DEV_ACCOUNTS[0]!.address, [], 'latest'),

  /** Exports the devnet, clears it, and imports it again. @returns numbers of the newest block: before, between, after */
  async move(): Promise<number[]> {
    const head = async () => Number(await ask<Hex>('eth_blockNumber'));
    const before = await head();
    const file = await node!.exportChain();
    await node!.clear();
    const between = await head();
    await node!.importChain(file);
    return [before, between, await head()];
  },

  async close(): Promise<void> {
    await node?.close();
  },
};

export type SoakPage = typeof page;

declare global {
  var soakPage: SoakPage;
}
globalThis.soakPage = page;
