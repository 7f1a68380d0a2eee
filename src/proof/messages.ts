/**
 * Messages from a rollup to layer 1: their hashes, the trees that the rollup contract stores the roots of, and what of the contract decides
 * whether a claim passes. Rules: docs/spec/messages.md.
 */

import { invalidParameter, PlumblineError } from '../errors.js';
import { abiAddress, abiBytes, abiWord, mappingSlot } from '../ethereum/abi.js';
import { keccak256 } from '../kernel/keccak.js';
import type { RollupContract } from '../networks/network.js';
import {
  bytesToBigInt,
  concatBytes,
  copyBytes,
  equalBytes,
  requireLength,
  ZERO_ADDRESS,
  ZERO_WORD,
} from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';
import { type EthereumProofFailureReason, verifyEthereumProof } from './ethereum-proof.js';
import type { ProofFailure } from './verdict.js';

/** A message between the layers. Addresses have 20 bytes, amounts are in wei. */
export interface BridgeMessage {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  /** Paid to the account that claims the message. As the event `MessageSent` has it. */
  readonly fee: bigint;
  readonly value: bigint;
  readonly nonce: bigint;
  /** Calldata of the call of `to`. */
  readonly data: Uint8Array;
}

/** Slots of the rollup contract, in every release since 6.0. @source docs/spec/messages.md 4 */
const RATE_LIMIT = { limit: 152n, periodEnd: 153n, used: 154n };
const PAUSE_BITS = 218n;
/** Kinds of a pause, which are bits: all, and messages to layer 1. */
const PAUSES = [3n, 1n];
/** The contract's verifier takes no more siblings. */
const MOST_SIBLINGS = 32;
const LIMIT = 2n ** 256n;
const CLAIM_SELECTOR = hexToBytes('0x6463fb2a');

/**
 * The hash of a message, 32 bytes: the same on both layers.
 *
 * @throws PlumblineError `INVALID_LENGTH` for an address, `OUT_OF_RANGE` for a number above 2^256 - 1
 * @source docs/spec/messages.md 2
 *
 * @example
 * ```ts
 * import { bytesToHex, hashMessage } from 'plumbline-l2/verify';
 *
 * const account = new Uint8Array(20);
 * const hash = hashMessage({ from: account, to: account, fee: 0n, value: 1n, nonce: 1n, data: new Uint8Array() });
 * bytesToHex(hash).length; // => 66
 * ```
 */
export function hashMessage({ from, to, fee, value, nonce, data }: BridgeMessage): Uint8Array {
  requireLength('from', from, 20);
  requireLength('to', to, 20);
  const numbers = [fee, value, nonce].map(abiWord);
  return keccak256(concatBytes(abiAddress(from), abiAddress(to), ...numbers, abiWord(6n * 32n), abiBytes(data)));
}

/** One of the message trees of a finalization. */
export interface MessageTree {
  readonly root: Uint8Array;
  /** All nodes, level by level from the leaves up. */
  readonly levels: readonly (readonly Uint8Array[])[];
}

/**
 * The trees of the messages of one finalization.
 *
 * @param hashes - of all messages of its blocks, in order of block and of log, 32 bytes each
 * @param depth - of the trees, 1 to 32
 * @source docs/spec/messages.md 3
 *
 * @example
 * ```ts
 * import { messageTrees } from 'plumbline-l2/verify';
 *
 * const hashes = Array.from({ length: 33 }, (_, i) => new Uint8Array(32).fill(i + 1));
 * messageTrees(hashes).length; // => 2
 * ```
 */
export function messageTrees(hashes: readonly Uint8Array[], depth = 5): MessageTree[] {
  if (!Number.isInteger(depth) || depth < 1 || depth > MOST_SIBLINGS)
    throw invalidParameter('depth', 'must be from 1 to 32');
  const size = 2 ** depth;
  const trees: MessageTree[] = [];
  for (let start = 0; start < hashes.length; start += size) {
    const levels = [hashes.slice(start, start + size).map((hash) => copyBytes(hash))];
    // What is right of the last leaf is a tree of zeros, which is not made.
    let zero = ZERO_WORD;
    for (let level = 0; level < depth; level++) {
      const below = levels[level]!;
      const above: Uint8Array[] = [];
      for (let i = 0; i < below.length; i += 2) above.push(keccak256(concatBytes(below[i]!, below[i + 1] ?? zero)));
      levels.push(above);
      zero = keccak256(concatBytes(zero, zero));
    }
    trees.push({ root: levels[depth]![0]!, levels });
  }
  return trees;
}

