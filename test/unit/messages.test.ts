import { concat, encodeAbiParameters, encodeFunctionData, keccak256, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { StateTrie } from '../../src/ethereum/state-trie.js';
import { linea } from '../../src/networks/linea.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import {
  type BridgeMessage,
  claimCalldata,
  claimRefusal,
  hashMessage,
  messageSlots,
  messageTrees,
  siblingsOf,
  verifyClaimState,
  verifyMessageProof,
} from '../../src/proof/messages.js';
import { getProof } from '../support/ethereum-tries.js';
import { seededRandom } from '../support/random.js';

const random = seededRandom(166);
const bytes = (length: number) => Uint8Array.from({ length }, () => random(256));
const messageAt = (nonce: number): BridgeMessage => ({
  from: bytes(20),
  to: bytes(20),
  fee: BigInt(random(1_000)),
  value: BigInt(random(2 ** 31)) ** 2n,
  nonce: BigInt(nonce),
  data: bytes(random(70)),
});
const TYPES = ['address', 'address', 'uint256', 'uint256', 'uint256', 'bytes'].map((type) => ({ type }));
const ZERO = `0x${'00'.repeat(32)}` as const;

/** The root by viem's hash, of all leaves. */
function rootBy(leaves: readonly Hex[], depth: number): Hex {
  let level: readonly Hex[] = Array.from({ length: 2 ** depth }, (_, i) => leaves[i] ?? ZERO);
  while (level.length > 1)
    level = Array.from({ length: level.length / 2 }, (_, i) => keccak256(concat([level[2 * i]!, level[2 * i + 1]!])));
  return level[0]!;
}

test('a hash is that of the ABI', () => {
  for (let i = 0; i < 50; i++) {
    const message = messageAt(i);
    const { from, to, fee, value, nonce, data } = message;
    const encoded = encodeAbiParameters(TYPES, [bytesToHex(from), bytesToHex(to), fee, value, nonce, bytesToHex(data)]);
    expect(bytesToHex(hashMessage(message))).toBe(keccak256(encoded));
  }
});

describe.each([1, 3, 5])('trees of depth %i', (depth) => {
  test.each([0, 1, 2, 31, 32, 33, 100])('of %i messages', (count) => {
    const messages = Array.from({ length: count }, (_, i) => messageAt(i));
    const hashes = messages.map(hashMessage);
    const trees = messageTrees(hashes, depth);
    const size = 2 ** depth;
    expect(trees).toHaveLength(Math.ceil(count / size));
    for (const [at, tree] of trees.entries()) {
      const leaves = hashes.slice(at * size, (at + 1) * size);
      expect(bytesToHex(tree.root)).toBe(
        rootBy(
          leaves.map((leaf) => bytesToHex(leaf)),
          depth,
        ),
      );
      for (let leafIndex = 0; leafIndex < leaves.length; leafIndex++) {
        const siblings = siblingsOf(tree, leafIndex);
        const message = messages[at * size + leafIndex]!;
        const request = { message, siblings, leafIndex, root: tree.root, depth };
        expect(verifyMessageProof(request)).toEqual({ verified: true, hash: leaves[leafIndex] });
      }
    }
  });
});

test('a branch that is not the message’s is refused with its reason', () => {
  const messages = Array.from({ length: 20 }, (_, i) => messageAt(i));
  const [tree] = messageTrees(messages.map(hashMessage));
  const good = { message: messages[9]!, siblings: siblingsOf(tree!, 9), leafIndex: 9, root: tree!.root, depth: 5 };
  for (const [change, reason] of [
    [{ depth: 4 }, 'DEPTH_MISMATCH'],
    [{ siblings: good.siblings.slice(1), leafIndex: 4 }, 'DEPTH_MISMATCH'],
    [{ leafIndex: 32 }, 'INDEX_OUT_OF_RANGE'],
    [{ leafIndex: -1 }, 'INDEX_OUT_OF_RANGE'],
    [{ leafIndex: 1.5 }, 'INDEX_OUT_OF_RANGE'],
    [{ leafIndex: 8 }, 'ROOT_MISMATCH'],
    [{ message: messages[8]! }, 'ROOT_MISMATCH'],
    [{ root: new Uint8Array(32) }, 'ROOT_MISMATCH'],
  ] as const)
    expect(verifyMessageProof({ ...good, ...change })).toMatchObject({ verified: false, reason });
  const short = { ...good, siblings: [new Uint8Array(31), ...good.siblings.slice(1)] };
  expect(() => verifyMessageProof(short)).toThrow(expect.objectContaining({ code: 'INVALID_LENGTH' }));
  expect(() => hashMessage({ ...good.message, to: new Uint8Array(19) })).toThrow(/to/);
  expect(() => messageTrees([], 33)).toThrow(/depth/);
});

