import { gunzipSync } from 'node:zlib';
import { getCreateAddress } from 'ethers';
import { expect } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { type Digits, word, type ZkFormat } from '../reference/zk-hash.js';
import { type PlainAccount, type PlainAccounts, ZkState } from '../reference/zk-state.js';
import { Anvil } from '../support/anvil.js';
import { accountAt, KeptStore, stranger } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';
import { seededRandom } from '../support/random.js';
import { signTransaction } from '../support/sign.js';

/*
 * Random sequences of everything that changes a devnet, on a devnet and on anvil. After each step both have the same blocks,
 * receipts and accounts, and each new block of the devnet has the root of the zk state that the twin gives the same accounts.
 */

const CHAIN_ID = 31_337;
const GAS_PRICE = 2_000_000_000n;
const GAS = 300_000n;
const RICH = '0x3635c9adc5dea00000';

/** Programs of few bytes, none of which reads what differs between the two: time, coinbase, random value, hashes of blocks. */
const PROGRAMS: readonly Hex[] = [
  // Adds one to slot 0 and logs it.
  '0x5f54600101805f555f5260205fa000',
  // Writes the second word of its input to the slot of the first.
  '0x60203560003555' as Hex,
  // Reverts.
  '0x5f5ffd',
  // Creates a contract that has written slot 0 and has no code.
  '0x6460015f55005f526005601b5ff000',
  // Sends its balance to the caller (EIP-6780: it stays).
  '0x33ff',
  // Gas of three slots, one of them twice.
  '0x5f546001545f54015f5500',
];

const CONTRACTS = ['c1', 'c2', 'c3', 'c4'].map(stranger);
const STRANGERS = ['a1', 'a2', 'a3'].map(stranger);
const SENDERS = [0, 1, 2] as const;
const SLOTS = [0n, 1n, 2n].map((slot): Hex => `0x${slot.toString(16).padStart(64, '0')}`);

type Ask = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>;

interface ReceiptJson {
  readonly transactionHash: Hex;
  readonly contractAddress: Hex | null;
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
  readonly [member: string]: unknown;
}

interface BlockJson {
  readonly number: Hex;
  readonly transactions: readonly { readonly [member: string]: unknown }[];
  readonly [member: string]: unknown;
}

/** How often each kind of step was made, and steps that the devnet refused for what it documents. */
export type Steps = Record<string, number>;

/** A devnet that was taken through one sequence. @returns the steps that were made */
export async function playDevnet(seed: number, length: number, format: ZkFormat): Promise<Steps> {
  const anvil = await Anvil.start('osaka', ['--base-fee', '7', '--gas-limit', '2000000000'], {
    chainId: CHAIN_ID,
    accounts: 10,
  });
  const play = await Play.open(anvil, seed, format);
  try {
    await play.prepare();
    for (let step = 0; step < length; step++) await play.step(step);
    await play.close();
    return play.steps;
  } finally {
    await anvil.close();
  }
}

/** A snapshot of both, and the edits that were pending then. */
interface Taken {
  readonly theirs: unknown;
  readonly ours: unknown;
  readonly block: number;
  readonly edits: ReadonlySet<Hex>;
}

/** Accounts after a block, those that the edits before its transactions have emptied, and where the edits were. */
interface TwinBlock {
  readonly after: PlainAccounts;
  readonly destroyed: ReadonlySet<Digits>;
  readonly edits: ReadonlySet<Hex>;
}

class Play {
  readonly steps: Steps = {};
  private readonly random: (bound: number) => number;
  private store = new KeptStore();
  private snapshots: Taken[] = [];
  /** Accounts that the pending edits have emptied, when the next block is asked for. */
  private emptied: ReadonlySet<Digits> = new Set();
  /** Contracts that were created, with those of `CONTRACTS`. */
  private readonly created = new Set<Hex>();
  /** What the twin is given of each block, from genesis on. */
  private history: TwinBlock[] = [];
  /** Accounts with edits that are not in a block yet. */
  private pending: ReadonlySet<Hex> = new Set();
  private twin: ZkState;
  private log: string[] = [];

