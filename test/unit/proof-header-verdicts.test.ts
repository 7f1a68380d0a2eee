import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { EMPTY_REQUESTS_HASH, EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from '../../src/ethereum/constants.js';
import { type BlockHeader, headerHash } from '../../src/ethereum/header.js';
import { loadSignerRecovery } from '../../src/ethereum/signer.js';
import type { Network } from '../../src/networks/network.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { readHeader, verifyHeader, verifyHeaderLink, verifyHeaderRules } from '../../src/proof/headers.js';
import { cliqueSealDigest, recoverSigner, verifyCliqueSeal } from '../../src/proof/seals.js';
import { headerJson } from '../support/zero-header.js';

await loadSignerRecovery();

const word = (byte: number) => new Uint8Array(32).fill(byte);
const refusal = (reason: string, at: string, message: string) => ({ verified: false, reason, at, message });
const plain = readHeader(headerJson(5));

describe('a header of an answer', () => {
  it('is refused for its hash, or for that of the request', () => {
    const json = headerJson(5);
    expect(verifyHeader({ ...json, hash: bytesToHex(word(1)) })).toEqual(
      refusal('HASH_MISMATCH', 'hash', 'is not the hash of the fields'),
    );
    expect(verifyHeader(json, { hash: word(1) })).toEqual(refusal('OTHER_BLOCK', 'hash', 'is not the requested hash'));
    expect(verifyHeader(json, { number: 6 })).toEqual(refusal('OTHER_BLOCK', 'number', 'is 5, requested was 6'));
    expect(() => verifyHeader({ ...json, hash: undefined })).toThrow('malformed proof: hash is not hex text');
    expect(() => readHeader({ ...json, number: 5 }, 'block')).toThrow('malformed proof: block.number is not 0x');
    expect(() => readHeader({ ...json, timestamp: 5 }, 'block')).toThrow('malformed proof: block.timestamp is not 0x');
    expect(verifyHeader({ ...json, baseFeePerGas: null, requestsHash: null })).toMatchObject({ verified: true });
    expect(() => readHeader({ ...json, withdrawalsRoot: bytesToHex(word(1)) })).toThrow(
      'malformed proof: withdrawalsRoot is present without baseFeePerGas',
    );
    expect(() => verifyHeader(null)).toThrow('malformed proof: the answer is not an object');
  });
});

describe('a parent', () => {
  const parent = { header: plain, hash: headerHash(plain) };
  const link = (changes: Partial<BlockHeader>) => {
    const child = { ...plain, number: 6, parentHash: parent.hash, timestamp: 1, ...changes };
    return verifyHeaderLink(parent, { header: child, hash: word(9) });
  };

  it('has the number, hash and time before those of its child', () => {
    expect(link({})).toEqual({ verified: true });
    expect(link({ number: 7 })).toEqual(refusal('NUMBER_MISMATCH', 'number', 'is 7, that of the parent 5'));
    expect(link({ parentHash: word(1) })).toEqual(
      refusal('PARENT_MISMATCH', 'parentHash', 'is not the hash of the parent'),
    );
    expect(link({ timestamp: 0 })).toEqual(refusal('TIMESTAMP_ORDER', 'timestamp', 'is 0, that of the parent 0'));
  });

  it('may have the time of its child if the network allows it, and never a later one', () => {
    const late = { header: { ...plain, timestamp: 5 }, hash: headerHash(plain) };
    const at = (timestamp: number, rule?: Network['equalTimestamps']) => {
      const header = { ...plain, number: 6, parentHash: late.hash, timestamp };
      return verifyHeaderLink(late, { header, hash: word(9) }, rule);
    };
    expect(at(5, 'allowed')).toEqual({ verified: true });
    for (const rule of ['refused', undefined] as const)
      expect(at(5, rule)).toEqual(refusal('TIMESTAMP_ORDER', 'timestamp', 'is 5, that of the parent 5'));
    expect(at(4, 'allowed')).toEqual(refusal('TIMESTAMP_ORDER', 'timestamp', 'is 4, that of the parent 5'));
    expect(at(6, 'allowed')).toEqual({ verified: true });
  });
});

describe('a rule of a fork', () => {
  const forks: Network['forks'] = [
    { hardfork: 'london', block: 100 },
    { hardfork: 'paris', block: 200 },
    { hardfork: 'shanghai', timestamp: 1_000 },
    { hardfork: 'cancun', timestamp: 2_000 },
    { hardfork: 'prague', timestamp: 3_000 },
  ];
  const maru = { maru: {} } as NonNullable<Network['sealing']>;
  const london = { baseFeePerGas: 7n };
  const shanghai = { ...london, withdrawalsRoot: EMPTY_TRIE_ROOT };
  const cancun = { ...shanghai, blobGasUsed: 0n, excessBlobGas: 0n, parentBeaconBlockRoot: word(0) };
  const prague = { ...cancun, requestsHash: EMPTY_REQUESTS_HASH };
  const rules = (number: number, timestamp: number, changes: Partial<BlockHeader>, sealing = maru) =>
    verifyHeaderRules({ forks, sealing }, { ...plain, sha3Uncles: EMPTY_UNCLES_HASH, number, timestamp, ...changes });
  const accepted = { verified: true };

  it('holds from its block or its time on', () => {
    for (const [number, timestamp, fields] of [
      [99, 0, {}],
      [100, 0, london],
      [199, 999, london],
      [200, 999, london],
      [200, 1_000, shanghai],
      [201, 1_999, shanghai],
      [201, 2_000, cancun],
      [201, 2_999, cancun],
      [201, 3_000, prague],
    ] as const)
      expect([number, timestamp, rules(number, timestamp, fields)]).toEqual([number, timestamp, accepted]);
  });

  it('is told with the fork, for a field too few or too many', () => {
    const reason = 'FIELD_OF_OTHER_FORK';
    expect(rules(100, 0, {})).toEqual(refusal(reason, 'baseFeePerGas', 'is missing after london'));
    expect(rules(99, 0, london)).toEqual(refusal(reason, 'baseFeePerGas', 'is present before london'));
    expect(rules(201, 3_000, cancun)).toEqual(refusal(reason, 'requestsHash', 'is missing after prague'));
  });

  it('limits gas always, and extra data after Paris', () => {
    const reason = 'LIMIT_EXCEEDED';
    expect(rules(99, 0, { gasLimit: 9n, gasUsed: 9n })).toEqual(accepted);
    expect(rules(99, 0, { gasLimit: 9n, gasUsed: 10n })).toEqual(refusal(reason, 'gasUsed', 'is above the gas limit'));
    expect(rules(199, 0, { ...london, extraData: new Uint8Array(33) })).toEqual(accepted);
    expect(rules(200, 0, { ...london, extraData: new Uint8Array(32) })).toEqual(accepted);
    expect(rules(200, 0, { ...london, extraData: new Uint8Array(33) })).toEqual(
      refusal(reason, 'extraData', 'has 33 bytes'),
    );
  });

  it('names the field that is not constant, as far as the network has constants', () => {
    const not = (field: string) => refusal('CONSTANT_MISMATCH', field, 'is not the constant value of this network');
    expect(rules(199, 0, { ...london, difficulty: 2n })).toEqual(accepted);
    expect(rules(200, 0, { ...london, difficulty: 2n })).toEqual(not('difficulty'));
    expect(rules(201, 3_000, { ...prague, excessBlobGas: 1n })).toEqual(not('excessBlobGas'));
    expect(rules(201, 3_000, { ...prague, excessBlobGas: 1n }, {})).toEqual(accepted);
    expect(verifyHeaderRules({ forks: [] }, plain)).toEqual(accepted);
  });
});

describe('a seal of Clique', () => {
  const keys = [1, 2, 3].map((byte) => word(byte));
  const addressOf = (key: Uint8Array) => keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12);
  const sealing = {
    signers: keys.slice(0, 2).map((key) => bytesToHex(addressOf(key)) as Hex),
    lastBlock: 40,
    epochLength: 10,
  };
  const seal = (digest: Uint8Array, key: Uint8Array) => {
    const signature = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' });
    return concatBytes(signature.subarray(1), signature.subarray(0, 1));
  };
  /** A sealed header, with this many bytes between vanity and seal. */
  const sealed = (number: number, key: Uint8Array, between = 0): BlockHeader => {
    const bare = { ...plain, number, extraData: new Uint8Array(32 + between + 65) };
    const extraData = concatBytes(new Uint8Array(32 + between), seal(cliqueSealDigest(bare), key));
    return { ...bare, extraData };
  };
  const verify = (number: number, key = keys[0]!, between?: number) =>
    verifyCliqueSeal(sealing, sealed(number, key, between));

  it('is by one of the signers, from the first block to the last', () => {
    for (const key of keys.slice(0, 2)) {
      expect(verify(1, key)).toEqual({ verified: true, signer: addressOf(key) });
      expect(verify(40, key, 40)).toEqual({ verified: true, signer: addressOf(key) });
    }
    const stranger = `is sealed by ${bytesToHex(addressOf(keys[2]!))}, which is not an authorized signer`;
    expect(verify(1, keys[2])).toEqual(refusal('SEAL_BY_STRANGER', 'extraData', stranger));
    for (const number of [0, 41])
      expect(verify(number)).toEqual(refusal('NOT_OF_CLIQUE', 'number', `is ${number}, Clique sealed blocks 1 to 40`));
  });

  it('comes behind the signers at an epoch, and behind nothing else', () => {
    const length = (bytes: number) => refusal('SEAL_LENGTH', 'extraData', `has ${bytes} bytes`);
    expect(verify(10, keys[0], 20)).toMatchObject({ verified: true });
    expect(verify(10)).toEqual(length(97));
    expect(verify(10, keys[0], 30)).toEqual(length(127));
    expect(verify(11, keys[0], 20)).toEqual(length(117));
    const header = { ...plain, number: 1, extraData: new Uint8Array(97) };
    expect(verifyCliqueSeal(sealing, header)).toEqual(
      refusal('SEAL_INVALID', 'extraData', 'does not end with a valid signature'),
    );
  });

  it('has 65 bytes, of which the last is 0 or 1', () => {
    const [digest, key] = [word(7), keys[0]!];
    const signature = seal(digest, key);
    expect(recoverSigner(digest, signature)).toEqual(addressOf(key));
    for (const other of [
      concatBytes(signature, new Uint8Array(1)),
      signature.subarray(0, 64),
      signature.with(64, 2),
      signature.with(64, 27),
    ])
      expect(recoverSigner(digest, other)).toBeUndefined();
  });
});
