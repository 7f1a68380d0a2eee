import { beforeAll, describe, expect, it } from 'vitest';
import { rememberingHasher } from '../../conformance/remembering-hasher.js';
import type { Hasher, HashScheme } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { type FollowedAccount, KeyFollower } from '../../src/state/key-follower.js';
import { parseBlockTraces, type StateTrace } from '../../src/state/trace.js';
import { decodeTrieLog } from '../../src/state/trie-log.js';
import { witnessFromProofs } from '../../src/state/witness-state.js';
import { WitnessTrie } from '../../src/state/witness-trie.js';
import type { WorldState, ZkAccountChange } from '../../src/state/world-state.js';
import { fixtureJson } from '../support/fixtures.js';
import { wordOf } from '../support/random-chain.js';
import { openState } from '../support/world-state.js';

interface Chain {
  blocks: { blockNumber: number; trieLog: string; root: string; traces: unknown[] }[];
  queries: { address: string; storageKeys: string[] }[];
}

/** Accounts that the queries of a chain are about, with all slots asked for. */
function followedOf(chain: Chain) {
  const slots = new Map<string, Set<string>>();
  for (const { address, storageKeys } of chain.queries) {
    slots.set(address, new Set([...(slots.get(address) ?? []), ...storageKeys]));
  }
  return [...slots].map(([address, keys]) => ({
    address: hexToBytes(address, 20),
    slots: [...keys].map((key) => hexToBytes(key, 32)),
  }));
}

function compare(follower: KeyFollower, state: WorldState, followed: readonly FollowedAccount[]): void {
  const block = state.head!;
  for (const { address, slots } of followed) {
    expect(follower.account(address)).toEqual(state.account(block, address));
    for (const slot of slots) expect(follower.slot(address, slot)).toEqual(state.slot(block, address, slot));
  }
}

describe.each<HashScheme>(['poseidon2', 'mimc'])('selected keys through blocks, %s', (scheme) => {
  let hasher: Hasher;
  let chains: Chain[];
  beforeAll(async () => {
    hasher = rememberingHasher(await loadHasher(scheme));
    ({ chains } = fixtureJson<{ chains: Chain[] }>(`state/generated-blocks-${scheme}.json.gz`));
  });

  it('from the empty state: the published roots, and what the whole state says', async () => {
    for (const chain of chains) {
      const state = await openState(scheme, 'simd');
      const followed = followedOf(chain);
      const follower = new KeyFollower(hasher, WitnessTrie.empty(hasher), followed);
      const blocks = parseBlockTraces(chain.blocks.map(({ traces }) => traces));
      for (const [i, block] of chain.blocks.entries()) {
        state.applyBlock(block.blockNumber, decodeTrieLog(hexToBytes(block.trieLog)).changes);
        expect(bytesToHex(follower.follow(blocks[i]!))).toBe(block.root);
        compare(follower, state, followed);
      }
    }
  });

  it('from the proofs of a few keys in the middle of a chain', async () => {
    for (const chain of chains) {
      const state = await openState(scheme, 'simd');
      const blocks = parseBlockTraces(chain.blocks.map(({ traces }) => traces));
      const middle = chain.blocks.length >> 1;
      const apply = ({ blockNumber, trieLog }: Chain['blocks'][number]) =>
        state.applyBlock(blockNumber, decodeTrieLog(hexToBytes(trieLog)).changes);
      for (const block of chain.blocks.slice(0, middle)) apply(block);
      const items = followedOf(chain)
        .slice(0, 3)
        .map((keys) => ({ ...keys, proof: state.prove(state.head!, keys.address, keys.slots) }));
      const accounts = witnessFromProofs(
        hasher,
        state.root(),
        items.map(({ proof }) => proof.accountProof),
      );
      const followed = items.map(({ address, slots, proof }) => {
        const root = state.account(state.head!, address)?.storageRoot;
        const { storageProofs } = proof;
        return {
          address,
          slots,
          ...(root && storageProofs[0] && { storage: witnessFromProofs(hasher, root, storageProofs) }),
        };
      });
      const follower = new KeyFollower(hasher, accounts, followed);
      compare(follower, state, followed);
      for (let i = middle; i < blocks.length; i++) {
        apply(chain.blocks[i]!);
        expect(bytesToHex(follower.follow(blocks[i]!))).toBe(chain.blocks[i]!.root);
        compare(follower, state, followed);
      }
    }
  });

  it('refuses traces that say something else, and leads to another root where accounts are left out', () => {
    const isWrite = ({ type }: StateTrace) => type !== 'read' && type !== 'read-zero';
    const seen = { account: 0, storage: 0 };
    for (const chain of chains) {
      const blocks = parseBlockTraces(chain.blocks.map(({ traces }) => traces));
      const addresses = new Set(chain.queries.map(({ address }) => address));
      const isFollowed = ({ location }: StateTrace) => location !== undefined && addresses.has(bytesToHex(location));
      for (const [b, traces] of blocks.entries()) {
        const after = (changed: readonly StateTrace[]) => {
          const follower = new KeyFollower(hasher, WitnessTrie.empty(hasher), followedOf(chain));
          for (const earlier of blocks.slice(0, b)) follower.follow(earlier);
          follower.follow(changed);
          return follower;
        };
        const inAccounts = traces.findIndex((trace) => isWrite(trace) && trace.location === undefined);
        const inStorage = traces.findIndex((trace) => isWrite(trace) && isFollowed(trace));
        for (const [kind, at] of [['account', inAccounts] as const, ['storage', inStorage] as const]) {
          const write = traces[at];
          if (write === undefined || seen[kind] > 5) continue;
          seen[kind]++;
          expect(orRefused(() => after(traces.with(at, flipped(write))))).toBe('WITNESS_CONFLICT');
          const rest = traces.filter((_, i) => i !== at);
          if (write.location === undefined) {
            expect(orRefused(() => after(rest).root)).not.toBe(chain.blocks[b]!.root);
          } else {
            // Storage whose traces are left out contradicts the account, or nothing is said of it.
            const said = orRefused(() => after(rest).slot(write.location!, write.key));
            expect(['WITNESS_CONFLICT', 'WITNESS_MISSING']).toContain(said);
          }
        }
      }
    }
    expect(Math.min(seen.account, seen.storage)).toBeGreaterThan(3);
  });

  it('refuses to answer for keys that it does not follow', () => {
    const follower = new KeyFollower(hasher, WitnessTrie.empty(hasher), []);
    expect(orRefused(() => follower.account(new Uint8Array(20)))).toBe('WITNESS_MISSING');
    const open = WitnessTrie.open(hasher, 9, WitnessTrie.empty(hasher).subRoot);
    const followed = [{ address: new Uint8Array(20), slots: [] }];
    expect(orRefused(() => new KeyFollower(hasher, open, followed))).toBe('WITNESS_MISSING');
  });
});

