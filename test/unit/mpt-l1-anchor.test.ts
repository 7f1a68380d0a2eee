import { describe, expect, it } from 'vitest';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { anchorSlots, verifyL1Anchor } from '../../src/proof/l1-anchor.js';
import { address, getProof, rollupState, word } from '../support/ethereum-tries.js';

describe('verifyL1Anchor on tries that patricia-trie.test.ts compares with @ethereumjs/mpt', () => {
  it('verifies the anchor: finalized, not a last block, above the newest, contract missing', async () => {
    const { trie, rollup, stateRoot } = await rollupState();
    const anchor = async (block: number, contract = rollup) => {
      const of = hexToBytes(contract.address);
      const answer = await getProof(trie, stateRoot, of, anchorSlots(contract, block));
      return verifyL1Anchor({ l1StateRoot: stateRoot, rollup: contract, l2BlockNumber: block }, answer);
    };
    expect(await anchor(10)).toEqual({
      verified: true,
      l2BlockNumber: 10,
      stateRoot: word(0xabcdn),
      currentL2BlockNumber: 30n,
    });
    expect(await anchor(11)).toEqual({
      verified: false,
      reason: 'NO_FINALIZATION_AT_BLOCK',
      at: 'storageProof[1].value',
      message: 'no finalization ended at block 11',
    });
    expect(await anchor(40)).toEqual({
      verified: false,
      reason: 'BLOCK_NOT_FINALIZED',
      at: 'storageProof[0].value',
      message: 'the newest finalized block is 30',
    });
    expect(await anchor(0)).toMatchObject({ reason: 'NO_FINALIZATION_AT_BLOCK' });
    // The newest block is final itself.
    expect(await anchor(30)).toMatchObject({ reason: 'NO_FINALIZATION_AT_BLOCK' });
    const slots = anchorSlots(rollup, 10);
    const answer = await getProof(trie, stateRoot, hexToBytes(rollup.address), slots);
    const elsewhere = { l1StateRoot: word(1n), rollup, l2BlockNumber: 10 };
    expect(verifyL1Anchor(elsewhere, answer)).toMatchObject({ verified: false, at: 'accountProof[0]' });
    for (const block of [-1, 1.5, Number.NaN, 2 ** 53]) {
      await expect(anchor(block)).rejects.toMatchObject({
        code: 'OUT_OF_RANGE',
        message: `l2BlockNumber must be an integer from 0 to 2^53 - 1, got ${block}`,
        details: { what: 'l2BlockNumber', value: `${block}`, limit: 'an integer from 0 to 2^53 - 1' },
      });
    }
    const missing = { ...rollup, address: bytesToHex(address(0xdd)) as `0x${string}` };
    expect(await anchor(10, missing)).toEqual({
      verified: false,
      reason: 'CONTRACT_MISSING',
      at: 'accountProof',
      message: 'there is no account at the address of the rollup contract',
    });
  });
});
