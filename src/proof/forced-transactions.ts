/**
 * Forced transactions: what anyone may send to layer 1 so that a rollup must process it (release 8.0 and later). A gateway checks the
 * transaction and gives it a deadline, the rollup contract keeps a rolling hash, and no finalization that ends at or above a deadline passes
 * without it. Rules: docs/spec/messages.md 8.
 */

import { RLP } from '@ethereumjs/rlp';
import { invalidParameter, messageOf, PlumblineError, rejected } from '../errors.js';
import { abiAddress, abiBytes, abiWord, mappingSlot } from '../ethereum/abi.js';
import { decodeFields, encodeToSign, type Item, type TransactionFields } from '../ethereum/encode-transaction.js';
import { loadSignerRecovery } from '../ethereum/signer.js';
import { parseSignedTransaction } from '../ethereum/transaction.js';
import type { Hasher } from '../kernel/contracts.js';
import { keccak256 } from '../kernel/keccak.js';
import type { RollupContract } from '../networks/network.js';
import { bytesToBigInt, concatBytes, equalBytes, requireLength, ZERO_ADDRESS } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';
import { type EthereumProofFailureReason, verifyEthereumProof } from './ethereum-proof.js';
import type { ProofFailure } from './verdict.js';

/** Slots of the rollup contract, since 8.0. @source docs/spec/messages.md 4 */
const FINALIZED_STATE = 447n;
const NEXT_NUMBER = 450n;
const DEADLINES = 451n;
const ROLLING_HASHES = 452n;
const FEE = 453n;
const DYNAMIC_FEES = 2;
const LEAST_GAS = 21_000n;
const SUBMIT_SELECTOR = hexToBytes('0x8b98c2c8');
/** Half a year of 365 days. */
const LIVENESS_SECONDS = 15_768_000n;

/** The state at the end of a finalization, as the gateway wants it. The rollup contract stores only its hash. */
export interface LastFinalizedState {
  /** Timestamp of the last finalized block, in seconds. */
  readonly timestamp: bigint;
  /** Number of the last message from layer 1 that layer 2 has anchored. */
  readonly messageNumber: bigint;
  /** 32 bytes. */
  readonly messageRollingHash: Uint8Array;
  /** Number of the last forced transaction that was processed. */
  readonly forcedTransactionNumber: bigint;
  /** 32 bytes. */
  readonly forcedTransactionRollingHash: Uint8Array;
}

/** The five members in the order of the contract's hash, the timestamp last. */
function stateWords(state: LastFinalizedState): Uint8Array[] {
  const { timestamp, messageNumber, messageRollingHash, forcedTransactionNumber, forcedTransactionRollingHash } = state;
  requireLength('messageRollingHash', messageRollingHash, 32);
  requireLength('forcedTransactionRollingHash', forcedTransactionRollingHash, 32);
  return [
    abiWord(messageNumber),
    messageRollingHash,
    abiWord(forcedTransactionNumber),
    forcedTransactionRollingHash,
    abiWord(timestamp),
  ];
}

/**
 * The hash that the rollup contract stores for a finalized state (slot 447), 32 bytes.
 *
 * @throws PlumblineError `INVALID_LENGTH` for a rolling hash, `OUT_OF_RANGE` for a number above 2^256 - 1
 * @source docs/spec/messages.md 8
 *
 * @example
 * ```ts
 * import { bytesToHex, finalizedStateHash } from 'plumbline-l2/verify';
 *
 * const none = new Uint8Array(32);
 * const hash = finalizedStateHash({
 *   timestamp: 1_779_997_504n,
 *   messageNumber: 0n,
 *   messageRollingHash: none,
 *   forcedTransactionNumber: 0n,
 *   forcedTransactionRollingHash: none,
 * });
 * bytesToHex(hash); // => '0x100d2219ffa477972ab1b84ae0e98c94ea8b10239137b2b1a44e3f59406c9467'
 * ```
 */
export function finalizedStateHash(state: LastFinalizedState): Uint8Array {
  return keccak256(concatBytes(...stateWords(state)));
}

