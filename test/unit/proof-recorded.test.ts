import { describe, expect, it } from 'vitest';
import { hashWord } from '../../src/accumulator/keys.js';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { type VerifiedLineaProof, verifyLineaProof, verifyTreeItem } from '../../src/proof/linea-proof.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import {
  ANSWERS,
  type AnswerFixture,
  type ItemFixture,
  rememberingHasher,
  requestOf,
  wordQuestion,
} from '../support/proof-fixtures.js';

interface Expected {
  exists: boolean;
  leafIndex?: number;
  left?: number;
  right?: number;
  nonce?: string;
  balance?: string;
  storageRoot?: string;
  zkCodeHash?: string;
  codeHash?: string;
  codeSize?: string;
  storage: string[];
  nextFreeNode: number;
}

/** A proof in the words of the fixtures. */
function decoded(proof: VerifiedLineaProof): Partial<Expected> {
  const { account, place, slots, nextFreeNode } = proof;
  const hex = (bytes: Uint8Array | undefined) => bytes && bytesToHex(bytes);
  const quantity = (value: bigint | undefined) => (value === undefined ? undefined : `0x${value.toString(16)}`);
  const fields = {
    exists: place.exists,
    leafIndex: place.exists ? place.leafIndex : undefined,
    left: place.exists ? undefined : place.leftLeafIndex,
    right: place.exists ? undefined : place.rightLeafIndex,
    nonce: quantity(account?.nonce),
    balance: quantity(account?.balance),
    storageRoot: hex(account?.storageRoot),
    zkCodeHash: hex(account?.zkCodeHash),
    codeHash: hex(account?.keccakCodeHash),
    codeSize: quantity(account?.codeSize),
    storage: slots.map(({ value }) => bytesToHex(value)),
    nextFreeNode,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function verified(fixture: AnswerFixture): VerifiedLineaProof {
  const verdict = verifyLineaProof(rememberingHasher(fixture.scheme), requestOf(fixture), fixture.result);
  if (!verdict.verified) throw new Error(`${verdict.reason} at ${verdict.at}`);
  return verdict;
}

describe('answers of linea_getProof', () => {
  it.each(ANSWERS)('%s proves what is expected', (name) => {
    const fixture = fixtureJson<AnswerFixture & { expect: Expected }>(`state/getproof/${name}.json`);
    const proof = verified(fixture);
    expect(decoded(proof)).toMatchObject(fixture.expect);
    expect(proof.slots.map(({ key }) => bytesToHex(key))).toEqual(fixture.storageKeys);
    for (const { exists, value } of proof.slots) expect(exists).toBe(value.some((byte) => byte !== 0));
  });

  const SHOMEI = hasFixture('state/getproof/shomei-mimc-testGetProofForAvailableKey.json');
  it.skipIf(!SHOMEI).each(['mimc', 'poseidon2'] as const)(
    "%s items of Shomei's own tests hold with raw keys",
    (scheme) => {
      const hasher = rememberingHasher(scheme);
      for (const name of ['AvailableKey', 'MissingKey']) {
        const fixture = fixtureJson<ItemFixture>(`state/getproof/shomei-${scheme}-testGetProofFor${name}.json`);
        const asked = wordQuestion(hexToBytes(fixture.item.key, 32), hasher.hash);
        const verdict = verifyTreeItem(hasher, hexToBytes(fixture.topRoot, 32), asked, fixture.item);
        const value = fixture.item.proof?.value;
        expect(verdict).toMatchObject({ verified: true, value: value === undefined ? undefined : hexToBytes(value) });
        if (name === 'MissingKey') expect(fixture.topRoot).toBe(bytesToHex(schemeFormat(scheme).emptyRoot));
      }
    },
  );
});

describe('generated answers after whole blocks', () => {
  interface Chain {
    queries: (Omit<AnswerFixture, 'scheme'> & { expect: Expected })[];
  }
  it.each(['mimc', 'poseidon2'] as const)('%s: every query proves what is expected', (scheme) => {
    const { chains } = fixtureJson<{ chains: Chain[] }>(`state/generated-blocks-${scheme}.json.gz`);
    const queries = chains.flatMap((chain) => chain.queries);
    expect(queries).toHaveLength(36);
    for (const query of queries) expect(decoded(verified({ ...query, scheme }))).toMatchObject(query.expect);
  });
});

describe('generated storage trees', () => {
  interface Sequence {
    steps: { topRoot: string }[];
    proofs: { key: string; proof?: { value: string } }[];
  }
  it.each(['mimc', 'poseidon2'] as const)('%s: every item verifies against the last root', (scheme) => {
    const hasher = rememberingHasher(scheme);
    const { sequences } = fixtureJson<{ sequences: Sequence[] }>(`state/generated-ops-${scheme}.json`);
    for (const { steps, proofs } of sequences) {
      const root = hexToBytes(steps.at(-1)!.topRoot, 32);
      for (const item of proofs) {
        const asked = wordQuestion(hexToBytes(item.key, 32), (word) => hashWord(hasher, word));
        const value = item.proof && hexToBytes(item.proof.value);
        expect(verifyTreeItem(hasher, root, asked, item)).toMatchObject({ verified: true, value });
      }
    }
  });
});