test('calldata is that of the ABI', () => {
  const abi = parseAbi([
    'struct Claim { bytes32[] proof; uint256 messageNumber; uint32 leafIndex; address from; address to; uint256 fee; uint256 value; address feeRecipient; bytes32 merkleRoot; bytes data }',
    'function claimMessageWithProof(Claim params)',
  ]);
  for (let i = 0; i < 30; i++) {
    const message = messageAt(i);
    const [root, feeRecipient] = [bytes(32), bytes(20)];
    const siblings = Array.from({ length: random(8) }, () => bytes(32));
    const params = {
      proof: siblings.map((one) => bytesToHex(one)),
      messageNumber: message.nonce,
      leafIndex: i,
      from: bytesToHex(message.from),
      to: bytesToHex(message.to),
      fee: message.fee,
      value: message.value,
      feeRecipient: bytesToHex(feeRecipient),
      merkleRoot: bytesToHex(root),
      data: bytesToHex(message.data),
    };
    const data = claimCalldata({ message, siblings, leafIndex: i, root, feeRecipient });
    expect(bytesToHex(data)).toBe(encodeFunctionData({ abi, functionName: 'claimMessageWithProof', args: [params] }));
  }
  const claim = { message: messageAt(1), siblings: [], leafIndex: 2 ** 32, root: new Uint8Array(32) };
  expect(() => claimCalldata(claim)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }));
});

test('slots are those of the mappings, and need a profile that has them', () => {
  const question = { root: bytes(32), nonce: 1_000n };
  const entry = (key: Hex, slot: bigint) => keccak256(concat([key, `0x${slot.toString(16).padStart(64, '0')}`]));
  const slots = messageSlots(linea.rollup, question).map((slot) => bytesToHex(slot));
  expect(slots.slice(0, 4).map(BigInt)).toEqual([152n, 153n, 154n, 218n]);
  expect(slots.slice(4)).toEqual([
    entry(bytesToHex(question.root), 336n),
    entry(`0x${(1_000n >> 8n).toString(16).padStart(64, '0')}`, 335n),
  ]);
  const { rootDepthsSlot: _, ...without } = linea.rollup;
  expect(() => messageSlots(without, question)).toThrow(/^rollup: has no rootDepthsSlot/);
  const request = { ...question, rollup: linea.rollup, l1StateRoot: hexToBytes(ZERO) };
  expect(() => verifyClaimState(request, {})).toThrow(expect.objectContaining({ code: 'PROOF_MALFORMED' }));
});

test('the rate limit counts from zero after its period, and a message without an amount has none', () => {
  const message = { ...messageAt(1), fee: 0n, value: 10n };
  const [tree] = messageTrees([hashMessage(message)]);
  const claim = { message, siblings: siblingsOf(tree!, 0), leafIndex: 0, root: tree!.root };
  const rateLimit = { limit: 15n, periodEnd: 100n, used: 6n };
  const state = { depth: 5n, isClaimed: false, pauseBits: 0n, rateLimit, balance: 10n };
  expect(claimRefusal(claim, state, 100n)).toBe('RateLimitExceeded');
  expect(claimRefusal(claim, state, 101n)).toBeUndefined();
  expect(claimRefusal(claim, { ...state, balance: 9n }, 101n)).toBe('MessageSendingFailed');
  expect(claimRefusal(claim, { ...state, pauseBits: 1n << 2n }, 101n)).toBeUndefined();
  for (const bit of [1n, 3n]) expect(claimRefusal(claim, { ...state, pauseBits: 1n << bit }, 101n)).toBe('IsPaused');
});

test('each refusal of a claim, in the order of the contract (docs/spec/messages.md 5)', () => {
  const message = { ...messageAt(1), fee: 1n, value: 9n };
  const [tree] = messageTrees([hashMessage(message)]);
  const claim = { message, siblings: siblingsOf(tree!, 0), leafIndex: 0, root: tree!.root };
  const rateLimit = { limit: 16n, periodEnd: 100n, used: 6n };
  const state = { depth: 5n, isClaimed: false, pauseBits: 0n, rateLimit, balance: 10n };
  const most = { ...claim, message: { ...message, fee: 2n ** 256n - 11n, value: 10n } };
  const over = { ...most, message: { ...most.message, value: 11n } };
  const room = { ...state, rateLimit: { ...rateLimit, limit: 2n ** 257n }, balance: 2n ** 257n };
  const of32 = Array.from({ length: 32 }, () => bytes(32));
  for (const [given, changed, reason] of [
    [claim, state, undefined],
    [claim, { ...state, depth: 0n }, 'L2MerkleRootDoesNotExist'],
    [claim, { ...state, depth: 6n }, 'ProofLengthDifferentThanMerkleDepth'],
    [claim, { ...state, isClaimed: true }, 'MessageAlreadyClaimed'],
    [over, room, 'Panic'],
    [most, room, 'InvalidMerkleProof'],
    [claim, { ...state, rateLimit: { ...rateLimit, limit: 15n } }, 'RateLimitExceeded'],
    [
      { ...claim, message: { ...message, fee: 0n, value: 0n } },
      { ...state, rateLimit: { ...rateLimit, limit: 5n } },
      'InvalidMerkleProof',
    ],
    [{ ...claim, siblings: [...of32, bytes(32)] }, { ...state, depth: 33n }, 'SafeCastOverflowedUintDowncast'],
    [{ ...claim, siblings: of32 }, { ...state, depth: 32n }, 'InvalidMerkleProof'],
    [{ ...claim, leafIndex: 32 }, state, 'LeafIndexOutOfBounds'],
    [{ ...claim, leafIndex: 31 }, state, 'InvalidMerkleProof'],
    [{ ...claim, root: bytes(32) }, state, 'InvalidMerkleProof'],
    [claim, { ...state, balance: 9n }, 'MessageSendingFailed'],
  ] as const)
    expect([reason, claimRefusal(given, changed, 100n)]).toEqual([reason, reason]);
});

