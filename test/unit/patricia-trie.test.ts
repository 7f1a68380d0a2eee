import { createMerkleProof, createMPT } from '@ethereumjs/mpt';
import { createAccount } from '@ethereumjs/util';
import { describe, expect, test } from 'vitest';
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../../src/ethereum/constants.js';
import { type HeldNode, PatriciaTrie, rootHash } from '../../src/ethereum/patricia-trie.js';
import { StateTrie, type TrieWrite } from '../../src/ethereum/state-trie.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { verifyEthereumProof } from '../../src/proof/ethereum-proof.js';
import { seededRandom } from '../support/random.js';

const hexOf = (nodes: readonly Uint8Array[]) => nodes.map((node) => bytesToHex(node));

/** Nodes of a proof as geth and Besu list them. The library lists those that are embedded in their parents as well. */
const listed = (nodes: readonly Uint8Array[]) => hexOf(nodes.filter((node, i) => i === 0 || node.length >= 32));

describe('tries beside those of @ethereumjs/mpt', () => {
  test.each([1, 2, 3, 4])(
    'the same roots and paths after each batch of writes and removals (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const library = await createMPT();
      let root: HeldNode | undefined;
      let earlier: { root: HeldNode | undefined; at: Uint8Array; path: string[] } | undefined;
      // Few different half-bytes, so that keys part late: extensions of every length, and nodes within nodes.
      const ends = [0x00, 0x01, 0x10, 0x11, 0xff];
      const key = () => {
        const bytes = new Uint8Array(32).fill(seed);
        const from = random(2) === 0 ? 31 : random(32);
        for (let i = from; i < 32; i++) bytes[i] = ends[random(ends.length)]!;
        return bytes;
      };
      const known: Uint8Array[] = [];
      for (let batch = 0; batch < 60; batch++) {
        const trie = new PatriciaTrie(root);
        const growing = batch % 20 < 12;
        for (let i = random(8); i >= 0; i--) {
          const at = known.length > 0 && random(3) === 0 ? known[random(known.length)]! : key();
          if (random(4) < (growing ? 3 : 1)) {
            const value = new Uint8Array(1 + random(random(4) === 0 ? 120 : 3)).fill(1 + random(255));
            trie.put(at, value);
            await library.put(at, value);
            known.push(at);
          } else {
            const gone = growing || known.length === 0 ? at : known.splice(random(known.length), 1)[0]!;
            trie.delete(gone);
            await library.del(gone);
          }
        }
        root = trie.commit();
        expect(bytesToHex(rootHash(root))).toBe(bytesToHex(library.root()));
        const again = new PatriciaTrie(root);
        for (const at of [key(), key(), ...known.slice(-3)]) {
          expect(hexOf(again.path(at))).toEqual(listed(await createMerkleProof(library, at)));
          expect(again.get(at)?.value ?? null).toEqual(await library.get(at));
        }
        // The trie of an earlier batch is as it was.
        if (earlier !== undefined) expect(hexOf(new PatriciaTrie(earlier.root).path(earlier.at))).toEqual(earlier.path);
        const at = known[0] ?? key();
        earlier = { root, at, path: listed(await createMerkleProof(library, at)) };
      }
      const trie = new PatriciaTrie(root);
      for (const at of known) trie.delete(at);
      expect(rootHash(trie.commit())).toEqual(EMPTY_TRIE_ROOT);
    },
  );

  test('a state has the root of accounts that the library writes one by one', async () => {
    const writes = Array.from({ length: 300 }, (_, i): TrieWrite => {
      const account = { nonce: BigInt(i), balance: BigInt(i) ** 7n, codeHash: EMPTY_CODE_HASH };
      return { address: bigIntToBytes(BigInt(i) * 7919n + 1n, 20), account, slots: [] };
    });
    const library = await createMPT({ useKeyHashing: true });
    for (const { address, account } of writes) {
      await library.put(address, createAccount({ nonce: account!.nonce, balance: account!.balance }).serialize());
    }
    const state = new StateTrie();
    const root = state.write(writes);
    expect(root).toEqual(library.root());
    for (const address of [writes[0]!.address, writes[299]!.address, new Uint8Array(20)]) {
      expect(hexOf(state.prove(root, address, []).accountProof)).toEqual(
        hexOf(await createMerkleProof(library, address)),
      );
    }
  });

  // The lengths are those of geth 1.17.10 for this account.
  test('a proof of a slot does not list a node that is embedded in its parent', () => {
    const address = new Uint8Array(20).fill(7);
    const account = { nonce: 1n, balance: 0n, codeHash: EMPTY_CODE_HASH };
    const keys = [40364n, 105566n].map((slot) => bigIntToBytes(slot, 32));
    const state = new StateTrie();
    const stateRoot = state.write([
      { address, account, slots: keys.map((key) => ({ key, after: bigIntToBytes(1n, 32) })) },
    ]);
    const { accountProof, storage } = state.prove(stateRoot, address, keys);
    expect(storage.map(({ proof }) => proof.map((node) => node.length))).toEqual([
      [40, 79],
      [40, 79],
    ]);
    const answer = {
      accountProof: hexOf(accountProof),
      storageProof: storage.map(({ key, proof }) => ({ key: bytesToHex(key), value: '0x1', proof: hexOf(proof) })),
    };
    expect(verifyEthereumProof({ address, storageKeys: keys, stateRoot }, answer)).toMatchObject({ verified: true });
  });

  test('our verifier accepts the proofs of crowded storage tries, as we and as the library list them', async () => {
    const random = seededRandom(32);
    let embedded = 0;
    for (let round = 0; round < 10; round++) {
      // The hashes of the first two begin with the same 40 bits, so that their leaves are embedded in a branch.
      const slots = [40364, 105566, ...Array.from({ length: random(200) }, () => random(200_000))];
      const keys = slots.map((slot) => bigIntToBytes(BigInt(slot), 32));
      const address = new Uint8Array(20).fill(round);
      const state = new StateTrie();
      const account = { nonce: 0n, balance: 1n, codeHash: EMPTY_CODE_HASH };
      const stateRoot = state.write([
        { address, account, slots: keys.map((key) => ({ key, after: bigIntToBytes(1n, 32) })) },
      ]);
      const library = await createMPT({ useKeyHashing: true });
      for (const key of keys) await library.put(key, Uint8Array.of(1));
      const asked = [
        ...new Map([...keys.slice(0, 20), bigIntToBytes(777_777n, 32)].map((key) => [bytesToHex(key), key])).values(),
      ];
      const { accountProof, storage } = state.prove(stateRoot, address, asked);
      for (const [i, { key, value, proof }] of storage.entries()) {
        const theirs = await createMerkleProof(library, key);
        expect(hexOf(proof)).toEqual(listed(theirs));
        if (theirs.length > proof.length) embedded++;
        for (const nodes of [proof, theirs]) {
          const answer = {
            accountProof: hexOf(accountProof),
            storageProof: [{ key: bytesToHex(key), value: `0x${value.toString(16)}`, proof: hexOf(nodes) }],
          };
          const verdict = verifyEthereumProof({ address, storageKeys: [asked[i]!], stateRoot }, answer);
          expect(verdict).toMatchObject({ verified: true, slots: [{ exists: value === 1n }] });
        }
      }
    }
    expect(embedded).toBe(20);
  });

  test('a root that is not held is an error, not an empty trie', () => {
    const unknown = new Uint8Array(32).fill(1);
    expect(() => new StateTrie().prove(unknown, new Uint8Array(20), [])).toThrow(
      expect.objectContaining({ code: 'INTERNAL' }),
    );
  });
});