/**
 * The siblings of a leaf, from the leaf up, 32 bytes each.
 *
 * @param leafIndex - within the tree
 *
 * @example
 * ```ts
 * import { bytesToHex, messageTrees, siblingsOf } from 'plumbline-l2/verify';
 *
 * const [left, right] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
 * const [tree] = messageTrees([left, right]);
 * const [sibling] = siblingsOf(tree, 0);
 * bytesToHex(sibling) === bytesToHex(right); // => true
 * ```
 */
export function siblingsOf({ levels }: MessageTree, leafIndex: number): Uint8Array[] {
  let zero = ZERO_WORD;
  return levels.slice(0, -1).map((level, height) => {
    const sibling = level[Math.floor(leafIndex / 2 ** height) ^ 1] ?? zero;
    zero = keccak256(concatBytes(zero, zero));
    return sibling;
  });
}

/** A message, and the branch from it to a root that layer 1 stores. */
export interface MessageProofRequest {
  readonly message: BridgeMessage;
  /** From the leaf up, 32 bytes each. */
  readonly siblings: readonly Uint8Array[];
  readonly leafIndex: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
  /** The depth that layer 1 stores with the root. Without it, an inner node could pass as a message. */
  readonly depth: number;
}

/** Why a branch does not lead from a message to a root. */
export type MessageProofFailureReason =
  /** The number of siblings is not the depth of the tree. */
  | 'DEPTH_MISMATCH'
  /** The tree has no leaf of this index. */
  | 'INDEX_OUT_OF_RANGE'
  /** The branch leads to another root. */
  | 'ROOT_MISMATCH';

/** The hash of a message that is in the tree, or why the branch does not prove it. */
export type MessageProofVerdict =
  | { readonly verified: true; readonly hash: Uint8Array }
  | ProofFailure<MessageProofFailureReason>;

/**
 * Verifies that a message is in the tree of a root. Use `verifyClaimState` to verify that layer 1 stores this root.
 *
 * @throws PlumblineError `INVALID_LENGTH` for a sibling or the root; as `hashMessage`
 * @source docs/spec/messages.md 3, 5
 *
 * @example
 * ```ts
 * import { hashMessage, verifyMessageProof } from 'plumbline-l2/verify';
 *
 * const account = new Uint8Array(20);
 * const message = { from: account, to: account, fee: 0n, value: 1n, nonce: 1n, data: new Uint8Array() };
 * // A tree without a level has its one leaf as root.
 * verifyMessageProof({ message, siblings: [], leafIndex: 0, root: hashMessage(message), depth: 0 }).verified; // => true
 * ```
 */
export function verifyMessageProof(request: MessageProofRequest): MessageProofVerdict {
  const { message, siblings, leafIndex, root, depth } = request;
  requireLength('root', root, 32);
  for (const [i, sibling] of siblings.entries()) requireLength(`siblings[${i}]`, sibling, 32);
  const refused = (reason: MessageProofFailureReason, at: string, text: string) =>
    ({ verified: false, reason, at, message: text }) as const;
  if (siblings.length !== depth)
    return refused(
      'DEPTH_MISMATCH',
      'siblings',
      `there are ${siblings.length} siblings, and the tree has depth ${depth}`,
    );
  if (!isIndexOf(leafIndex, depth))
    return refused('INDEX_OUT_OF_RANGE', 'leafIndex', `a tree of depth ${depth} has no leaf ${leafIndex}`);
  const hash = hashMessage(message);
  if (!equalBytes(rootOf(hash, siblings, leafIndex), root))
    return refused('ROOT_MISMATCH', 'root', 'the branch leads to another root');
  return { verified: true, hash };
}

function isIndexOf(leafIndex: number, depth: number): boolean {
  return Number.isSafeInteger(leafIndex) && leafIndex >= 0 && leafIndex < 2 ** depth;
}

function rootOf(leaf: Uint8Array, siblings: readonly Uint8Array[], leafIndex: number): Uint8Array {
  let [node, index] = [leaf, leafIndex];
  for (const sibling of siblings) {
    node = keccak256(index % 2 === 1 ? concatBytes(sibling, node) : concatBytes(node, sibling));
    index = Math.floor(index / 2);
  }
  return node;
}

/** The claim that you ask the contract about. */
export interface ClaimQuestion {
  /** Root of the message's tree, 32 bytes. */
  readonly root: Uint8Array;
  readonly nonce: bigint;
}

