import { createMerkleProof, createMPT } from '@ethereumjs/mpt';
import { createAccount } from '@ethereumjs/util';
import { describe, expect, test } from 'vitest';
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../../src/ethereum/constants.js';
import type { HeldNode } from '../../src/ethereum/patricia-node.js';
import { PatriciaTrie, rootHash } from '../../src/ethereum/patricia-trie.js';
import { StateTrie, type TrieWrite } from '../../src/ethereum/state-trie.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { seededRandom } from '../support/random.js';

const hexOf = (nodes: readonly Uint8Array[]) => nodes.map((node) => bytesToHex(node));

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
          expect(hexOf(again.path(at))).toEqual(hexOf(await createMerkleProof(library, at)));
          expect(again.get(at)?.value ?? null).toEqual(await library.get(at));
        }
        // The trie of an earlier batch is as it was.
        if (earlier !== undefined) expect(hexOf(new PatriciaTrie(earlier.root).path(earlier.at))).toEqual(earlier.path);
        const at = known[0] ?? key();
        earlier = { root, at, path: hexOf(await createMerkleProof(library, at)) };
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

  test('a root that is not held is an error, not an empty trie', () => {
    const unknown = new Uint8Array(32).fill(1);
    expect(() => new StateTrie().prove(unknown, new Uint8Array(20), [])).toThrow(
      expect.objectContaining({ code: 'INTERNAL' }),
    );
  });
});
