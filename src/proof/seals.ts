/**
 * Who sealed a header (docs/spec/json-rpc.md 5.2, 5.3). Up to Paris a Clique signer did, in the extra data. Since then Maru does: its
 * beacon blocks hold an execution block, and validators sign those. `verifyMaruAnswers` checks a beacon block with its seals,
 * `verifyMaruPayload` that an execution header is the one in it.
 *
 * Loaded when a chain needs seals. `loadSignerRecovery()` has to end before a check.
 */

import { RLP } from '@ethereumjs/rlp';
import { invalidParameter } from '../errors.js';
import { type BlockHeader, headerHash } from '../ethereum/header.js';
import { orderedTrieRoot } from '../ethereum/ordered-trie.js';
import { signerOf } from '../ethereum/signer.js';
import { keccak256 } from '../kernel/keccak.js';
import type { CliqueSealing } from '../networks/network.js';
import {
  bigIntToBytes,
  bigIntToMinimalBytes,
  bytesToKey,
  compareBytes,
  concatBytes,
  equalBytes,
  requireLength,
} from '../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import type { HashedHeader } from './headers.js';
import { malformed, member, readArray, readBytes, readObject } from './json-reader.js';
import { judge, type ProofFailure, Refusal } from './verdict.js';

export { loadSignerRecovery } from '../ethereum/signer.js';

/** Why a Clique seal is refused. */
type CliqueFailureReason =
  /** Genesis, which has no seal, or a block after the last Clique block. */
  | 'NOT_OF_CLIQUE'
  /** The extra data does not consist of 32 bytes, the signers at an epoch block, and a seal. */
  | 'SEAL_LENGTH'
  /** The seal is not a valid signature. */
  | 'SEAL_INVALID'
  /** The seal is not by an authorized signer. */
  | 'SEAL_BY_STRANGER';

/** A verified Clique seal. */
interface VerifiedSeal {
  readonly verified: true;
  /** Address of the signer, 20 bytes. */
  readonly signer: Uint8Array;
}

/** The signer, or why the seal is refused. */
type CliqueVerdict = VerifiedSeal | ProofFailure<CliqueFailureReason>;

const VANITY_BYTES = 32;
const ADDRESS_BYTES = 20;

/** The digest that a Clique seal signs, 32 bytes: the hash of the header without the seal. */
export function cliqueSealDigest(header: BlockHeader): Uint8Array {
  return headerHash({ ...header, extraData: header.extraData.subarray(0, -SIGNATURE_BYTES) });
}

/**
 * Verifies that one of the network's signers sealed a header.
 *
 * @param sealing - `sealing.clique` of the network's profile
 * @source docs/spec/json-rpc.md 5.2; EIP-225
 */
export function verifyCliqueSeal(sealing: CliqueSealing, header: BlockHeader): CliqueVerdict {
  const { number, extraData } = header;
  return judge(() => {
    if (number < 1 || number > sealing.lastBlock) {
      throw new Refusal('NOT_OF_CLIQUE', 'number', `is ${number}, Clique sealed blocks 1 to ${sealing.lastBlock}`);
    }
    const between = extraData.length - VANITY_BYTES - SIGNATURE_BYTES;
    const fits = number % sealing.epochLength === 0 ? between > 0 && between % ADDRESS_BYTES === 0 : between === 0;
    if (!fits) throw new Refusal('SEAL_LENGTH', 'extraData', `has ${extraData.length} bytes`);
    const signer = recoverSigner(cliqueSealDigest(header), extraData.subarray(-SIGNATURE_BYTES));
    if (signer === undefined) throw new Refusal('SEAL_INVALID', 'extraData', 'does not end with a valid signature');
    if (!sealing.signers.some((allowed) => equalBytes(hexToBytes(allowed, ADDRESS_BYTES), signer))) {
      throw new Refusal(
        'SEAL_BY_STRANGER',
        'extraData',
        `is sealed by ${bytesToHex(signer)}, which is not an authorized signer`,
      );
    }
    return { verified: true, signer };
  });
}

/** Why a beacon block is refused. */
type MaruFailureReason =
  /** The block answer and the header answer are of different blocks. */
  | 'ANSWERS_DIFFER'
  /** The body does not match the header. */
  | 'BODY_ROOT_MISMATCH'
  /** The header was made with another set of validators, or was changed. */
  | 'STATE_ROOT_MISMATCH'
  /** A seal is not a valid signature. */
  | 'SEAL_INVALID'
  /** A seal is not by a validator. */
  | 'SEAL_BY_STRANGER'
  /** Too few validators sealed. */
  | 'QUORUM_SHORT';