/**
 * Slots to request from `eth_getProof` of the rollup contract, in this order, 32 bytes each: limit, end of the period and used amount of
 * the rate limit, pause bits, depth of the root, and the word with the claimed bit of the message.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a profile without the slots of messages
 * @source docs/spec/messages.md 4
 *
 * @example
 * ```ts
 * import { linea } from 'plumbline-l2/fees';
 * import { bytesToHex, messageSlots } from 'plumbline-l2/verify';
 *
 * const [limit] = messageSlots(linea.rollup, { root: new Uint8Array(32), nonce: 1n });
 * bytesToHex(limit); // => '0x0000000000000000000000000000000000000000000000000000000000000098'
 * ```
 */
export function messageSlots(rollup: RollupContract, { root, nonce }: ClaimQuestion): Uint8Array[] {
  const { rootDepthsSlot, claimedSlot } = rollup;
  if (rootDepthsSlot === undefined || claimedSlot === undefined)
    throw invalidParameter('rollup', 'has no rootDepthsSlot and claimedSlot; a profile without them has no messages');
  requireLength('root', root, 32);
  return [
    ...[RATE_LIMIT.limit, RATE_LIMIT.periodEnd, RATE_LIMIT.used, PAUSE_BITS].map(abiWord),
    mappingSlot(root, rootDepthsSlot),
    mappingSlot(abiWord(nonce >> 8n), claimedSlot),
  ];
}

/** The values in the rollup contract that decide about a claim, at one layer-1 block. Amounts are in wei, times in seconds. */
export interface ClaimState {
  /** Depth of the tree with this root. 0: layer 1 does not have the root. */
  readonly depth: bigint;
  readonly isClaimed: boolean;
  /** Bit n is the pause of kind n. */
  readonly pauseBits: bigint;
  readonly rateLimit: { readonly limit: bigint; readonly periodEnd: bigint; readonly used: bigint };
  readonly balance: bigint;
}

/** Why an answer does not prove the state of a claim. */
export type ClaimStateFailureReason =
  | EthereumProofFailureReason
  /** There is no account at the contract's address. */
  | 'CONTRACT_MISSING';

/** The values that decide about a claim, or why the answer does not prove them. */
export type ClaimStateVerdict = ({ readonly verified: true } & ClaimState) | ProofFailure<ClaimStateFailureReason>;

/**
 * Verifies the values in the rollup contract that decide about a claim.
 *
 * @param request - `l1StateRoot`: of a layer-1 block that the caller trusts, 32 bytes
 * @param answer - `eth_getProof` of the contract with the slots of `messageSlots`, in that order
 * @throws PlumblineError `PROOF_MALFORMED`, `INVALID_LENGTH`; as `messageSlots`
 * @source docs/spec/messages.md 5
 *
 * @example
 * ```ts
 * import { devnet } from 'plumbline-l2/fees';
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { bytesToHex, hexToBytes, messageSlots, verifyClaimState } from 'plumbline-l2/verify';
 *
 * const node = await createInlineNode();
 * const rollup = { ...devnet().rollup, rootDepthsSlot: 336n, claimedSlot: 335n };
 * const block = (await node.l1.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }))!;
 * const question = { root: new Uint8Array(32), nonce: 1n };
 * const slots = messageSlots(rollup, question).map((slot) => bytesToHex(slot));
 * const answer = await node.l1.request({ method: 'eth_getProof', params: [rollup.address, slots, block.number] });
 * const state = verifyClaimState({ ...question, rollup, l1StateRoot: hexToBytes(block.stateRoot) }, answer);
 * // No tree has this root.
 * state.verified && state.depth; // => 0n
 * await node.close();
 * ```
 */
export function verifyClaimState(
  request: ClaimQuestion & { readonly l1StateRoot: Uint8Array; readonly rollup: RollupContract },
  answer: unknown,
): ClaimStateVerdict {
  const { l1StateRoot: stateRoot, rollup, nonce } = request;
  const storageKeys = messageSlots(rollup, request);
  const proof = verifyEthereumProof({ address: hexToBytes(rollup.address, 20), storageKeys, stateRoot }, answer);
  if (!proof.verified) return proof;
  if (proof.account === undefined) {
    const message = 'there is no account at the address of the rollup contract';
    return { verified: false, reason: 'CONTRACT_MISSING', at: 'accountProof', message };
  }
  const [limit, periodEnd, used, pauseBits, depth, claimed] = proof.slots.map(({ value }) => bytesToBigInt(value));
  return {
    verified: true,
    depth: depth!,
    isClaimed: ((claimed! >> (nonce & 255n)) & 1n) === 1n,
    pauseBits: pauseBits!,
    rateLimit: { limit: limit!, periodEnd: periodEnd!, used: used! },
    balance: proof.account.balance,
  };
}