/**
 * Slots to request from `eth_getProof` of the rollup contract, in this order, 32 bytes each: finalized state, number of the next forced
 * transaction, fee, and for each of `numbers` its deadline and its rolling hash.
 *
 * @param numbers - of forced transactions
 * @throws PlumblineError `OUT_OF_RANGE` for a number above 2^256 - 1
 * @source docs/spec/messages.md 4
 *
 * @example
 * ```ts
 * import { bytesToHex, forcedTransactionSlots } from 'plumbline-l2/verify';
 *
 * const [, , , deadline] = forcedTransactionSlots([1n]);
 * bytesToHex(deadline); // => '0x70286ded98982981f8cdc80cf39bac8189d32db5435f2609559d145231ef1516'
 * ```
 */
export function forcedTransactionSlots(numbers: readonly bigint[] = []): Uint8Array[] {
  const entries = numbers.flatMap((number) =>
    [DEADLINES, ROLLING_HASHES].map((mapping) => mappingSlot(abiWord(number), mapping)),
  );
  return [...[FINALIZED_STATE, NEXT_NUMBER, FEE].map(abiWord), ...entries];
}

/** What the rollup contract stores of one forced transaction. */
export interface StoredForcedTransaction {
  readonly number: bigint;
  /**
   * A finalization that ends at this layer-2 block or above must have processed the transaction. 0: there is no transaction with this
   * number.
   */
  readonly deadline: bigint;
  /** After it, 32 bytes. */
  readonly rollingHash: Uint8Array;
}

/** What the rollup contract stores at one layer-1 block about forced transactions. */
export interface VerifiedFinalizedState {
  readonly verified: true;
  /** Of the next forced transaction; the first one is 1. */
  readonly nextNumber: bigint;
  /** The exact price of one forced transaction at the gateway, in wei. */
  readonly fee: bigint;
  /** In the order of the request. */
  readonly transactions: readonly StoredForcedTransaction[];
}

/** Why an answer does not prove a finalized state. */
export type FinalizedStateFailureReason =
  | EthereumProofFailureReason
  /** There is no account at the contract's address. */
  | 'CONTRACT_MISSING'
  /** The contract stores the hash of another state. */
  | 'STATE_MISMATCH';

/** What the contract stores about forced transactions, or why the answer does not prove it. */
export type FinalizedStateVerdict = VerifiedFinalizedState | ProofFailure<FinalizedStateFailureReason>;

/**
 * Verifies that a finalized state is the one that the rollup contract stores. The gateway needs this state with each forced
 * transaction. Its members may come from anyone. Before its first finalization with release 8.0, a contract stores a hash of three
 * members, which no state here can have. Until then, the gateway refuses all transactions.
 *
 * @param request - `l1StateRoot`: of a layer-1 block that the caller trusts, 32 bytes; `numbers`: of forced transactions to read as well
 * @param answer - `eth_getProof` of the contract with the slots of `forcedTransactionSlots(numbers)`, in that order
 * @throws PlumblineError `PROOF_MALFORMED`; as `finalizedStateHash`
 * @source docs/spec/messages.md 8
 *
 * @example
 * ```ts
 * import { devnet } from 'plumbline-l2/fees';
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { bytesToHex, forcedTransactionSlots, hexToBytes, verifyFinalizedState } from 'plumbline-l2/verify';
 *
 * const node = await createInlineNode();
 * const { rollup } = devnet();
 * const block = (await node.l1.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }))!;
 * const slots = forcedTransactionSlots().map((slot) => bytesToHex(slot));
 * const answer = await node.l1.request({ method: 'eth_getProof', params: [rollup.address, slots, block.number] });
 * const none = new Uint8Array(32);
 * const lastFinalizedState = {
 *   timestamp: 0n,
 *   messageNumber: 0n,
 *   messageRollingHash: none,
 *   forcedTransactionNumber: 0n,
 *   forcedTransactionRollingHash: none,
 * };
 * // The rollup contract of a devnet stores no finalized state.
 * const request = { l1StateRoot: hexToBytes(block.stateRoot), rollup, lastFinalizedState };
 * const verdict = verifyFinalizedState(request, answer);
 * verdict.verified || verdict.reason; // => 'STATE_MISMATCH'
 * await node.close();
 * ```
 */