/** A beacon block that enough validators sealed. */
export interface VerifiedMaruBlock {
  readonly verified: true;
  readonly block: SealedMaruBlock;
  /** Hash of the beacon header, 32 bytes. */
  readonly hash: Uint8Array;
  /** Addresses of the signers, each once, 20 bytes. */
  readonly signers: readonly Uint8Array[];
  /** Number of validators that must seal. */
  readonly quorum: number;
}

/** A beacon block that enough validators sealed, or why it is refused. */
export type MaruVerdict = VerifiedMaruBlock | ProofFailure<MaruFailureReason>;

/** Number of validators that must seal a block: two thirds, rounded up. */
export function maruQuorum(validators: number): number {
  return Math.ceil((2 * validators) / 3);
}

/** @throws PlumblineError `INVALID_LENGTH`; `INVALID_PARAMETER` for an empty set, or a duplicate */
function checkValidators(validators: readonly Uint8Array[]): void {
  for (const validator of validators) requireLength('validator', validator, 20);
  if (validators.length > 0 && new Set(validators.map(bytesToKey)).size === validators.length) return;
  throw invalidParameter(
    'validators',
    validators.length === 0 ? 'must have at least one member' : 'must name each member once',
  );
}

/** The signers of these seals of `hash`, each once. Throws a `Refusal` unless all are validators, and a quorum. */
function requireSeals(
  validators: readonly Uint8Array[],
  hash: Uint8Array,
  seals: readonly Uint8Array[],
  at: string,
): Uint8Array[] {
  const signers = new Map<string, Uint8Array>();
  const seen = new Set<string>();
  for (const [i, seal] of seals.entries()) {
    // Duplicate seals are skipped: recovering a signer takes about a millisecond, and the list may be long.
    const key = bytesToKey(seal);
    if (seen.has(key)) continue;
    seen.add(key);
    const signer = recoverSigner(hash, seal);
    if (signer === undefined) throw new Refusal('SEAL_INVALID', `${at}[${i}]`, 'is not a valid signature');
    if (!validators.some((validator) => equalBytes(validator, signer))) {
      throw new Refusal('SEAL_BY_STRANGER', `${at}[${i}]`, `is by ${bytesToHex(signer)}, which is not a validator`);
    }
    signers.set(bytesToKey(signer), signer);
  }
  const quorum = maruQuorum(validators.length);
  if (signers.size < quorum) {
    throw new Refusal('QUORUM_SHORT', at, `${signers.size} of ${validators.length} validators sealed, ${quorum} must`);
  }
  return [...signers.values()];
}

function requireSealed(block: SealedMaruBlock, validators: readonly Uint8Array[]): VerifiedMaruBlock {
  const { header } = block;
  if (!equalBytes(maruBodyRoot(block), header.bodyRoot)) {
    throw new Refusal('BODY_ROOT_MISMATCH', 'header.bodyRoot', 'is not the hash of the body');
  }
  if (!equalBytes(maruStateRoot(header, validators), header.stateRoot)) {
    throw new Refusal('STATE_ROOT_MISMATCH', 'header.stateRoot', 'does not match this header with these validators');
  }
  const hash = maruHeaderHash(header);
  const signers = requireSeals(validators, hash, block.commitSeals, 'commitSeals');
  return { verified: true, block, hash, signers, quorum: maruQuorum(validators.length) };
}

/**
 * Verifies a Maru beacon block: its body, its state root with the expected validators, and the seals of its header. Use
 * `verifyMaruPayload` for its execution block.
 *
 * @param validators - addresses of 20 bytes, in any order, at least one
 * @throws PlumblineError `INVALID_LENGTH` or `INVALID_PARAMETER` for a bad set of validators
 * @source docs/spec/json-rpc.md 5.3, steps 1 to 5
 */
export function verifyMaruBlock(block: SealedMaruBlock, validators: readonly Uint8Array[]): MaruVerdict {
  checkValidators(validators);
  return judge(() => requireSealed(block, validators));
}

/**
 * As `verifyMaruBlock`, from the two answers of Maru's REST interface.
 *
 * @param blockAnswer - body of `GET /eth/v2/beacon/blocks/{id}`, parsed
 * @param headerAnswer - body of `GET /eth/v1/beacon/headers/{id}`, parsed
 * @throws PlumblineError as `verifyMaruBlock`, and `PROOF_MALFORMED`
 */