/** The arguments of a claim. */
export interface MessageClaim extends Omit<MessageProofRequest, 'depth'> {
  /** Who gets the fee, 20 bytes. Default: the sender of the claim. It is not part of the message's hash: whoever claims sets it. */
  readonly feeRecipient?: Uint8Array;
}

/** The error with which the contract refuses a claim, by its name there. `Panic`: fee and value together are above 2^256 - 1. */
export type ClaimRefusal =
  | 'IsPaused'
  | 'L2MerkleRootDoesNotExist'
  | 'ProofLengthDifferentThanMerkleDepth'
  | 'MessageAlreadyClaimed'
  | 'Panic'
  | 'RateLimitExceeded'
  | 'SafeCastOverflowedUintDowncast'
  | 'LeafIndexOutOfBounds'
  | 'InvalidMerkleProof'
  /** The contract has less ether than fee and value. */
  | 'MessageSendingFailed';

/**
 * The error with which the contract refuses a claim because of its slots or its balance, in the order of its checks. The recipient may
 * still refuse the call. So a claim without a refusal may still fail: only its execution shows that.
 *
 * @param timestamp - of the block in which the claim runs, seconds
 * @returns undefined if the slots allow the claim
 * @source docs/spec/messages.md 5, 6
 *
 * @example
 * ```ts
 * import { claimRefusal } from 'plumbline-l2/verify';
 *
 * const account = new Uint8Array(20);
 * const message = { from: account, to: account, fee: 0n, value: 1n, nonce: 1n, data: new Uint8Array() };
 * const claim = { message, siblings: [], leafIndex: 0, root: new Uint8Array(32) };
 * const rateLimit = { limit: 10n, periodEnd: 0n, used: 0n };
 * const state = { depth: 0n, isClaimed: false, pauseBits: 0n, rateLimit, balance: 10n };
 * claimRefusal(claim, state, 1n); // => 'L2MerkleRootDoesNotExist'
 * ```
 */
export function claimRefusal(
  { message, siblings, leafIndex, root }: MessageClaim,
  { depth, isClaimed, pauseBits, rateLimit, balance }: ClaimState,
  timestamp: bigint,
): ClaimRefusal | undefined {
  if (PAUSES.some((bit) => ((pauseBits >> bit) & 1n) === 1n)) return 'IsPaused';
  if (depth === 0n) return 'L2MerkleRootDoesNotExist';
  if (BigInt(siblings.length) !== depth) return 'ProofLengthDifferentThanMerkleDepth';
  if (isClaimed) return 'MessageAlreadyClaimed';
  const amount = message.fee + message.value;
  if (amount >= LIMIT) return 'Panic';
  const used = rateLimit.periodEnd < timestamp ? 0n : rateLimit.used;
  if (amount > 0n && used + amount > rateLimit.limit) return 'RateLimitExceeded';
  if (siblings.length > MOST_SIBLINGS) return 'SafeCastOverflowedUintDowncast';
  if (!isIndexOf(leafIndex, siblings.length)) return 'LeafIndexOutOfBounds';
  if (!equalBytes(rootOf(hashMessage(message), siblings, leafIndex), root)) return 'InvalidMerkleProof';
  return balance < amount ? 'MessageSendingFailed' : undefined;
}

/**
 * Calldata of `claimMessageWithProof` of the rollup contract. The transaction must have no value.
 *
 * @throws PlumblineError `OUT_OF_RANGE` for a leaf index above 2^32 - 1, `INVALID_LENGTH`
 * @source docs/spec/messages.md 6
 *
 * @example
 * ```ts
 * import { bytesToHex, claimCalldata } from 'plumbline-l2/verify';
 *
 * const account = new Uint8Array(20);
 * const message = { from: account, to: account, fee: 0n, value: 1n, nonce: 1n, data: new Uint8Array() };
 * const claim = { message, siblings: [], leafIndex: 0, root: new Uint8Array(32) };
 * bytesToHex(claimCalldata(claim).subarray(0, 4)); // => '0x6463fb2a'
 * ```
 */
