import { describe, expect, it } from 'vitest';
import { loadSignerRecovery } from '../../src/ethereum/signer.js';
import { linea, lineaSepolia } from '../../src/networks/linea.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import {
  readHeader,
  type VerifiedHeader,
  verifyHeader,
  verifyHeaderLink,
  verifyHeaderRules,
} from '../../src/proof/headers.js';
import { verifyCliqueSeal } from '../../src/proof/seals.js';
import { bitFlips, shapeEdits } from '../support/damage.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { acceptedUnder, outcome } from '../support/refusal.js';

await loadSignerRecovery();

interface HeadersFile {
  chains: { network: string; headers: { hash: Hex; cliqueSigner?: Hex; header: Record<string, Hex> }[] }[];
}

const file = hasFixture('headers/headers.json') ? fixtureJson<HeadersFile>('headers/headers.json') : { chains: [] };
const recorded = (chain: number, index: number) => {
  const { header, hash } = file.chains[chain]!.headers[index]!;
  return { ...header, hash } as Record<string, Hex>;
};
function verified(chain: number, index: number): VerifiedHeader {
  const verdict = verifyHeader(recorded(chain, index));
  if (!verdict.verified) throw new Error(verdict.reason);
  return verdict;
}
const reasonOf = (verdict: { verified: boolean; reason?: string; at?: string }) =>
  verdict.verified ? 'accepted' : `${verdict.reason} ${verdict.at}`;
const withHeader = (block: VerifiedHeader, changes: Partial<VerifiedHeader['header']>): VerifiedHeader => ({
  ...block,
  header: { ...block.header, ...changes },
});

describe.skipIf(file.chains.length === 0)('a header in JSON-RPC', () => {
  it('is refused with any bit of any field flipped', () => {
    const answer = recorded(0, 3);
    const taken = acceptedUnder(bitFlips(answer, 8), () => verifyHeader(answer));
    expect(taken).toEqual([]);
    expect(outcome(() => verifyHeader(answer))).toBe('accepted');
  });

  it('is refused with a field of another shape, missing or null', () => {
    for (const [chain, index] of [
      [0, 3],
      [2, 0],
    ] as const) {
      const answer = recorded(chain, index);
      const taken = acceptedUnder(shapeEdits(answer), () => verifyHeader(answer));
      // 0x00 is still zero.
      const zeros = Object.keys(answer).filter((name) => answer[name] === '0x0');
      expect(taken).toEqual(zeros.flatMap((name) => [`.${name}: one digit more`, `.${name}: one byte more`]));
      for (const name of Object.keys(answer)) {
        const { [name]: _, ...rest } = answer;
        expect([name, outcome(() => verifyHeader(rest))]).not.toEqual([name, 'accepted']);
      }
    }
  });

  it('may have other members, leading zeros in quantities and capital digits', () => {
    const answer = recorded(0, 3);
    const extra = { ...answer, size: '0x1', uncles: [], transactions: [], totalDifficulty: null };
    expect(outcome(() => verifyHeader(extra))).toBe('accepted');
    const spelled = {
      ...answer,
      gasUsed: `0x0${answer.gasUsed!.slice(2)}`,
      miner: `0x${answer.miner!.slice(2).toUpperCase()}`,
    };
    expect(outcome(() => verifyHeader(spelled))).toBe('accepted');
  });

  it('never has a later field without those before it, so no field stands for another', () => {
    const { parentBeaconBlockRoot: _, ...shifted } = recorded(0, 3);
    expect(() => readHeader(shifted)).toThrow(/requestsHash is present without parentBeaconBlockRoot/);
    const { requestsHash: __, ...half } = shifted;
    expect(() => readHeader(half)).toThrow(/parentBeaconBlockRoot is missing/);
  });

  it('is of the block that was asked for, or refused', () => {
    const answer = recorded(0, 3);
    const number = Number(answer.number);
    expect(verifyHeader(answer, { number, hash: hexToBytes(answer.hash!) }).verified).toBe(true);
    expect(reasonOf(verifyHeader(answer, { number: number + 1 }))).toBe('OTHER_BLOCK number');
    expect(reasonOf(verifyHeader(answer, { hash: hexToBytes(recorded(0, 4).hash!) }))).toBe('OTHER_BLOCK hash');
  });
});

describe.skipIf(file.chains.length === 0)('the link to the parent', () => {
  it('holds number, hash and time', () => {
    const [parent, child, after] = [verified(0, 3), verified(0, 4), verified(0, 5)];
    const link = (block: VerifiedHeader) => reasonOf(verifyHeaderLink(parent, block));
    expect(link(child)).toBe('accepted');
    expect(link(after)).toBe('NUMBER_MISMATCH number');
    expect(link(parent)).toBe('NUMBER_MISMATCH number');
    expect(link(withHeader(child, { parentHash: after.hash }))).toBe('PARENT_MISMATCH parentHash');
    expect(link(withHeader(child, { timestamp: parent.header.timestamp }))).toBe('TIMESTAMP_ORDER timestamp');
    expect(link(withHeader(child, { timestamp: parent.header.timestamp + 1 }))).toBe('accepted');
  });
});

