import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { Account } from '@ethereumjs/util';
import { keccak256 } from 'viem';
import { describe, expect, test } from 'vitest';
import { EMPTY_CODE_HASH } from '../../src/ethereum/constants.js';
import { UnknownNodeError } from '../../src/ethereum/patricia-trie.js';
import { partialTrie, StateTrie, type TrieWrite } from '../../src/ethereum/state-trie.js';
import { bigIntToBytes, bigIntToMinimalBytes, bytesToKey } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { seededRandom } from '../support/random.js';

/** Balance and slots of accounts, by their number. */
type Accounts = Map<number, { readonly balance: bigint; readonly slots: Map<number, bigint> }>;

const addressOf = (account: number) => bigIntToBytes(BigInt(account) * 7919n + 1n, 20);
const slotOf = (slot: number) => bigIntToBytes(BigInt(slot), 32);

/** The state root by @ethereumjs/mpt. */
async function rootByLibrary(accounts: Accounts): Promise<Uint8Array> {
  const trie = await createMPT({ useKeyHashing: true });
  for (const [account, { balance, slots }] of accounts) {
    const storage = await createMPT({ useKeyHashing: true });
    for (const [slot, value] of slots) await storage.put(slotOf(slot), RLP.encode(bigIntToMinimalBytes(value)));
    await trie.put(addressOf(account), new Account(1n, balance, storage.root()).serialize());
  }
  return trie.root();
}

/** Changes accounts, and says how. */
function change(accounts: Accounts, random: (bound: number) => number, count: number): TrieWrite[] {
  const writes: TrieWrite[] = [];
  const picked = new Set(Array.from({ length: count }, () => random(60)));
  for (const account of picked) {
    const address = addressOf(account);
    const before = accounts.get(account);
    if (before !== undefined && random(4) === 0) {
      accounts.delete(account);
      writes.push({ address, account: undefined, slots: [] });
      continue;
    }
    const clearStorage = before !== undefined && random(6) === 0;
    const slots = new Map(clearStorage ? [] : before?.slots);
    const written = new Map<number, bigint>();
    for (let i = random(4); i > 0; i--) {
      const held = [...slots.keys()];
      if (held.length > 0 && random(2) === 0) written.set(held[random(held.length)]!, 0n);
      else written.set(random(40), BigInt(1 + random(1000)));
    }
    for (const [slot, value] of written) {
      if (value === 0n) slots.delete(slot);
      else slots.set(slot, value);
    }
    const balance = BigInt(random(1_000_000));
    accounts.set(account, { balance, slots });
    const plain = { nonce: 1n, balance, codeHash: EMPTY_CODE_HASH };
    const after = [...written].map(([slot, value]) => ({ key: slotOf(slot), after: bigIntToBytes(value, 32) }));
    writes.push({ address, account: plain, clearStorage, slots: after });
  }
  return writes;
}

describe('a trie of which only the nodes of proofs are known', () => {
  test.each([1, 2])('gives the root of the whole one, or none (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    const accounts: Accounts = new Map();
    const whole = new StateTrie();
    for (let i = 0; i < 10; i++) whole.write(change(accounts, random, 6));
    let [given, refused] = [0, 0];
    for (let round = 0; round < 20; round++) {
      const root = whole.write([]);
      expect(root).toEqual(await rootByLibrary(accounts));
      const nodes = new Map<string, Uint8Array>();
      const prove = (address: Uint8Array, keys: readonly Uint8Array[]) => {
        const { accountProof, storage } = whole.prove(root, address, keys);
        for (const node of [...accountProof, ...storage.flatMap(({ proof }) => proof)])
          nodes.set(bytesToKey(hexToBytes(keccak256(node))), node);
      };
      const write = partialTrie(nodes, root);
      // Two blocks: the nodes for the second one become known after the first one.
      for (let block = 0; block < 2; block++) {
        const writes = change(accounts, random, 3);
        for (const { address, slots } of writes) {
          prove(
            address,
            slots.map(({ key }) => key),
          );
        }
        const expected = await rootByLibrary(accounts);
        whole.write(writes);
        for (let tries = 0; ; tries++) {
          expect(tries).toBeLessThan(20);
          try {
            expect(bytesToHex(write(writes))).toBe(bytesToHex(expected));
            given++;
            break;
          } catch (error) {
            if (!(error instanceof UnknownNodeError)) throw error;
            refused++;
            // The node is on the path of some key of the state before, which shows it.
            const { path, account } = error;
            expect(path).toBeDefined();
            const isBelow = (key: Uint8Array) =>
              keccak256(key)
                .slice(2)
                .startsWith([...path!].map((half) => half.toString(16)).join(''));
            const keys = Array.from({ length: account === undefined ? 60 : 40 }, (_, i) =>
              account === undefined ? addressOf(i) : slotOf(i),
            );
            const below = keys.filter(isBelow);
            expect(below.length).toBeGreaterThan(0);
            for (const key of below) {
              if (account === undefined) prove(key, []);
              else prove(account, [key]);
            }
          }
        }
      }
    }
    expect(given).toBe(40);
    expect(refused).toBeGreaterThan(0);
  });

  test('the empty one takes writes', async () => {
    const accounts: Accounts = new Map();
    const writes = change(accounts, seededRandom(9), 12);
    const empty = new StateTrie().write([]);
    expect(partialTrie(new Map(), empty)(writes)).toEqual(await rootByLibrary(accounts));
  });
});