export function verifyFinalizedState(
  request: {
    readonly l1StateRoot: Uint8Array;
    readonly rollup: RollupContract;
    readonly lastFinalizedState: LastFinalizedState;
    readonly numbers?: readonly bigint[];
  },
  answer: unknown,
): FinalizedStateVerdict {
  const { l1StateRoot: stateRoot, rollup, lastFinalizedState, numbers = [] } = request;
  const hash = finalizedStateHash(lastFinalizedState);
  const storageKeys = forcedTransactionSlots(numbers);
  const proof = verifyEthereumProof({ address: hexToBytes(rollup.address, 20), storageKeys, stateRoot }, answer);
  if (!proof.verified) return proof;
  if (proof.account === undefined) {
    const message = 'there is no account at the address of the rollup contract';
    return { verified: false, reason: 'CONTRACT_MISSING', at: 'accountProof', message };
  }
  const [state, nextNumber, fee, ...entries] = proof.slots.map(({ value }) => value);
  if (!equalBytes(state!, hash)) {
    const message = 'the rollup contract stores the hash of another finalized state';
    return { verified: false, reason: 'STATE_MISMATCH', at: 'storageProof[0].value', message };
  }
  return {
    verified: true,
    nextNumber: bytesToBigInt(nextNumber!),
    fee: bytesToBigInt(fee!),
    transactions: numbers.map((number, i) => ({
      number,
      deadline: bytesToBigInt(entries[2 * i]!),
      rollingHash: entries[2 * i + 1]!,
    })),
  };
}

/**
 * Hash and signer of a forced transaction, as a gateway computes them.
 *
 * @param transaction - signed, of type 2, as it would be broadcast
 * @param chainId - of layer 2. A gateway uses its own chain id. Another chain id gives another hash, and so another signer
 * @returns the hash that was signed, 32 bytes, and its signer, 20 bytes
 * @throws PlumblineError `TRANSACTION_REJECTED` with rule `malformed`, `type`, `chain-id` or `signature`; `KERNEL_UNAVAILABLE`
 * @source docs/spec/messages.md 8
 *
 * @example
 * ```ts
 * import { bytesToHex, hexToBytes, readForcedTransaction } from 'plumbline-l2/verify';
 *
 * const transaction = hexToBytes(
 *   '0x02f8768205398201e584150ccb328417b711698301b88094178de173c3ec3bfaac601398645594e202b0972087510e4df426ecc380c001a0cb474c' +
 *     '3ac05fb38ec3fdc848926139d977e373710174e3d36092c7ad05471d1aa018315da012b1ce2299e1c079d48532778dab828d7fb68a7066c26f4493d949f2',
 * );
 * const { signer } = await readForcedTransaction(transaction, 1337);
 * bytesToHex(signer); // => '0x9b864a7c1f012cd1a16dd997292fcaaf1ff0a0e2'
 * ```
 */
export async function readForcedTransaction(
  transaction: Uint8Array,
  chainId: number,
): Promise<{ unsignedHash: Uint8Array; signer: Uint8Array }> {
  await loadSignerRecovery();
  const parsed = parseSignedTransaction(transaction, chainId);
  if (parsed.type !== DYNAMIC_FEES) throw rejected('type', `only type 2 can be forced, this is type ${parsed.type}`);
  return { unsignedHash: keccak256(encodeToSign(parsed)), signer: parsed.from };
}

/** The fields of a signed transaction of type 2. Their limits and who signed are not checked. */
function fieldsOf(transaction: Uint8Array): TransactionFields {
  if (transaction[0] !== DYNAMIC_FEES) throw rejected('type', 'only a transaction of type 2 can be forced');
  let fields: TransactionFields;
  try {
    fields = decodeFields(DYNAMIC_FEES, RLP.decode(transaction.subarray(1)) as Item);
  } catch (cause) {
    throw rejected('malformed', `the transaction is malformed: ${messageOf(cause)}`, cause);
  }
  if (fields.r === 0n && fields.s === 0n) throw rejected('signature', 'the transaction is not signed');
  return fields;
}