  private constructor(
    private readonly anvil: Anvil,
    private node: PlumblineNode,
    seed: number,
    private readonly format: ZkFormat,
  ) {
    this.random = seededRandom(seed * 104_729);
    this.twin = new ZkState(format);
  }

  static async open(anvil: Anvil, seed: number, format: ZkFormat): Promise<Play> {
    const play = new Play(anvil, undefined as never, seed, format);
    play.node = await play.openNode();
    return play;
  }

  async close(): Promise<void> {
    await this.node.close();
  }

  private openNode(): Promise<PlumblineNode> {
    const network = devnet({ chainId: CHAIN_ID });
    const chain = { kind: 'devnet', network, tool: 'anvil', finality: { delayBlocks: 0 } } as const;
    return createInlineNode({ chain, store: this.store, dictionary: { kind: 'general' } });
  }

  private readonly ours: Ask = async <T>(method: string, ...params: unknown[]) =>
    JSON.parse(JSON.stringify((await this.node.request<UntypedMethod>({ method, params })) ?? null)) as T;

  private readonly theirs: Ask = <T>(method: string, ...params: unknown[]) => this.anvil.ask<T>(method, ...params);

  private async both(method: string, ...params: unknown[]): Promise<[ours: unknown, theirs: unknown]> {
    return [await this.ours(method, ...params), await this.theirs(method, ...params)];
  }

  /** Gives both the same accounts: anvil's genesis has others. */
  async prepare(): Promise<void> {
    await this.followBlock(0);
    for (const sender of SENDERS) await this.edited(accountAt(sender), 'anvil_setBalance', RICH);
    for (const [i, contract] of CONTRACTS.entries()) await this.edited(contract, 'anvil_setCode', PROGRAMS[i]!);
    for (const account of [...CONTRACTS, ...STRANGERS]) await this.both('anvil_impersonateAccount', account);
    await this.mine(1);
  }

  async step(number: number): Promise<void> {
    const kinds: [weight: number, name: string, run: () => Promise<void>][] = [
      [6, 'send', () => this.send()],
      [3, 'impersonate', () => this.impersonate()],
      [2, 'create', () => this.create()],
      [2, 'batch', () => this.batch()],
      [3, 'mine', () => this.mine(1 + this.random(3))],
      [8, 'edit', () => this.edit()],
      [2, 'snapshot', () => this.snapshot()],
      [2, 'revert', () => this.revert()],
      [2, 'rollback', () => this.rollback()],
      [2, 'reorg', () => this.reorg()],
      [1, 'restart', () => this.restart()],
      [1, 'import', () => this.import()],
    ];
    const [, name, run] = this.one(kinds.flatMap((kind) => Array.from({ length: kind[0] }, () => kind)));
    this.log.push(name);
    this.steps[name] = (this.steps[name] ?? 0) + 1;
    try {
      await run();
      await this.compare();
    } catch (error) {
      const last = this.log.slice(-12).join(', ');
      throw new Error(`step ${number} (${last}): ${(error as Error).message}`, { cause: error });
    }
  }

  private one<T>(list: readonly T[]): T {
    return list[this.random(list.length)]!;
  }

  private get accounts(): readonly Hex[] {
    return [...SENDERS.map(accountAt), ...CONTRACTS, ...STRANGERS, ...this.created];
  }

  /** Input that each program takes. */
  private input(): Hex {
    return `0x${word(this.random(3))}${word(this.random(3))}`;
  }

  private async nonceOf(sender: Hex): Promise<bigint> {
    return BigInt(await this.ours<Hex>('eth_getTransactionCount', sender, 'pending'));
  }

  private async signed(sender: number, nonce: bigint): Promise<Hex> {
    const fields = { nonce, gasLimit: GAS, gasPrice: GAS_PRICE, chainId: CHAIN_ID, value: BigInt(this.random(3)) };
    return signTransaction(sender, { ...fields, to: this.one(this.accounts), data: this.input() });
  }