export function verifyMaruAnswers(
  blockAnswer: unknown,
  headerAnswer: unknown,
  validators: readonly Uint8Array[],
): MaruVerdict {
  checkValidators(validators);
  return judge(() => verifyMaruBlock(readMaruBlock(blockAnswer, headerAnswer), validators));
}

/** Why an execution header is not the one that was sealed. */
type MaruPayloadFailureReason =
  /** It is the header of another execution block. */
  | 'OTHER_BLOCK'
  /** Payload and header have the same hash but differ in a field: the validators sealed an invalid payload. */
  | 'FIELD_MISMATCH'
  /** The transactions of the payload do not match the header. */
  | 'TRANSACTIONS_ROOT_MISMATCH';

/** Whether an execution header is the one that was sealed. */
type MaruPayloadVerdict = { readonly verified: true } | ProofFailure<MaruPayloadFailureReason>;

/**
 * Verifies that an execution header is the one in a sealed beacon block, and that all fields of the payload match it,
 * transactions included.
 *
 * @param payload - of a block that `verifyMaruBlock` verified
 * @param execution - a header with its hash, as `verifyHeader` returns it
 * @source docs/spec/json-rpc.md 5.3, step 6
 */
export function verifyMaruPayload(payload: MaruPayload, { header, hash }: HashedHeader): MaruPayloadVerdict {
  return judge(() => {
    if (!equalBytes(payload.blockHash, hash)) {
      throw new Refusal('OTHER_BLOCK', 'payload.blockHash', 'is not the hash of the header');
    }
    const same: Partial<Record<keyof MaruPayload, boolean>> = {
      parentHash: equalBytes(payload.parentHash, header.parentHash),
      feeRecipient: equalBytes(payload.feeRecipient, header.miner),
      stateRoot: equalBytes(payload.stateRoot, header.stateRoot),
      receiptsRoot: equalBytes(payload.receiptsRoot, header.receiptsRoot),
      logsBloom: equalBytes(payload.logsBloom, header.logsBloom),
      prevRandao: equalBytes(payload.prevRandao, header.mixHash),
      blockNumber: payload.blockNumber === header.number,
      gasLimit: payload.gasLimit === header.gasLimit,
      gasUsed: payload.gasUsed === header.gasUsed,
      timestamp: payload.timestamp === header.timestamp,
      extraData: equalBytes(payload.extraData, header.extraData),
      baseFeePerGas: payload.baseFeePerGas === header.baseFeePerGas,
    };
    for (const [name, fine] of Object.entries(same)) {
      if (!fine) throw new Refusal('FIELD_MISMATCH', `payload.${name}`, 'differs from the header');
    }
    if (!equalBytes(orderedTrieRoot(payload.transactions), header.transactionsRoot)) {
      throw new Refusal('TRANSACTIONS_ROOT_MISMATCH', 'payload.transactions', 'do not have the root of the header');
    }
    return { verified: true };
  });
}

/** Header of a Maru beacon block. Roots have 32 bytes. */
interface MaruHeader {
  readonly number: number;
  /** Below 2^32. */
  readonly round: number;
  /** Seconds. */
  readonly timestamp: number;
  /** 20 bytes. */
  readonly proposer: Uint8Array;
  /** Hash of the parent header. */
  readonly parentRoot: Uint8Array;
  readonly stateRoot: Uint8Array;
  readonly bodyRoot: Uint8Array;
}

/** The execution block in a beacon block. Hashes have 32 bytes. */
export interface MaruPayload {
  readonly parentHash: Uint8Array;
  /** 20 bytes. */
  readonly feeRecipient: Uint8Array;
  readonly stateRoot: Uint8Array;
  readonly receiptsRoot: Uint8Array;
  /** 256 bytes. */
  readonly logsBloom: Uint8Array;
  readonly prevRandao: Uint8Array;
  readonly blockNumber: number;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly timestamp: number;
  readonly extraData: Uint8Array;
  readonly baseFeePerGas: bigint;
  readonly blockHash: Uint8Array;
  /** Raw transactions. */
  readonly transactions: readonly Uint8Array[];
}

/** A beacon block with its seals, 65 bytes each: r, s, recovery id. */
export interface SealedMaruBlock {
  readonly header: MaruHeader;
  /** Seals of the parent block, contained in the body. */
  readonly parentSeals: readonly Uint8Array[];
  readonly payload: MaruPayload;
  /** Seals of this block. */
  readonly commitSeals: readonly Uint8Array[];
}