/**
 * The rolling hash after a forced transaction, 32 bytes. Before the first one it is zero. Release 8.0 makes it with MiMC, also if the
 * zk state uses another hash.
 *
 * @param hasher - of the scheme `mimc`
 * @param previous - rolling hash before it, 32 bytes
 * @param transaction - `unsignedHash`: 32 bytes, `signer`: 20 bytes, both as `readForcedTransaction` gives them; `deadline`: its last block
 * @throws PlumblineError `INVALID_PARAMETER` for a hasher of another scheme, `INVALID_LENGTH`, `OUT_OF_RANGE`; `HASH_INPUT_NOT_CANONICAL`
 *   for a previous hash or a deadline that is not below the modulus
 * @source docs/spec/messages.md 8
 *
 * @example
 * ```ts
 * import { bytesToHex, forcedRollingHash, hexToBytes, loadHasher } from 'plumbline-l2/verify';
 *
 * const first = {
 *   unsignedHash: hexToBytes('0x827068afd7bf65a55bc876ec471700e2d2760b19e797e4a93ca416c52c3e1b8d'),
 *   deadline: 957n,
 *   signer: hexToBytes('0x9b864a7c1f012cd1a16dd997292fcaaf1ff0a0e2'),
 * };
 * const rollingHash = forcedRollingHash(await loadHasher('mimc'), new Uint8Array(32), first);
 * bytesToHex(rollingHash); // => '0x0b7397925b7e62dfb8ec797255d5f2baef7eb9ae355daede2876a14af285eebe'
 * ```
 */
export function forcedRollingHash(
  hasher: Hasher,
  previous: Uint8Array,
  {
    unsignedHash,
    deadline,
    signer,
  }: { readonly unsignedHash: Uint8Array; readonly deadline: bigint; readonly signer: Uint8Array },
): Uint8Array {
  if (hasher.scheme !== 'mimc') throw invalidParameter('hasher', `must be of the scheme mimc, not ${hasher.scheme}`);
  requireLength('previous', previous, 32);
  requireLength('unsignedHash', unsignedHash, 32);
  requireLength('signer', signer, 20);
  // A hash may be above the modulus, its halves are not.
  const half = new Uint8Array(16);
  const halves = [half, unsignedHash.subarray(0, 16), half, unsignedHash.subarray(16)];
  return hasher.hash(concatBytes(previous, ...halves, abiWord(deadline), abiAddress(signer)));
}

/** The settings of a gateway. Its contract has a function for each of them. They are not in the state that is proved here. */
export interface ForcedTransactionGateway {
  /** `L2_BLOCK_DURATION_SECONDS`, above 0. */
  readonly blockSeconds: bigint;
  /** `L2_BLOCK_BUFFER`: blocks from the expected one up to the deadline. */
  readonly blockBuffer: bigint;
  /** `BLOCK_NUMBER_DEADLINE_BUFFER`: blocks from the last deadline to the next, if the formula gives no higher one. */
  readonly deadlineBuffer: bigint;
  /** `MAX_GAS_LIMIT`. */
  readonly maxGasLimit: bigint;
  /** `MAX_INPUT_LENGTH_LIMIT`, bytes. */
  readonly maxInputLength: number;
}

/**
 * The layer-2 block up to which a forced transaction must be processed. It is computed when layer 1 includes the call, from the time
 * of that layer-1 block.
 *
 * @param state - `finalizedBlock`: number of the last finalized block; `finalizedTimestamp`: its time; `previousDeadline`: of the forced
 *   transaction before, 0 for the first one
 * @param timestamp - of the layer-1 block with the call, seconds
 * @throws PlumblineError `OUT_OF_RANGE` for a block time below 1, or a timestamp before that of the finalized block
 * @source docs/spec/messages.md 8
 *
 * @example
 * ```ts
 * import { forcedTransactionDeadline } from 'plumbline-l2/verify';
 *
 * const gateway = { blockSeconds: 2n, blockBuffer: 40n, deadlineBuffer: 7n };
 * const state = { finalizedBlock: 4n, finalizedTimestamp: 1_779_997_504n, previousDeadline: 957n };
 * forcedTransactionDeadline(gateway, state, 1_780_000_372n); // => 1478n
 * ```
 */