  /** Notes which accounts the pending edits have emptied, slots too: such an account goes, and one that the block makes again is another. */
  private async beforeMining(): Promise<void> {
    const emptied = new Set<Digits>();
    for (const account of this.pending) {
      const [balance, nonce, code] = await Promise.all([
        this.theirs<Hex>('eth_getBalance', account, 'latest'),
        this.theirs<Hex>('eth_getTransactionCount', account, 'latest'),
        this.theirs<Hex>('eth_getCode', account, 'latest'),
      ]);
      if (BigInt(balance) > 0n || BigInt(nonce) > 0n || code !== '0x') continue;
      const slots = await Promise.all(
        SLOTS.map((slot) => this.theirs<Hex>('eth_getStorageAt', account, slot, 'latest')),
      );
      if (slots.every((value) => BigInt(value) === 0n)) emptied.add(account.slice(2));
    }
    this.emptied = emptied;
  }

  private async send(): Promise<void> {
    await this.beforeMining();
    const sender = this.one(SENDERS);
    const raw = await this.signed(sender, await this.nonceOf(accountAt(sender)));
    const [ours, theirs] = await this.both('eth_sendRawTransaction', raw);
    expect(ours).toBe(theirs);
    await this.follow();
  }

  private async impersonate(): Promise<void> {
    const from = this.one([...CONTRACTS, ...STRANGERS]);
    await this.edited(from, 'anvil_setBalance', RICH);
    await this.beforeMining();
    const gasPrice = `0x${GAS_PRICE.toString(16)}`;
    const call = { from, to: this.one(this.accounts), gas: '0x493e0', gasPrice, value: '0x1', data: this.input() };
    await this.both('eth_sendTransaction', call);
    await this.follow();
  }

  private async create(): Promise<void> {
    await this.beforeMining();
    const sender = this.one(SENDERS);
    const nonce = await this.nonceOf(accountAt(sender));
    const code = this.one(PROGRAMS).slice(2);
    // Returns the program behind it: CODECOPY from 11 on.
    const init: Hex = `0x60${(code.length / 2).toString(16).padStart(2, '0')}600b5f3960${(code.length / 2).toString(16).padStart(2, '0')}5ff3${code}`;
    const fields = { nonce, gasLimit: GAS, gasPrice: GAS_PRICE, chainId: CHAIN_ID };
    const [ours, theirs] = await this.both(
      'eth_sendRawTransaction',
      signTransaction(sender, { ...fields, data: init }),
    );
    expect(ours).toBe(theirs);
    await this.follow();
  }

  /** Several transactions of one sender in one block. */
  private async batch(): Promise<void> {
    const sender = this.one(SENDERS);
    const first = await this.nonceOf(accountAt(sender));
    await this.beforeMining();
    await this.both('evm_setAutomine', false);
    for (let i = 0n; i < 3n; i++) await this.both('eth_sendRawTransaction', await this.signed(sender, first + i));
    await this.both('evm_mine');
    await this.both('evm_setAutomine', true);
    await this.follow();
  }