/** `u64` in Maru's encodings: 8 bytes, big-endian. */
function u64(value: number | bigint): Uint8Array {
  return bigIntToBytes(BigInt(value), 8);
}

/** Shortest two's complement of a number of at least zero: with a zero byte before a set high bit; zero is one byte. */
function signed(value: bigint): Uint8Array {
  const bytes = bigIntToMinimalBytes(value);
  return bytes.length === 0 || bytes[0]! >= 0x80 ? concatBytes(Uint8Array.of(0), bytes) : bytes;
}

function headerItems(header: MaruHeader, stateRoot: Uint8Array) {
  const { number, round, timestamp, proposer, parentRoot, bodyRoot } = header;
  const round32 = bigIntToBytes(BigInt(round), 4);
  return [u64(number), round32, u64(timestamp), [proposer], parentRoot, stateRoot, bodyRoot];
}

/** Hash of a header, 32 bytes. Commit seals sign it, and the next block has it as its parent root. */
export function maruHeaderHash(header: MaruHeader): Uint8Array {
  return keccak256(RLP.encode(headerItems(header, header.stateRoot)));
}

/** `bodyRoot` of a header, 32 bytes. */
export function maruBodyRoot({
  parentSeals,
  payload: p,
}: Pick<SealedMaruBlock, 'parentSeals' | 'payload'>): Uint8Array {
  const payload = [
    p.parentHash,
    p.feeRecipient,
    p.stateRoot,
    p.receiptsRoot,
    p.logsBloom,
    p.prevRandao,
    u64(p.blockNumber),
    u64(p.gasLimit),
    u64(p.gasUsed),
    u64(p.timestamp),
    p.extraData,
    signed(p.baseFeePerGas),
    p.blockHash,
    [...p.transactions],
  ];
  return keccak256(RLP.encode([parentSeals.map((seal) => [seal]), payload]));
}

/**
 * `stateRoot` of a header with a set of validators, 32 bytes.
 *
 * @param validators - addresses of 20 bytes, in any order
 */
export function maruStateRoot(header: MaruHeader, validators: readonly Uint8Array[]): Uint8Array {
  const sorted = [...validators].sort(compareBytes);
  const items = [headerItems(header, new Uint8Array(32)), sorted.map((validator) => [validator])];
  return keccak256(RLP.encode(items));
}

const MESSAGE = 'data.message';

/** Reads an integer of the REST interface: a decimal string without leading zeros. @throws PlumblineError `PROOF_MALFORMED` */
function readDecimal(value: unknown, at: string): bigint {
  if (typeof value !== 'string' || !/^(0|[1-9][0-9]{0,77})$/.test(value))
    throw malformed(at, 'is not a decimal integer');
  return BigInt(value);
}

function readUnsigned(value: unknown, at: string, bits: number): bigint {
  const number = readDecimal(value, at);
  if (number >> BigInt(bits) !== 0n) throw malformed(at, `is not below 2^${bits}`);
  return number;
}

function readCount(value: unknown, at: string): number {
  const number = Number(readDecimal(value, at));
  if (!Number.isSafeInteger(number)) throw malformed(at, 'is above 2^53 - 1');
  return number;
}

function messageOf(answer: unknown) {
  return readObject(readObject(readObject(answer, '').data, 'data').message, MESSAGE);
}

function slotOf(message: Readonly<Record<string, unknown>>): number {
  return readCount(message.slot, `${MESSAGE}.slot`);
}

/** Number of the beacon block in an answer of Maru. @throws PlumblineError `PROOF_MALFORMED` */
export function maruSlot(answer: unknown): number {
  return slotOf(messageOf(answer));
}

function readHeader(message: Readonly<Record<string, unknown>>): MaruHeader {
  const root = (name: string) => readBytes(message[name], member(MESSAGE, name), 32);
  return {
    number: slotOf(message),
    round: Number(readUnsigned(message.round, `${MESSAGE}.round`, 32)),
    timestamp: readCount(message.timestamp, `${MESSAGE}.timestamp`),
    proposer: readBytes(message.proposer_index, `${MESSAGE}.proposer_index`, 20),
    parentRoot: root('parent_root'),
    stateRoot: root('state_root'),
    bodyRoot: root('body_root'),
  };
}