describe('the storage of a followed account', () => {
  const address = new Uint8Array(20).fill(7);
  const same = { nonce: 1n, balance: 5n };
  const change = (slots: [key: number, before: number, after: number][], rest: Partial<ZkAccountChange> = {}) => ({
    address,
    before: same,
    after: same,
    destroyed: false,
    slots: slots.map(([key, before, after]) => ({ key: wordOf(key), before: wordOf(before), after: wordOf(after) })),
    ...rest,
  });
  const { before: _, ...created } = change([[1, 0, 7]]);

  async function started() {
    const hasher = await loadHasher('poseidon2');
    const follower = new KeyFollower(hasher, WitnessTrie.empty(hasher), [{ address, slots: [1, 2, 3].map(wordOf) }]);
    const state = await openState('poseidon2', 'simd');
    const next = (block: ZkAccountChange) => state.applyBlockTraced((state.head ?? -1) + 1, [block]).traces;
    follower.follow(next(created));
    return { follower, state, next };
  }

  it('cannot be left out', async () => {
    const { follower, next } = await started();
    expect([1, 2].map((key) => follower.slot(address, wordOf(key)))).toEqual([wordOf(7), wordOf(0)]);
    const traces = next(change([[1, 7, 8]]));
    expect(traces.map(({ type }) => type)).toEqual(['update', 'update']);
    expect(orRefused(() => follower.follow(traces.slice(1)))).toBe('WITNESS_CONFLICT');
  });

  it('starts empty when the account is recreated, whether or not a slot is written', async () => {
    const { follower, state, next } = await started();
    const blocks = [
      change([[1, 7, 0]]),
      change([], { destroyed: true }),
      change([[2, 0, 9]]),
      change(
        [
          [2, 9, 0],
          [3, 0, 4],
        ],
        { destroyed: true },
      ),
    ];
    for (const block of blocks) {
      expect(follower.follow(next(block))).toEqual(state.root());
      compare(follower, state, [{ address, slots: [1, 2, 3].map(wordOf) }]);
    }
  });
});

/** Root in hex, or the code of the refusal. */
function orRefused(run: () => unknown): unknown {
  try {
    const result = run();
    return result instanceof Uint8Array ? bytesToHex(result) : result;
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
}

/** A write with another outcome. */
function flipped(trace: StateTrace): StateTrace {
  const other = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 31 ? byte ^ 1 : byte));
  if (trace.type === 'insert') return { ...trace, value: other(trace.value) };
  if (trace.type === 'update') return { ...trace, newValue: other(trace.newValue) };
  return trace.type === 'delete' ? { ...trace, newSubRoot: other(trace.newSubRoot) } : trace;
}