describe.skipIf(file.chains.length === 0)('the rules of a fork', () => {
  it('ask for the fields of the fork, the constants and the limits', () => {
    const osaka = verified(0, 3);
    const london = verified(2, 0);
    const rules = (block: VerifiedHeader, changes = {}) =>
      reasonOf(verifyHeaderRules(linea, withHeader(block, changes).header));
    expect([rules(osaka), rules(london)]).toEqual(['accepted', 'accepted']);
    const word = new Uint8Array(32).fill(1);
    expect(rules(osaka, { withdrawalsRoot: word })).toBe('CONSTANT_MISMATCH withdrawalsRoot');
    expect(rules(osaka, { requestsHash: word })).toBe('CONSTANT_MISMATCH requestsHash');
    expect(rules(osaka, { parentBeaconBlockRoot: word })).toBe('CONSTANT_MISMATCH parentBeaconBlockRoot');
    expect(rules(osaka, { sha3Uncles: word })).toBe('CONSTANT_MISMATCH sha3Uncles');
    expect(rules(osaka, { blobGasUsed: 131072n })).toBe('CONSTANT_MISMATCH blobGasUsed');
    expect(rules(osaka, { excessBlobGas: 1n })).toBe('CONSTANT_MISMATCH excessBlobGas');
    expect(rules(osaka, { difficulty: 2n })).toBe('CONSTANT_MISMATCH difficulty');
    expect(rules(osaka, { nonce: new Uint8Array(8).fill(1) })).toBe('CONSTANT_MISMATCH nonce');
    expect(rules(osaka, { extraData: new Uint8Array(33) })).toBe('LIMIT_EXCEEDED extraData');
    expect(rules(osaka, { gasUsed: osaka.header.gasLimit + 1n })).toBe('LIMIT_EXCEEDED gasUsed');
    expect(rules(osaka, { requestsHash: undefined })).toBe('FIELD_OF_OTHER_FORK requestsHash');
    expect(rules(london, { withdrawalsRoot: word })).toBe('FIELD_OF_OTHER_FORK withdrawalsRoot');
    expect(rules(london, { baseFeePerGas: undefined })).toBe('FIELD_OF_OTHER_FORK baseFeePerGas');
  });

  it('leave withdrawals and blobs alone on a network that Maru does not seal', () => {
    const { sealing: _, ...other } = linea;
    const changes = { withdrawalsRoot: new Uint8Array(32).fill(1), excessBlobGas: 1n };
    expect(verifyHeaderRules(other, withHeader(verified(0, 3), changes).header).verified).toBe(true);
  });
});

describe.skipIf(file.chains.length === 0)('the Clique seal', () => {
  const clique = linea.sealing!.clique!;

  it('is of the signer of its own network, and of no other', () => {
    const { header } = verified(5, 0);
    const signed = verifyCliqueSeal(lineaSepolia.sealing!.clique!, header);
    expect(signed.verified && bytesToHex(signed.signer)).toBe(file.chains[5]!.headers[0]!.cliqueSigner);
    expect(reasonOf(verifyCliqueSeal(clique, header))).toBe('SEAL_BY_STRANGER extraData');
  });

  it('is refused when a bit of anything it signs is flipped, and of itself', () => {
    const { hash: _, ...json } = recorded(3, 0);
    const verify = () => verifyCliqueSeal(clique, readHeader(json));
    expect(verify().verified).toBe(true);
    expect(acceptedUnder(bitFlips(json, 3), verify)).toEqual([]);
  });

  it('has its place and length, and an end', () => {
    const { header } = verified(3, 0);
    const seal = (changes: Partial<typeof header>) => reasonOf(verifyCliqueSeal(clique, { ...header, ...changes }));
    expect(seal({ extraData: header.extraData.subarray(0, 96) })).toBe('SEAL_LENGTH extraData');
    expect(seal({ number: 30_000 })).toBe('SEAL_LENGTH extraData');
    const listing = new Uint8Array(117);
    expect(seal({ extraData: listing })).toBe('SEAL_LENGTH extraData');
    expect(seal({ extraData: listing, number: 30_000 })).toBe('SEAL_INVALID extraData');
    expect(seal({ number: 0 })).toBe('NOT_OF_CLIQUE number');
    expect(seal({ number: clique.lastBlock })).toBe('SEAL_BY_STRANGER extraData');
    expect(seal({ number: clique.lastBlock + 1 })).toBe('NOT_OF_CLIQUE number');
    const ofNoKey = header.extraData.slice().fill(0, 32, 96);
    expect(seal({ extraData: ofNoKey })).toBe('SEAL_INVALID extraData');
    const parity = header.extraData.slice();
    parity[96]! += 27;
    expect(seal({ extraData: parity })).toBe('SEAL_INVALID extraData');
  });

  it('ends where the profiles place Paris', () => {
    for (const network of [linea, lineaSepolia]) {
      const paris = network.forks.find(({ hardfork }) => hardfork === 'paris')!.block!;
      expect(network.sealing!.clique!.lastBlock).toBe(paris - 1);
    }
  });
});