  private async mine(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.beforeMining();
      await this.both('evm_mine');
      await this.follow();
    }
  }

  private async edit(): Promise<void> {
    const account = this.one([...STRANGERS, ...CONTRACTS, ...this.created]);
    const kind = this.random(4);
    // An account without nonce and code may have slots by edits alone, which no network has. EIP-161 deletes them with an empty
    // account that a transaction touches, where anvil 1.7.1 keeps them; it drops them where a contract is created. None is here.
    if (kind === 3 && (await this.isBare(account))) await this.edited(account, 'anvil_setNonce', '0x1');
    if (kind === 0 && (await this.hasSlots(account))) await this.edited(account, 'anvil_setNonce', '0x9');
    if (kind === 0) await this.edited(account, 'anvil_setBalance', `0x${this.random(3).toString(16)}`);
    else if (kind === 1)
      await this.edited(account, 'anvil_setNonce', `0x${((await this.nonceOf(account)) + 1n).toString(16)}`);
    else if (kind === 2) await this.edited(account, 'anvil_setCode', this.one(PROGRAMS));
    else await this.edited(account, 'anvil_setStorageAt', this.one(SLOTS), `0x${word(this.random(3))}`);
  }

  private async isBare(account: Hex): Promise<boolean> {
    return (await this.ours('eth_getCode', account, 'latest')) === '0x' && (await this.nonceOf(account)) === 0n;
  }

  private async hasSlots(account: Hex): Promise<boolean> {
    const values = await Promise.all(SLOTS.map((slot) => this.ours<Hex>('eth_getStorageAt', account, slot, 'latest')));
    return values.some((value) => BigInt(value) !== 0n);
  }

  private async edited(account: Hex, method: string, ...values: unknown[]): Promise<void> {
    await this.both(method, account, ...values);
    this.pending = new Set([...this.pending, account]);
  }

  private async snapshot(): Promise<void> {
    const [ours, theirs] = await this.both('evm_snapshot');
    this.snapshots.push({ ours, theirs, block: await this.height(), edits: this.pending });
  }

  private async revert(): Promise<void> {
    if (this.snapshots.length === 0) return;
    const at = this.random(this.snapshots.length);
    const { ours, theirs, block, edits } = this.snapshots[at]!;
    expect(await this.ours('evm_revert', ours)).toBe(await this.theirs('evm_revert', theirs));
    this.snapshots = this.snapshots.slice(0, at);
    this.goBack(block, edits);
  }

  private async rollback(): Promise<void> {
    const depth = Math.min(1 + this.random(3), (await this.height()) - 1);
    if (depth < 1 || !(await this.takenBack('anvil_rollback', depth))) return;
    this.goBack(await this.height(), this.history[(await this.height()) + 1]!.edits);
  }

  private async reorg(): Promise<void> {
    const height = await this.height();
    const depth = Math.min(1 + this.random(2), height - 1);
    if (depth < 1) return;
    const gasPrice = `0x${GAS_PRICE.toString(16)}`;
    const from = accountAt(this.one(SENDERS));
    const call = () => ({
      from,
      to: this.one(this.accounts),
      gas: '0x493e0',
      gasPrice,
      value: '0x1',
      data: this.input(),
    });
    const pairs = Array.from({ length: this.random(3) }, (_, i) => [call(), Math.min(i, depth - 1)]);
    if (!(await this.takenBack('anvil_reorg', depth, pairs))) return;
    const first = this.history[height - depth + 1]!;
    this.goBack(height - depth, first.edits);
    this.emptied = first.destroyed;
    await this.follow();
  }

  /** @returns false where the devnet no longer holds the state, which docs/tools.md says of blocks before a reopening */
  private async takenBack(method: string, ...params: unknown[]): Promise<boolean> {
    try {
      await this.ours(method, ...params);
    } catch (error) {
      if ((error as Error).message !== 'World state unavailable') throw error;
      this.steps['not held'] = (this.steps['not held'] ?? 0) + 1;
      return false;
    }
    await this.theirs(method, ...params);
    return true;
  }

  private async restart(): Promise<void> {
    await this.node.close();
    this.node = await this.openNode();
    await this.afterOpening();
  }

  private async import(): Promise<void> {
    const file = await this.node.exportChain();
    await this.node.close();
    this.store = new KeptStore();
    this.node = await this.openNode();
    await this.node.importChain(file);
    await this.afterOpening();
  }

  /** Snapshots and impersonated accounts last while a devnet is open. */
  private async afterOpening(): Promise<void> {
    this.snapshots = [];
    for (const account of [...CONTRACTS, ...STRANGERS]) await this.ours('anvil_impersonateAccount', account);
  }

  private async height(): Promise<number> {
    return Number(await this.ours<Hex>('eth_blockNumber'));
  }

  /** @param pending - edits that the next block will begin with */
  private goBack(block: number, pending: ReadonlySet<Hex> = new Set()): void {
    this.pending = pending;
    this.snapshots = this.snapshots.filter((snapshot) => snapshot.block <= block);
    this.history = this.history.slice(0, block + 1);
    this.twin = new ZkState(this.format);
    let before: PlainAccounts = new Map();
    for (const { after, destroyed } of this.history) {
      this.twin.apply(before, after, destroyed);
      before = after;
    }
  }

  /** Compares the blocks since the last step. The newest has the accounts that the twin is given. */
  private async follow(): Promise<void> {
    const height = await this.height();
    // With automine, anvil answers before it has mined.
    await eventually(async () => expect(Number(await this.theirs<Hex>('eth_blockNumber'))).toBe(height));
    for (let block = this.history.length; block <= height; block++) {
      await this.sameBlock(block);
      await this.followBlock(block);
    }
  }

  private async sameBlock(number: number): Promise<void> {
    const tag = `0x${number.toString(16)}`;
    const [ours, theirs] = (await this.both('eth_getBlockByNumber', tag, true)) as [BlockJson, BlockJson];
    const receipts = (await this.both('eth_getBlockReceipts', tag)) as [ReceiptJson[], ReceiptJson[]];
    expect(shownBlock(ours), `block ${number}`).toEqual(shownBlock(theirs));
    const [ourReceipts, theirReceipts] = receipts.map((list) => list.map(shownReceipt));
    expect(ourReceipts, `receipts of block ${number}`).toEqual(theirReceipts);
    for (const { contractAddress } of receipts[0]) if (contractAddress !== null) this.created.add(contractAddress);
    for (const contract of [...CONTRACTS, ...STRANGERS, ...this.created]) await this.noteChildren(contract, tag);
  }

  private async noteChildren(contract: Hex, tag: string): Promise<void> {
    const nonce = Number(await this.ours<Hex>('eth_getTransactionCount', contract, tag));
    for (let at = 0; at < nonce; at++) {
      const child = getCreateAddress({ from: contract, nonce: at }).toLowerCase() as Hex;
      if (this.created.has(child) || (await this.ours('eth_getTransactionCount', child, tag)) === '0x0') continue;
      this.created.add(child);
      await this.noteChildren(child, tag);
    }
  }

  /** Gives the twin the accounts after a block. */
  private async followBlock(block: number): Promise<void> {
    const before = this.history.at(-1)?.after ?? new Map<Digits, PlainAccount>();
    const after = block === 0 ? await this.genesis() : await this.accountsAt(block, before);
    const destroyed = new Set([...this.emptied].filter((address) => before.has(address)));
    this.twin.apply(before, after, destroyed);
    this.history.push({ after, destroyed, edits: this.pending });
    this.pending = new Set();
    this.emptied = new Set();
    const call = { to: this.node.info.rollupAddress!, data: `0x8be745d1${word(block)}` };
    const root = await this.node.l1.request<UntypedMethod>({ method: 'eth_call', params: [call, 'latest'] });
    expect(`block ${block}: ${root}`).toBe(`block ${block}: 0x${this.twin.root()}`);
  }

  /** All accounts of genesis, which only a dump lists. */
  private async genesis(): Promise<PlainAccounts> {
    const bytes = gunzipSync(Buffer.from((await this.ours<Hex>('anvil_dumpState')).slice(2), 'hex'));
    const { accounts } = JSON.parse(bytes.toString()) as {
      accounts: Record<Hex, { nonce: number; balance: Hex; code: Hex; storage: Record<Hex, Hex> }>;
    };
    return new Map(
      Object.entries(accounts).map(([address, { nonce, balance, code, storage }]) => {
        const slots = Object.entries(storage).map(([key, value]) => [key.slice(2), value.slice(2)] as const);
        const account = { nonce: BigInt(nonce), balance: BigInt(balance), code: code.slice(2), slots: new Map(slots) };
        return [address.slice(2), account];
      }),
    );
  }

  /** The accounts after a block, read one by one: those before it, and those that steps and the system can touch. */
  private async accountsAt(block: number, before: PlainAccounts): Promise<PlainAccounts> {
    const tag = `0x${block.toString(16)}`;
    const { miner, timestamp } = await this.ours<{ miner: Hex; timestamp: Hex }>('eth_getBlockByNumber', tag, false);
    const touched = [...this.accounts, miner].map((address) => address.slice(2).toLowerCase());
    const ring = [BigInt(block - 1) % 8191n, BigInt(timestamp) % 8191n, (BigInt(timestamp) % 8191n) + 8191n];
    const after = new Map<Digits, PlainAccount>();
    for (const address of new Set([...before.keys(), ...touched])) {
      const old = before.get(address);
      const at = `0x${address}`;
      const [balance, nonce, code] = await Promise.all([
        this.ours<Hex>('eth_getBalance', at, tag),
        this.ours<Hex>('eth_getTransactionCount', at, tag),
        this.ours<Hex>('eth_getCode', at, tag),
      ]);
      const own = SYSTEM.includes(address)
        ? ring.map((key) => key.toString(16).padStart(64, '0'))
        : SLOTS.map((slot) => slot.slice(2));
      const slots = new Map<Digits, Digits>();
      for (const slot of new Set([...(old?.slots.keys() ?? []), ...own])) {
        const value = (await this.ours<Hex>('eth_getStorageAt', at, `0x${slot}`, tag)).slice(2);
        if (/[1-9a-f]/.test(value)) slots.set(slot, value);
      }
      const account = { nonce: BigInt(nonce), balance: BigInt(balance), code: code.slice(2), slots };
      const isThere = account.nonce > 0n || account.balance > 0n || account.code !== '' || slots.size > 0;
      // The twin takes another object for a changed account.
      if (isThere) after.set(address, old !== undefined && textOf(old) === textOf(account) ? old : account);
    }
    return after;
  }

  /** Both have the same height and, with pending edits, the same accounts. */
  private async compare(): Promise<void> {
    const [ours, theirs] = await this.both('eth_blockNumber');
    expect(ours).toBe(theirs);
    for (const account of this.accounts) {
      const questions: [string, ...unknown[]][] = [
        ['eth_getBalance', account, 'latest'],
        ['eth_getTransactionCount', account, 'latest'],
        ['eth_getCode', account, 'latest'],
        ...SLOTS.map((slot): [string, ...unknown[]] => ['eth_getStorageAt', account, slot, 'latest']),
      ];
      const answers = await Promise.all(questions.map((question) => this.both(...question)));
      const said = (side: 0 | 1) => answers.map((answer) => answer[side]);
      expect({ account, is: said(0) }).toEqual({ account, is: said(1) });
    }
  }
}

