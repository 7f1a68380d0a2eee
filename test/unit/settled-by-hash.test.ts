import { describe, expect, test } from 'vitest';
import { SettledBlocks } from '../../src/chain/light/settlement/settled-blocks.js';
import { StateTrie } from '../../src/ethereum/state-trie.js';
import { keccak256 } from '../../src/kernel/keccak.js';
import { devnet } from '../../src/networks/devnet.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { anchorSlots, verifyL1Anchor } from '../../src/proof/l1-anchor.js';
import { devNode } from '../support/dev-node.js';
import { getProof } from '../support/ethereum-tries.js';

/* The cases of docs/spec/rollup-versions.md 6 that no devnet makes. */

const ADDRESS = new Uint8Array(20).fill(0xaa);
const rollup = { address: bytesToHex(ADDRESS), currentBlockSlot: 281n, stateRootsSlot: 282n, blockHashesSlot: 456n };
const word = (value: bigint) => bigIntToBytes(value, 32);
const BLOCK = 10;
const ROOT = 0xabcdn;
const HASH = 0x1234n;

/** A contract at block 10 with these entries. */
async function contract(entries: { readonly root?: bigint; readonly hash?: bigint }) {
  const trie = new StateTrie();
  const [current, root, hash] = anchorSlots(rollup, BLOCK) as [Uint8Array, Uint8Array, Uint8Array];
  const slots = [
    // `_initialized` of 8.0, as an upgrade leaves it: it does not decide.
    { key: word(0n), after: word(9n) },
    { key: current, after: word(BigInt(BLOCK)) },
    ...(entries.root === undefined ? [] : [{ key: root, after: word(entries.root) }]),
    ...(entries.hash === undefined ? [] : [{ key: hash, after: word(entries.hash) }]),
  ];
  const account = { nonce: 1n, balance: 0n, codeHash: keccak256(Uint8Array.of(1)) };
  const l1StateRoot = await trie.write([{ address: ADDRESS, account, slots }]);
  const answer = await getProof(trie, l1StateRoot, ADDRESS, [current, root, hash]);
  return { request: { l1StateRoot, rollup, l2BlockNumber: BLOCK }, answer };
}

describe('what the contract stores of a block', () => {
  test.each([
    ['both', { root: ROOT, hash: HASH }, { stateRoot: word(ROOT), blockHash: word(HASH) }],
    ['a root', { root: ROOT }, { stateRoot: word(ROOT) }],
    ['a hash', { hash: HASH }, { blockHash: word(HASH) }],
  ])('%s', async (_, entries, expected) => {
    const { request, answer } = await contract(entries);
    const verdict = verifyL1Anchor(request, answer);
    expect(verdict).toEqual({ verified: true, l2BlockNumber: BLOCK, currentL2BlockNumber: 10n, ...expected });
  });

  test('neither: no finalization ended there', async () => {
    const { request, answer } = await contract({});
    expect(verifyL1Anchor(request, answer)).toMatchObject({ verified: false, reason: 'NO_FINALIZATION_AT_BLOCK' });
  });

  test.each([0, 1, 2])('slot %i of an answer with another value is refused', async (index) => {
    const { request, answer } = await contract({ root: ROOT, hash: HASH });
    for (const value of ['0x0', '0x77'] as const) {
      const storageProof = answer.storageProof.with(index, { ...answer.storageProof[index]!, value });
      expect(verifyL1Anchor(request, { ...answer, storageProof })).toMatchObject({ reason: 'VALUE_MISMATCH' });
    }
  });

  test('without the slot in the profile, the hash is not asked for', async () => {
    const { blockHashesSlot: _, ...old } = rollup;
    expect(anchorSlots(old, BLOCK).map(bytesToHex)).toEqual(anchorSlots(rollup, BLOCK).slice(0, 2).map(bytesToHex));
  });
});

describe('the header of the stored hash', () => {
  /** Settled blocks where layer 1 stores this hash as that of block 3, over a devnet of six blocks. */
  async function blocks(hash: (of: (number: number) => Promise<Hex>) => Promise<Hex>) {
    const dev = await devNode();
    await dev.ask('anvil_mine', '0x6');
    const of = async (number: number) =>
      (await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', `0x${number.toString(16)}`, false)).hash;
    const stored = hexToBytes(await hash(of));
    const upstream = {
      request: async (method: string, params: readonly unknown[], { accept }: { accept(answer: unknown): unknown }) =>
        accept(await dev.ask(method, ...params)),
    };
    const finality = { newest: async () => ({ number: 3, hash: stored, layerOneBlock: 3 }) };
    const parts = { network: devnet(), upstream, finality, proofs: {}, headers: {} };
    return { of, settled: new SettledBlocks(parts as never) };
  }

  test('is that of the block', async () => {
    const { of, settled } = await blocks((hashOf) => hashOf(3));
    expect(bytesToHex((await settled.newest()).hash)).toBe(await of(3));
    expect((await settled.byNumber(4)) === undefined).toBe(true);
  });

  test('of another number is refused', async () => {
    const { settled } = await blocks((hashOf) => hashOf(4));
    await expect(settled.newest()).rejects.toMatchObject({
      code: 'ANSWER_REFUSED',
      details: { what: 'header of block 3', check: 'HEADER_NUMBER' },
    });
  });

  test('that no block has is not found, and another header in its place is refused', async () => {
    const none: Hex = `0x${'77'.repeat(32)}`;
    const { settled } = await blocks(async () => none);
    await expect(settled.newest()).rejects.toMatchObject({ code: 'ANSWER_REFUSED', details: { check: 'MISSING' } });
  });
});
