import { describe, expect, it } from 'vitest';
import { EMPTY_TRIE_ROOT } from '../../src/ethereum/constants.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';
import type { RollupContract } from '../../src/networks/network.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { anchorSlots, stateRootSlot, verifyL1Anchor } from '../../src/proof/l1-anchor.js';
import { bitFlips, type Json, shapeEdits } from '../support/damage.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { outcome } from '../support/refusal.js';

interface SlotFixture {
  key: string;
  value: string;
  proof: string[];
}

interface AnchorFixture {
  rollupContract: Hex;
  l1StateRoot: Hex;
  storageHash: string;
  accountProof: string[];
  storage: Record<string, SlotFixture>;
}

const BLOCK = 620_681;

function load() {
  const fixture = fixtureJson<AnchorFixture>('state/getproof/l1-anchor-620681.json');
  const rollup: RollupContract = { address: fixture.rollupContract, currentBlockSlot: 0x119n, stateRootsSlot: 0x11an };
  const { accountProof, storageHash, storage } = fixture;
  const storageProof = [storage.currentL2BlockNumber!, storage[`stateRootHashes[${BLOCK}]`]!];
  return {
    fixture,
    request: { l1StateRoot: hexToBytes(fixture.l1StateRoot, 32), rollup, l2BlockNumber: BLOCK },
    answer: { accountProof, storageHash, storageProof },
  };
}

describe.skipIf(!hasFixture('state/getproof/l1-anchor-620681.json'))(
  'the recorded layer-1 anchor of block 620681',
  () => {
    it('gives the root of the recorded linea_getProof answers of that block', () => {
      const { request, answer } = load();
      const { stateRoot } = fixtureJson<{ stateRoot: Hex }>('state/getproof/mimc-620681-missing-slot.json');
      expect(verifyL1Anchor(request, answer)).toEqual({
        verified: true,
        l2BlockNumber: BLOCK,
        stateRoot: hexToBytes(stateRoot),
        currentL2BlockNumber: BigInt(BLOCK),
      });
    });

    it('asks for the recorded slots', () => {
      const { fixture, request } = load();
      const slots = anchorSlots(request.rollup, BLOCK).map((slot) => BigInt(bytesToHex(slot)));
      expect(slots).toEqual([0x119n, BigInt(fixture.storage[`stateRootHashes[${BLOCK}]`]!.key)]);
      expect(bytesToHex(stateRootSlot(request.rollup, BLOCK))).toBe(fixture.storage[`stateRootHashes[${BLOCK}]`]!.key);
    });

    it('is refused with any one byte damaged', () => {
      const { request, answer } = load();
      let damaged = 0;
      for (const place of bitFlips(answer as unknown as Json)) {
        expect(
          outcome(() => verifyL1Anchor(request, answer)),
          place,
        ).not.toBe('accepted');
        damaged++;
      }
      expect(damaged).toBeGreaterThan(6500);
      expect(outcome(() => verifyL1Anchor(request, answer))).toBe('accepted');
    });

    it('is refused in any other shape', () => {
      const { request, answer } = load();
      // Members that only repeat what is proven may be missing, and nodes add members of their own.
      const harmless = /: (a foreign field|without 0x000)$|^\.storageHash: null$/;
      for (const place of shapeEdits(answer as unknown as Json)) {
        if (harmless.test(place)) continue;
        expect(
          outcome(() => verifyL1Anchor(request, answer)),
          place,
        ).not.toBe('accepted');
      }
    });

    it.each<[string, (loaded: ReturnType<typeof load>) => unknown, string]>([
      ['another block', ({ request }) => ({ ...request, l2BlockNumber: BLOCK - 1 }), 'KEY_MISMATCH'],
      [
        'another contract',
        ({ request }) => ({ ...request, rollup: { ...request.rollup, address: `0x${'11'.repeat(20)}` } }),
        'NODE_HASH_MISMATCH',
      ],
      [
        'another slot',
        ({ request }) => ({ ...request, rollup: { ...request.rollup, currentBlockSlot: 0x118n } }),
        'KEY_MISMATCH',
      ],
      ['another root', ({ request }) => ({ ...request, l1StateRoot: EMPTY_TRIE_ROOT }), 'NODE_HASH_MISMATCH'],
    ])('does not answer for %s', (_, change, reason) => {
      const loaded = load();
      const request = change(loaded) as typeof loaded.request;
      expect(outcome(() => verifyL1Anchor(request, loaded.answer))).toBe(reason);
    });

    it('optional members that contradict the proof are refused, those that agree are not', () => {
      const { request, answer } = load();
      const with_ = (members: object) => outcome(() => verifyL1Anchor(request, { ...answer, ...members }));
      expect(with_({ address: request.rollup.address.toUpperCase().replace('0X', '0x') })).toBe('accepted');
      expect(with_({ address: `0x${'11'.repeat(20)}` })).toBe('KEY_MISMATCH');
      expect(with_({ nonce: '0x1', balance: '0x7fffffffffffffff' })).toBe('VALUE_MISMATCH');
      expect(with_({ codeHash: `0x${'00'.repeat(32)}` })).toBe('VALUE_MISMATCH');
      expect(with_({ storageHash: bytesToHex(EMPTY_TRIE_ROOT) })).toBe('VALUE_MISMATCH');
    });
  },
);

describe('what layer 1 does not hold, proved by it', () => {
  it('is no root: no contract, a block that is not finalized, one at which no finalization ended', async () => {
    const { rollup } = devnet();
    const dev = await createInlineNode({ chain: { kind: 'devnet', finality: { delayBlocks: 0, batchBlocks: 4 } } });
    try {
      await dev.request({ method: 'evm_mine', params: [{ blocks: 5 }] });
      const head = await dev.l1.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] });
      const { stateRoot } = head as { stateRoot: Hex };
      const judge = async (block: number, contract: RollupContract = rollup) => {
        const slots = anchorSlots(contract, block).map(bytesToHex);
        const answer = await dev.l1.request({ method: 'eth_getProof', params: [contract.address, slots, 'finalized'] });
        const request = { l1StateRoot: hexToBytes(stateRoot, 32), rollup: contract, l2BlockNumber: block };
        return outcome(() => verifyL1Anchor(request, answer));
      };
      expect(await judge(4)).toBe('accepted');
      expect(await judge(3)).toBe('NO_FINALIZATION_AT_BLOCK');
      expect(await judge(5)).toBe('BLOCK_NOT_FINALIZED');
      expect(await judge(4, { ...rollup, address: `0x${'11'.repeat(20)}` })).toBe('CONTRACT_MISSING');
    } finally {
      await dev.close();
    }
  });
});