/** Contracts of EIP-2935 and EIP-4788. */
const SYSTEM: readonly Digits[] = [
  '0000f90827f1c53a10cb7a02335b175320002935',
  '000f3df6d732807ef1319fb7b8bb8522d0beac02',
];

function textOf({ nonce, balance, code, slots }: PlainAccount): string {
  return JSON.stringify([`${nonce}`, `${balance}`, code, [...slots].sort()]);
}

/** What is the same of a block on both: not its hash, its time and its coinbase. */
function shownBlock({ number, gasUsed, receiptsRoot, logsBloom, baseFeePerGas, transactions }: BlockJson) {
  const shown = transactions.map(({ from, to, nonce, value, input, type, gas }) => [
    from,
    to,
    nonce,
    value,
    input,
    type,
    gas,
  ]);
  return { number, gasUsed, receiptsRoot, logsBloom, baseFeePerGas, transactions: shown };
}

function shownReceipt({
  status,
  gasUsed,
  cumulativeGasUsed,
  effectiveGasPrice,
  from,
  to,
  contractAddress,
  logs,
}: ReceiptJson) {
  const shown = logs.map(({ address, topics, data }) => ({ address, topics, data }));
  return { status, gasUsed, cumulativeGasUsed, effectiveGasPrice, from, to, contractAddress, logs: shown };
}