export function forcedTransactionDeadline(
  {
    blockSeconds,
    blockBuffer,
    deadlineBuffer,
  }: Pick<ForcedTransactionGateway, 'blockSeconds' | 'blockBuffer' | 'deadlineBuffer'>,
  {
    finalizedBlock,
    finalizedTimestamp,
    previousDeadline,
  }: { readonly finalizedBlock: bigint; readonly finalizedTimestamp: bigint; readonly previousDeadline: bigint },
  timestamp: bigint,
): bigint {
  requireAtLeast('blockSeconds', blockSeconds, 1n);
  requireAtLeast('timestamp', timestamp, finalizedTimestamp);
  const deadline = finalizedBlock + (timestamp - finalizedTimestamp) / blockSeconds + blockBuffer;
  return deadline > previousDeadline ? deadline : previousDeadline + deadlineBuffer;
}

function requireAtLeast(what: string, value: bigint, least: bigint): void {
  if (value >= least) return;
  const limit = `at least ${least}`;
  throw new PlumblineError('OUT_OF_RANGE', `${what} must be ${limit}, got ${value}`, {
    what,
    value: `${value}`,
    limit,
  });
}

/** A call of the gateway. */
export interface ForcedTransactionCall {
  /** Signed, of type 2, as it would be broadcast. */
  readonly transaction: Uint8Array;
  readonly lastFinalizedState: LastFinalizedState;
}

/**
 * Calldata of `submitForcedTransaction` of a gateway. The transaction that carries it must have the fee as its value.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED` with rule `type`, `malformed`, or `signature` for one that is not signed; as
 *   `finalizedStateHash`
 * @source docs/spec/messages.md 8
 *
 * @example
 * ```ts
 * import { bytesToHex, forcedTransactionCalldata, hexToBytes } from 'plumbline-l2/verify';
 *
 * const transaction = hexToBytes('0x02e2018001018252089400000000000000000000000000000000000000008080c0800101');
 * const none = new Uint8Array(32);
 * const lastFinalizedState = {
 *   timestamp: 1_779_997_504n,
 *   messageNumber: 0n,
 *   messageRollingHash: none,
 *   forcedTransactionNumber: 0n,
 *   forcedTransactionRollingHash: none,
 * };
 * const data = forcedTransactionCalldata({ transaction, lastFinalizedState });
 * bytesToHex(data.subarray(0, 4)); // => '0x8b98c2c8'
 * ```
 */
export function forcedTransactionCalldata({ transaction, lastFinalizedState }: ForcedTransactionCall): Uint8Array {
  const { nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data, accessList, v, r, s } =
    fieldsOf(transaction);
  const [messageNumber, messageRollingHash, forcedNumber, forcedRolling, timestamp] = stateWords(lastFinalizedState);
  const input = abiBytes(data);
  const entries = (accessList ?? []).map(({ address, storageKeys }) =>
    concatBytes(abiAddress(address), abiWord(64n), abiWord(BigInt(storageKeys.length)), ...storageKeys),
  );
  let offset = 32 * entries.length;
  const offsets = entries.map((entry) => {
    const own = abiWord(BigInt(offset));
    offset += entry.length;
    return own;
  });
  const members = 11n * 32n;
  return concatBytes(
    SUBMIT_SELECTOR,
    // The place of the transaction, which comes after the five members of the state.
    abiWord(6n * 32n),
    timestamp!,
    messageNumber!,
    messageRollingHash!,
    forcedNumber!,
    forcedRolling!,
    ...[nonce, maxPriorityFeePerGas ?? 0n, maxFeePerGas ?? 0n, gasLimit].map(abiWord),
    abiAddress(to ?? ZERO_ADDRESS),
    abiWord(value),
    abiWord(members),
    abiWord(members + BigInt(input.length)),
    ...[v, r, s].map(abiWord),
    input,
    abiWord(BigInt(entries.length)),
    ...offsets,
    ...entries,
  );
}

/** What decides about a call of the gateway, in addition to the gateway's settings. */
export interface ForcedTransactionState {
  /** Slot 447 of the rollup contract, 32 bytes. */
  readonly finalizedState: Uint8Array;
  /** Slot 453. */
  readonly fee: bigint;
  /** Whether the gateway already accepted a transaction in the same layer-1 block. It accepts one. */
  readonly isTaken: boolean;
  /** Whether the gateway uses an address filter that contains the signer or the recipient. */
  readonly isFiltered: boolean;
}

