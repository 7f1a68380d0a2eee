import { expect } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { type Digits, type Scheme, word, ZERO, type ZkFormat, zkFormat } from '../reference/zk-hash.js';
import { verifyZkProof } from '../reference/zk-proof.js';
import { keccak, type PlainAccounts, ZkState } from '../reference/zk-state.js';
import { bitFlips, type Json } from '../support/damage.js';
import { fixtureJson } from '../support/fixtures.js';
import type { AnswerFixture } from '../support/proof-fixtures.js';
import { seededRandom } from '../support/random.js';
import { type Action, ADDRESSES, genesisOf, type PlayFork, type Random, randomActions, SLOTS } from './zk-actions.js';
import { PlainChain } from './zk-model.js';

interface Block {
  readonly miner: string;
  readonly baseFeePerGas: string;
  readonly transactions: readonly string[];
}

interface Receipt {
  readonly transactionHash: string;
  readonly status: string;
  readonly gasUsed: string;
  readonly effectiveGasPrice: string;
}

/** What one chain has covered: transactions, proofs by kind, accounts destroyed, recreated and delegated. */
export interface Covered {
  blocks: number;
  proofs: number;
  missing: number;
  slots: number;
  destroyed: number;
  recreated: number;
  delegated: number;
}

export const covered = (): Covered => {
  return { blocks: 0, proofs: 0, missing: 0, slots: 0, destroyed: 0, recreated: 0, delegated: 0 };
};

/**
 * A devnet with random blocks, by JSON-RPC alone. After each block the root on its layer 1 is the twin's, and each proof of
 * some accounts and slots, at this block or an earlier one, is right to the twin and has the values of the model.
 *
 * @param format - of the twin; it remembers digests, so that chains of one scheme share it
 */
export async function playChain(
  scheme: Scheme,
  format: ZkFormat,
  fork: PlayFork,
  seed: number,
  { blocks, proofsPerBlock }: { readonly blocks: number; readonly proofsPerBlock: number },
  count: Covered,
): Promise<void> {
  const random = seededRandom(seed * 7919);
  const chain = { kind: 'devnet', scheme, genesis: genesisOf(fork), mining: 'manual', finality: { delayBlocks: 0 } };
  const node = await createInlineNode({ chain } as never);
  const ask = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    return JSON.parse(JSON.stringify((await node.request<UntypedMethod>({ method, params })) ?? null)) as T;
  };
  const rootOnL1 = async (block: number): Promise<Digits> => {
    const call = { to: node.info.rollupAddress!, data: `0x8be745d1${word(block)}` };
    return ((await node.l1.request<UntypedMethod>({ method: 'eth_call', params: [call, 'latest'] })) as string).slice(
      2,
    );
  };
  const model = new PlainChain(fork);
  const twin = new ZkState(format);
  const held: { readonly root: Digits; readonly accounts: PlainAccounts }[] = [];
  /** Accounts that were there at the end of some block. */
  const known = new Set<Digits>();
  try {
    twin.apply(new Map(), model.accounts, new Set());
    for (let block = 0; block <= blocks; block++) {
      if (block > 0) {
        const before = model.accounts;
        await mine(ask, model, randomActions(random, fork, before), block);
        twin.apply(before, model.accounts, model.destroyed);
        tally(count, before, model, known);
      }
      const root = twin.root();
      expect(`block ${block}: ${await rootOnL1(block)}`).toBe(`block ${block}: ${root}`);
      held.push({ root, accounts: model.accounts });
      for (let proof = 0; proof < proofsPerBlock; proof++) {
        const at = random(3) === 0 ? random(held.length) : block;
        await checkProof(ask, format, random, at, held[at]!, count);
      }
    }
  } finally {
    await node.close();
  }
}

type Ask = <T>(method: string, ...params: unknown[]) => Promise<T>;