test('the state of a claim is read from a proof of the contract', async () => {
  const trie = new StateTrie();
  const address = hexToBytes(linea.rollup.address, 20);
  const question = { root: bytes(32), nonce: 0x305n };
  const word = (value: bigint) => hexToBytes(`0x${value.toString(16).padStart(64, '0')}`);
  const keys = messageSlots(linea.rollup, question);
  const slots = [100n, 200n, 50n, 4n, 5n, 1n << 5n].map((value, i) => ({ key: keys[i]!, after: word(value) }));
  const account = { nonce: 1n, balance: 77n, codeHash: bytes(32) };
  const l1StateRoot = await trie.write([{ address, account, slots }]);
  const read = async (nonce: bigint, rollup = linea.rollup) => {
    const asked = { root: question.root, nonce };
    const of = hexToBytes(rollup.address, 20);
    const answer = await getProof(trie, l1StateRoot, of, messageSlots(rollup, asked));
    return verifyClaimState({ ...asked, rollup, l1StateRoot }, answer);
  };
  const state = {
    ...{ verified: true, depth: 5n, isClaimed: true, pauseBits: 4n },
    ...{ rateLimit: { limit: 100n, periodEnd: 200n, used: 50n }, balance: 77n },
  };
  expect(await read(question.nonce)).toEqual(state);
  expect(await read(question.nonce + 1n)).toEqual({ ...state, isClaimed: false });
  // The same bit of the word before it.
  expect(await read(question.nonce - 256n)).toEqual({ ...state, isClaimed: false });
  expect(await read(question.nonce, { ...linea.rollup, address: `0x${'5'.repeat(40)}` })).toEqual({
    verified: false,
    reason: 'CONTRACT_MISSING',
    at: 'accountProof',
    message: 'there is no account at the address of the rollup contract',
  });
  const answer = await getProof(trie, l1StateRoot, address, keys);
  const elsewhere = { ...question, rollup: linea.rollup, l1StateRoot: bytes(32) };
  expect(verifyClaimState(elsewhere, answer)).toMatchObject({ verified: false, at: 'accountProof[0]' });
});

test('what is wrong with the input is named', () => {
  const [message, root] = [messageAt(1), bytes(32)];
  const claim = { message, siblings: [bytes(32)], leafIndex: 0, root };
  const wrong = (work: () => unknown) => {
    try {
      return work();
    } catch (error) {
      const { code, message: text } = error as { code: string; message: string };
      return `${code} ${text}`;
    }
  };
  expect(wrong(() => hashMessage({ ...message, from: bytes(19) }))).toMatch(/^INVALID_LENGTH .*from/);
  for (const depth of [0, 33, 1.5]) expect(wrong(() => messageTrees([], depth))).toMatch(/depth: must be from 1 to 32/);
  expect(messageTrees([bytes(32)], 32)).toHaveLength(1);
  const proof = { ...claim, depth: 1 };
  expect(wrong(() => verifyMessageProof({ ...proof, root: bytes(31) }))).toMatch(/^INVALID_LENGTH .*root/);
  expect(wrong(() => verifyMessageProof({ ...proof, siblings: [bytes(31)] }))).toMatch(
    /^INVALID_LENGTH .*siblings\[0\]/,
  );
  expect(wrong(() => messageSlots(linea.rollup, { root: bytes(31), nonce: 1n }))).toMatch(/^INVALID_LENGTH .*root/);
  const { claimedSlot: _, ...without } = linea.rollup;
  expect(wrong(() => messageSlots(without, { root, nonce: 1n }))).toMatch(/claimedSlot/);
  for (const leafIndex of [-1, 0.5, 2 ** 32])
    expect(wrong(() => claimCalldata({ ...claim, leafIndex }))).toBe(
      'OUT_OF_RANGE leafIndex must be an integer from 0 to 2^32 - 1',
    );
  expect(wrong(() => claimCalldata({ ...claim, feeRecipient: bytes(19) }))).toMatch(/^INVALID_LENGTH .*feeRecipient/);
  expect(wrong(() => claimCalldata({ ...claim, root: bytes(33) }))).toMatch(/^INVALID_LENGTH .*root/);
  for (const [change, at, text] of [
    [{ depth: 2 }, 'siblings', 'there are 1 siblings, and the tree has depth 2'],
    [{ leafIndex: 2 }, 'leafIndex', 'a tree of depth 1 has no leaf 2'],
    [{}, 'root', 'the branch leads to another root'],
  ] as const)
    expect(verifyMessageProof({ ...proof, ...change })).toMatchObject({ verified: false, at, message: text });
});
