/** What runs in the page of the store's soak: a devnet within a budget, in a worker. Bundled by `store-browser.ts`. */
import { createNode, DEV_ACCOUNTS, type Hex, type NodeOptions, type PlumblineNode } from '../../dist/index.js';

/** What is stored, as the node says. */
export interface Stored {
  readonly head: number;
  /** Of blocks and state. */
  readonly bytes: number;
  readonly blocks: number;
  /** Of everything, by the browser's estimate. */
  readonly usage: number | undefined;
}

let node: PlumblineNode | undefined;
const ask = <T>(method: string, ...params: unknown[]) => node!.request({ method, params }) as Promise<T>;
const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

const page = {
  async open(options: NodeOptions): Promise<void> {
    const worker = new Worker('/dist/hosts/worker.js', { type: 'module' });
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
    const { devnet, tables, origin } = await node!.storage();
    const head = Number(await ask<Hex>('eth_blockNumber'));
    return { head, bytes: devnet!.bytes, blocks: tables.blocks.records, usage: origin?.usage };
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