/** Sends the transactions, mines them, and applies them to the model in the order of the block. */
async function mine(ask: Ask, model: PlainChain, actions: readonly Action[], number: number): Promise<void> {
  const byHash = new Map<string, Action>();
  for (const action of actions) byHash.set(await ask<string>('eth_sendRawTransaction', action.raw), action);
  await ask('evm_mine');
  const tag = `0x${number.toString(16)}`;
  const { miner, baseFeePerGas, transactions } = await ask<Block>('eth_getBlockByNumber', tag, false);
  expect(transactions.length).toBe(actions.length);
  const receipts = await ask<Receipt[]>('eth_getBlockReceipts', tag);
  model.startBlock();
  for (const { transactionHash, status, gasUsed, effectiveGasPrice } of receipts) {
    const action = byHash.get(transactionHash)!;
    const fee = BigInt(gasUsed) * BigInt(effectiveGasPrice);
    const tip = BigInt(gasUsed) * (BigInt(effectiveGasPrice) - BigInt(baseFeePerGas));
    const succeeded = model.run(action, miner.slice(2), fee, tip);
    expect(`${transactionHash} ${status}`).toBe(`${transactionHash} ${succeeded ? '0x1' : '0x0'}`);
  }
}

function tally(count: Covered, before: PlainAccounts, { accounts, destroyed }: PlainChain, known: Set<Digits>): void {
  count.blocks++;
  for (const at of before.keys()) known.add(at);
  count.destroyed += destroyed.size;
  for (const [at, { code }] of accounts) {
    if (destroyed.has(at) || (!before.has(at) && known.has(at))) count.recreated++;
    if (code.startsWith('ef0100') && code !== before.get(at)?.code) count.delegated++;
  }
}

async function checkProof(
  ask: Ask,
  format: ZkFormat,
  random: Random,
  block: number,
  { root, accounts }: { readonly root: Digits; readonly accounts: PlainAccounts },
  count: Covered,
): Promise<void> {
  const at = ADDRESSES[random(ADDRESSES.length)]!;
  const keys = SLOTS.filter(() => random(2) === 0);
  const tag = `0x${block.toString(16)}`;
  const answer = await ask('linea_getProof', `0x${at}`, keys.map((key) => `0x${key}`), tag); // biome-ignore format: short
  const { account, slots } = verifyZkProof(format, root, at, keys, answer);
  const plain = accounts.get(at);
  const said = account && { nonce: account.slice(0, 64), balance: account.slice(64, 128), code: account.slice(256) };
  const code = plain && `${keccak(plain.code)}${word(plain.code.length / 2)}`;
  const wanted = plain && { nonce: word(plain.nonce), balance: word(plain.balance), code };
  expect({ block, at, account: said, slots }).toEqual({
    block,
    at,
    account: wanted,
    slots: keys.map((key) => plain?.slots.get(key) ?? ZERO),
  });
  count.proofs++;
  if (account === undefined) count.missing++;
  count.slots += slots.length;
}

/**
 * Has the twin verify an answer of a network, as recorded, and then with one bit flipped in one field after the other.
 *
 * @param every - of so many fields, one is damaged
 * @returns how many damaged answers were refused; none may be accepted
 */
export function refusedDamage(name: string, every: number): number {
  const fixture = fixtureJson<AnswerFixture>(`state/getproof/${name}.json`);
  const { scheme, stateRoot, address, storageKeys, result } = fixture;
  const format = zkFormat(scheme);
  const digits = (hex: string) => hex.slice(2).toLowerCase();
  const keys = storageKeys.map((key) => digits(key).padStart(64, '0'));
  const verify = () => verifyZkProof(format, digits(stateRoot), digits(address), keys, result);
  expect(verify().slots).toHaveLength(keys.length);
  let refused = 0;
  let field = 0;
  for (const place of bitFlips(result as Json, 1)) {
    if (field++ % every !== 0) continue;
    expect(verify, place).toThrow();
    refused++;
  }
  verify();
  return refused;
}