/** The error with which a gateway refuses a call, by its name there. */
export type ForcedTransactionRefusal =
  | 'GasLimitTooLow'
  | 'MaxGasLimitExceeded'
  | 'CalldataInputLengthLimitExceeded'
  | 'GasFeeParametersContainZero'
  | 'MaxPriorityFeePerGasHigherThanMaxFee'
  | 'YParityGreaterThanOne'
  | 'ForcedTransactionAlreadySubmittedInBlock'
  | 'ForcedTransactionFeeNotMet'
  | 'FinalizationStateIncorrect'
  | 'AddressIsFiltered';

/**
 * The error with which a gateway refuses a call, in the order of its checks. This function does not check the signature:
 * `readForcedTransaction` returns its signer. A gateway refuses a signature without a signer. If a transaction was changed, it has
 * another signer, and the gateway takes it as a transaction of that account.
 *
 * @param value - wei that are sent with the call
 * @returns undefined if the gateway accepts the call. The transaction may still not execute: an invalid one counts as processed
 * @throws PlumblineError as `forcedTransactionCalldata`
 * @source docs/spec/messages.md 8
 *
 * @example
 * ```ts
 * import { finalizedStateHash, forcedTransactionRefusal, hexToBytes } from 'plumbline-l2/verify';
 *
 * const transaction = hexToBytes('0x02e2018001018252089400000000000000000000000000000000000000008080c0800101');
 * const none = new Uint8Array(32);
 * const lastFinalizedState = {
 *   timestamp: 1_779_997_504n,
 *   messageNumber: 0n,
 *   messageRollingHash: none,
 *   forcedTransactionNumber: 0n,
 *   forcedTransactionRollingHash: none,
 * };
 * const finalizedState = finalizedStateHash(lastFinalizedState);
 * const state = { finalizedState, fee: 10n ** 15n, isTaken: false, isFiltered: false };
 * const gateway = { maxGasLimit: 500_000n, maxInputLength: 4096 };
 * forcedTransactionRefusal({ transaction, lastFinalizedState }, 0n, gateway, state); // => 'ForcedTransactionFeeNotMet'
 * ```
 */
export function forcedTransactionRefusal(
  { transaction, lastFinalizedState }: ForcedTransactionCall,
  value: bigint,
  { maxGasLimit, maxInputLength }: Pick<ForcedTransactionGateway, 'maxGasLimit' | 'maxInputLength'>,
  { finalizedState, fee, isTaken, isFiltered }: ForcedTransactionState,
): ForcedTransactionRefusal | undefined {
  const { gasLimit, data, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n, v } = fieldsOf(transaction);
  const hash = finalizedStateHash(lastFinalizedState);
  if (gasLimit < LEAST_GAS) return 'GasLimitTooLow';
  if (gasLimit > maxGasLimit) return 'MaxGasLimitExceeded';
  if (data.length > maxInputLength) return 'CalldataInputLengthLimitExceeded';
  if (maxFeePerGas === 0n || maxPriorityFeePerGas === 0n) return 'GasFeeParametersContainZero';
  if (maxPriorityFeePerGas > maxFeePerGas) return 'MaxPriorityFeePerGasHigherThanMaxFee';
  if (v > 1n) return 'YParityGreaterThanOne';
  if (isTaken) return 'ForcedTransactionAlreadySubmittedInBlock';
  if (value !== fee) return 'ForcedTransactionFeeNotMet';
  if (!equalBytes(hash, finalizedState)) return 'FinalizationStateIncorrect';
  return isFiltered ? 'AddressIsFiltered' : undefined;
}

/**
 * The time from which anyone may call `setLivenessRecoveryOperator` of the rollup contract. It lets another operator continue a rollup
 * that has stopped. The call has the members of the finalized state.
 *
 * @returns seconds: half a year after the last finalized block. A layer-1 block with exactly this time is enough
 * @source docs/spec/messages.md 8
 *
 * @example
 * ```ts
 * import { livenessRecoveryTime } from 'plumbline-l2/verify';
 *
 * livenessRecoveryTime({ timestamp: 1_779_997_504n }); // => 1795765504n
 * ```
 */
export function livenessRecoveryTime({ timestamp }: Pick<LastFinalizedState, 'timestamp'>): bigint {
  return timestamp + LIVENESS_SECONDS;
}