export function claimCalldata({
  message,
  siblings,
  leafIndex,
  root,
  feeRecipient = ZERO_ADDRESS,
}: MessageClaim): Uint8Array {
  if (!Number.isInteger(leafIndex) || leafIndex < 0 || leafIndex >= 2 ** 32) {
    const [what, limit] = ['leafIndex', 'an integer from 0 to 2^32 - 1'];
    throw new PlumblineError('OUT_OF_RANGE', `${what} must be ${limit}`, { what, value: `${leafIndex}`, limit });
  }
  const { from, to, fee, value, nonce, data } = message;
  for (const [name, address] of Object.entries({ from, to, feeRecipient })) requireLength(name, address, 20);
  requireLength('root', root, 32);
  const members = 10n * 32n;
  const proof = concatBytes(abiWord(BigInt(siblings.length)), ...siblings);
  return concatBytes(
    CLAIM_SELECTOR,
    abiWord(32n),
    abiWord(members),
    abiWord(nonce),
    abiWord(BigInt(leafIndex)),
    abiAddress(from),
    abiAddress(to),
    abiWord(fee),
    abiWord(value),
    abiAddress(feeRecipient),
    root,
    abiWord(members + BigInt(proof.length)),
    proof,
    abiBytes(data),
  );
}

/** Slot of `inboxL1L2MessageStatus` of the message service on the rollup. @source docs/spec/messages.md 4 */
const INBOX_SLOT = 176n;

/**
 * Slot of the message service on the rollup with the status of a message from layer 1, 32 bytes. Its value is 0 before the message has
 * arrived, 1 if the message can be claimed there, and 2 if it was claimed. `linea_getProof` of the profile's `messageService` proves
 * it.
 *
 * @param hash - of the message, 32 bytes
 * @throws PlumblineError `INVALID_LENGTH`
 * @source docs/spec/messages.md 4, 7
 *
 * @example
 * ```ts
 * import { bytesToHex, inboxSlot } from 'plumbline-l2/verify';
 *
 * bytesToHex(inboxSlot(new Uint8Array(32))).length; // => 66
 * ```
 */
export function inboxSlot(hash: Uint8Array): Uint8Array {
  requireLength('hash', hash, 32);
  return mappingSlot(hash, INBOX_SLOT);
}

/** `claimMessage(address,address,uint256,uint256,address,bytes,uint256)`. @source docs/spec/messages.md 7 */
const INBOX_CLAIM_SELECTOR = hexToBytes('0x491e0936');

/**
 * Calldata of a claim that needs no proof: of a message from layer 1 on the rollup's message service, or of an old message on layer 1.
 *
 * @throws PlumblineError as `hashMessage`
 *
 * @example
 * ```ts
 * import { bytesToHex, inboxClaimCalldata } from 'plumbline-l2/verify';
 *
 * const account = new Uint8Array(20);
 * const message = { from: account, to: account, fee: 0n, value: 1n, nonce: 1n, data: new Uint8Array() };
 * bytesToHex(inboxClaimCalldata({ message })).slice(0, 10); // => '0x491e0936'
 * ```
 */
export function inboxClaimCalldata({
  message,
  feeRecipient,
}: Pick<MessageClaim, 'message' | 'feeRecipient'>): Uint8Array {
  const { from, to, fee, value, nonce, data } = message;
  for (const [name, address] of Object.entries({ from, to })) requireLength(name, address, 20);
  return concatBytes(
    INBOX_CLAIM_SELECTOR,
    ...[abiAddress(from), abiAddress(to), abiWord(fee), abiWord(value), abiAddress(feeRecipient ?? ZERO_ADDRESS)],
    ...[abiWord(7n * 32n), abiWord(nonce), abiBytes(data)],
  );
}

/**
 * The rolling hash after a message from layer 1, 32 bytes. Before the first message it is zero.
 *
 * @source docs/spec/messages.md 7
 *
 * @example
 * ```ts
 * import { bytesToHex, rollingHash } from 'plumbline-l2/verify';
 *
 * const none = new Uint8Array(32);
 * bytesToHex(rollingHash(none, none)); // => '0xad3228b676f7d3cd4284a5443f17f1962b36e491b30a40b2405849e597ba5fb5'
 * ```
 */
export function rollingHash(previous: Uint8Array, hash: Uint8Array): Uint8Array {
  return keccak256(concatBytes(previous, hash));
}