/** `execution_payload`. @throws PlumblineError `PROOF_MALFORMED` */
function readPayload(json: unknown, at: string): MaruPayload {
  const payload = readObject(json, at);
  const bytes = (name: string, ...lengths: number[]) => readBytes(payload[name], member(at, name), ...lengths);
  const gas = (name: string) => readUnsigned(payload[name], member(at, name), 64);
  const transactions = member(at, 'transactions');
  return {
    parentHash: bytes('parent_hash', 32),
    feeRecipient: bytes('fee_recipient', 20),
    stateRoot: bytes('state_root', 32),
    receiptsRoot: bytes('receipts_root', 32),
    logsBloom: bytes('logs_bloom', 256),
    prevRandao: bytes('prev_randao', 32),
    blockNumber: readCount(payload.block_number, member(at, 'block_number')),
    gasLimit: gas('gas_limit'),
    gasUsed: gas('gas_used'),
    timestamp: readCount(payload.timestamp, member(at, 'timestamp')),
    extraData: bytes('extra_data'),
    baseFeePerGas: readUnsigned(payload.base_fee_per_gas, member(at, 'base_fee_per_gas'), 256),
    blockHash: bytes('block_hash', 32),
    transactions: readArray(payload.transactions, transactions).map((raw, i) =>
      readBytes(raw, `${transactions}[${i}]`),
    ),
  };
}

/** Splits the attestations: those with the slot of the block are its own seals, those of the slot before are its parent's. */
function readSeals(json: unknown, at: string, slot: number) {
  const [commitSeals, parentSeals]: Uint8Array[][] = [[], []];
  for (const [i, entry] of readArray(json, at).entries()) {
    const place = `${at}[${i}]`;
    const attestation = readObject(entry, place);
    const data = readObject(attestation.data, `${place}.data`);
    const of = readCount(data.slot, `${place}.data.slot`);
    if (of !== slot && of !== slot - 1)
      throw malformed(`${place}.data.slot`, 'is neither the slot of the block nor that of its parent');
    const seal = readBytes(attestation.signature, `${place}.signature`, SIGNATURE_BYTES);
    (of === slot ? commitSeals! : parentSeals!).push(seal);
  }
  return { commitSeals: commitSeals!, parentSeals: parentSeals! };
}

/**
 * Reads a sealed block from two answers of Maru's REST interface. Other members of beacon blocks are ignored.
 *
 * @param blockAnswer - body of `GET /eth/v2/beacon/blocks/{id}`, parsed
 * @param headerAnswer - body of `GET /eth/v1/beacon/headers/{id}`, parsed
 * @throws PlumblineError `PROOF_MALFORMED`; a `Refusal` if the two are of different blocks
 * @source docs/spec/json-rpc.md 5.3
 */
function readMaruBlock(blockAnswer: unknown, headerAnswer: unknown): SealedMaruBlock {
  const header = readHeader(messageOf(headerAnswer));
  const message = messageOf(blockAnswer);
  const root = (name: string) => readBytes(message[name], member(MESSAGE, name), 32);
  const same = {
    slot: slotOf(message) === header.number,
    proposer_index: equalBytes(readBytes(message.proposer_index, `${MESSAGE}.proposer_index`, 20), header.proposer),
    parent_root: equalBytes(root('parent_root'), header.parentRoot),
    state_root: equalBytes(root('state_root'), header.stateRoot),
  };
  for (const [name, fine] of Object.entries(same)) {
    if (!fine) throw new Refusal('ANSWERS_DIFFER', member(MESSAGE, name), 'differs from that in the header answer');
  }
  const body = readObject(message.body, `${MESSAGE}.body`);
  return {
    header,
    payload: readPayload(body.execution_payload, `${MESSAGE}.body.execution_payload`),
    ...readSeals(body.attestations, `${MESSAGE}.body.attestations`, header.number),
  };
}

/** Bytes of a signature over secp256k1: r, s, and the parity of y. */
const SIGNATURE_BYTES = 65;

/**
 * Address, 20 bytes, of the signer. `s` may be in either half of its range: this is for seals, which are not identified by
 * their bytes.
 *
 * @param digest - the signed 32 bytes; they are not hashed again
 * @param signature - `r | s | v`, 65 bytes, v 0 or 1
 * @returns undefined if the signature is not valid
 * @throws PlumblineError `KERNEL_UNAVAILABLE` before `loadSignerRecovery()` has ended
 */
export function recoverSigner(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  const parity = signature[64];
  if (signature.length !== SIGNATURE_BYTES || (parity !== 0 && parity !== 1)) return undefined;
  return signerOf(digest, signature.subarray(0, 32), signature.subarray(32, 64), parity);
}
