import { expect, onTestFinished } from 'vitest';
import { Devnet } from '../../src/chain/devnet/devnet.js';
import type { DevnetSettings } from '../../src/chain/devnet/settings.js';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { allocAsStored, devAlloc, type GenesisAlloc } from '../../src/chain/devnet/state/genesis.js';
import { PlumblineError } from '../../src/errors.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Commit, PageStore, Table } from '../../src/store/page-store.js';
import { KeptStore, PRICE, stranger, word } from './dev-node.js';
import { signTransaction, transferCalldata } from './sign.js';
import { zkEngine } from './world-state.js';

const TABLES: readonly Table[] = ['meta', 'blocks', 'state', 'trie'];
export const TOKEN = hexToBytes(TEST_TOKEN);
const FIRST_TIME = 1_800_000_000;

/** Accounts that no transaction touches, enough for several pages, one of them with storage. */
function bystanders(): GenesisAlloc {
  const address = (n: number): Hex => `0x${n.toString(16).padStart(4, '0').repeat(10)}`;
  const accounts = Array.from({ length: 150 }, (_, n) => [address(n + 1), { balance: BigInt(n + 1) }] as const);
  const slots = Array.from({ length: 40 }, (_, n) => [word(BigInt(n)), word(BigInt(n + 1))] as const);
  const storing = { nonce: 1n, balance: 0n, storage: Object.fromEntries(slots) };
  return { ...Object.fromEntries(accounts), [address(999)]: storing };
}

/** The accounts as earlier versions had them, without system contracts. */
export const earlierAlloc = (): GenesisAlloc => allocAsStored({ ...devAlloc(), ...bystanders() }, []);

/** A devnet that seals when told to, on a store that may be none. */
export async function openDevnet(store?: PageStore, more: Partial<DevnetSettings> = {}): Promise<Devnet> {
  return Devnet.open({
    network: devnet({ scheme: 'poseidon2' }),
    alloc: { ...devAlloc(), ...bystanders() },
    zk: await zkEngine('poseidon2'),
    genesisTimestamp: 1_700_000_000,
    mining: 'manual',
    finality: {},
    prices: undefined,
    coinbase: hexToBytes(stranger('c0')),
    now: () => FIRST_TIME,
    store,
    onProgress: undefined,
    checkpoints: { everyBlocks: 4, slackBytes: 2000, lazyBytes: 0 },
    ...more,
  });
}

/** What block `number` is made of: transfers of ether and tokens, and edits that make, fill and empty accounts. */
export async function sealScripted(chain: Devnet, number: number): Promise<void> {
  const { control } = chain;
  const sender = number % 3;
  const nonce = Math.floor(number / 3) - (sender === 0 ? 1 : 0);
  const to = stranger((0x10 + ((number * 7) % 90)).toString(16));
  const token = number % 2 === 0;
  const call = { to: TEST_TOKEN, data: transferCalldata(to, BigInt(number)), gasLimit: 100_000n } as const;
  const raw = signTransaction(sender, { nonce, ...PRICE, ...(token ? call : { to, value: 5n, gasLimit: 21_000n }) });
  await chain.submit(hexToBytes(raw));
  const account = hexToBytes(stranger((0xa0 + (number % 5)).toString(16)));
  const value = new Uint8Array(32).fill(number % 4 === 3 ? 0 : number);
  if (number % 5 !== 0) await control.edit({ kind: 'balance', address: account, balance: BigInt(number % 4) });
  if (number % 3 === 0) {
    const key = new Uint8Array(32).fill(number % 6);
    await control.edit({ kind: 'slot', address: account, key, value });
  }
  await control.mine(1, { first: FIRST_TIME + 10 * number });
}

/** Everything somebody may ask of a devnet and compare: blocks, balances at every block, proofs of the provable ones. */
export async function portrait(chain: Devnet, sinceProof = 0): Promise<unknown> {
  const head = (await chain.head()).header.number;
  const finalized = await chain.block({ tag: 'finalized' });
  const somebody = [
    hexToBytes(DEV_ACCOUNTS[1]!.address),
    hexToBytes(stranger('a1')),
    hexToBytes(stranger('1e')),
    TOKEN,
  ];
  const keys = [new Uint8Array(32).fill(3), new Uint8Array(32)];
  const blocks: unknown[] = [];
  for (let number = 0; number <= head; number++) {
    const block = (await chain.block({ number }))!;
    const state = await chain.stateAt(block);
    const accounts = await Promise.all(somebody.map((address) => state.account(address)));
    const slots = await Promise.all(somebody.map((address) => state.slot(address, keys[0]!)));
    const receipts = (await chain.receipts(block)).map(({ succeeded, gasUsed, logs }) => ({
      succeeded,
      gasUsed,
      logs,
    }));
    blocks.push({ hash: bytesToHex(block.hash), size: block.size, accounts, slots, receipts });
  }
  const proofs: unknown[] = [];
  for (let number = sinceProof; number <= head; number++) {
    const block = (await chain.block({ number }))!;
    for (const address of somebody) {
      proofs.push(await chain.proof(address, keys, block));
      if (number <= finalized!.header.number) proofs.push(await chain.zkProof(address, keys, { number }));
    }
  }
  const layerOne = (await chain.settleLayerOne()).head.hash;
  return { head, finalized: finalized!.header.number, layerOne, blocks, proofs };
}

/** Opens a devnet that ends with the test. */
export async function openTillEnd(...given: Parameters<typeof openDevnet>): Promise<Devnet> {
  const chain = await openDevnet(...given);
  onTestFinished(() => chain.close());
  return chain;
}

/** What a devnet on this store shows, its state loaded from a checkpoint: nothing was rebuilt from genesis. */
export async function loaded(store: PageStore, since: number, more: Partial<DevnetSettings> = {}): Promise<unknown> {
  const stages = new Set<string>();
  const chain = await openTillEnd(store, { ...more, onProgress: (stage) => stages.add(stage) });
  const shown = await portrait(chain, since);
  expect([...stages]).toContain('state');
  expect([...stages]).not.toContain('genesis');
  await chain.close();
  return shown;
}

/** A store after so many blocks, and the devnet that wrote it. */
export async function storedChain(blocks: number, more: Partial<DevnetSettings> = {}) {
  const store = new KeptStore();
  const chain = await openTillEnd(store, more);
  for (let number = 1; number <= blocks; number++) await sealScripted(chain, number);
  return { store, chain };
}

/** A copy of all that a store holds. */
export async function copyOf(store: PageStore): Promise<KeptStore> {
  const copy = new KeptStore();
  for (const table of TABLES) {
    for (const key of await store.keys(table)) {
      await copy.commit({ puts: [{ table, key, value: (await store.get(table, key))! }] });
    }
  }
  return copy;
}

/** Is gone, like the page it was in, when the commit of a number is asked for: that one and all later are not done. */
export class DyingStore extends MemoryStore {
  commits = 0;

  constructor(
    private readonly kept: KeptStore,
    private readonly lastCommits: number,
  ) {
    super();
  }

  override get: PageStore['get'] = (table, key) => this.kept.get(table, key);
  override keys: PageStore['keys'] = (table) => this.kept.keys(table);
  override getMany: PageStore['getMany'] = (table, keys) => this.kept.getMany(table, keys);

  override async commit(commit: Commit): Promise<void> {
    if (this.commits >= this.lastCommits) {
      throw new PlumblineError('STORE_UNAVAILABLE', 'store is gone', { reason: 'gone' });
    }
    this.commits++;
    await this.kept.commit(commit);
  }

  override async close(): Promise<void> {}
}
