import { PlumblineError, rejected } from '../errors.js';
import { type BlobSchedule, effectiveGasPrice, GAS_PER_BLOB } from '../ethereum/base-fee.js';
import { BLOB_HASH_VERSION, EMPTY_CODE_HASH, MAX_NONCE } from '../ethereum/constants.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import { equalBytes } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import type { BlockContext } from './block-context.js';
import { isDelegation, type Rules, TRANSACTION_GAS_CAP, transactionGasCap } from './common.js';
import { floorOfBytes, intrinsicResources, splitGas } from './resource-prices.js';
import { type Account, NO_ACCOUNT, type StateReader } from './state-reader.js';
import type { GasSplit, RunOptions, TransactionMessage } from './transaction-message.js';

/** What a transaction is checked against. */
interface ExecutionBase {
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly state: StateReader;
}

/** Values that the checks computed. */
export interface Admission {
  readonly sender: Account;
  readonly intrinsicGas: bigint;
  readonly floorGas: bigint;
  /** The gas limit, in the two kinds of gas. */
  readonly split: GasSplit;
  /** Wei per gas. */
  readonly price: bigint;
  /** Wei taken in advance; zero if the sender need not pay. */
  readonly prepayment: bigint;
  /** Cost of the blobs, wei; not refunded. */
  readonly blobFee: bigint;
}

/** From Osaka on (EIP-7594). */
const MAX_BLOBS_PER_TRANSACTION = 6;

/**
 * Checks whether a transaction may run, before anything is changed.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED` with the rule it breaks, `INSUFFICIENT_FUNDS`
 */
export async function admit(base: ExecutionBase, message: TransactionMessage, options: RunOptions): Promise<Admission> {
  const baseFee = options.baseFeePerGas ?? base.block.baseFeePerGas;
  const { amsterdam } = base.rules;
  const gas = checkGas(base, message, options);
  if (!amsterdam) requireIntrinsicGas(base, message, gas, options);
  checkPrice(message, baseFee, options);
  const sender = (await base.state.account(message.from)) ?? NO_ACCOUNT;
  checkSender(message, sender, options);
  const isContract = options.leniency?.contractSender !== true && !equalBytes(sender.codeHash, EMPTY_CODE_HASH);
  if (isContract && !isDelegation(await base.state.code(sender.codeHash)))
    throw rejected('sender', 'the sender is a contract');
  const price = effectiveGasPrice(message, baseFee);
  const blobPrice = checkBlobs(base, message, options);
  const { prepayment, blobFee } = checkFunds(message, sender, price, blobPrice, options);
  if (amsterdam) requireIntrinsicGas(base, message, gas, options);
  return { sender, ...gas, price, prepayment, blobFee };
}

type AdmittedGas = Pick<Admission, 'intrinsicGas' | 'floorGas' | 'split'>;

function checkGas(base: ExecutionBase, message: TransactionMessage, options: RunOptions): AdmittedGas {
  const { rules } = base;
  const { gasLimit } = message;
  const { gasAvailable, stateGasAvailable = gasAvailable } = options;
  const isCapped = options.leniency?.gasAboveCap !== true;
  const cap = transactionGasCap(rules);
  if (cap !== undefined && isCapped && gasLimit > cap)
    throw rejected('gas-limit', `gas limit ${gasLimit} is above the cap of ${cap}`);
  const split = options.split ?? splitGas(gasLimit, rules.amsterdam && isCapped);
  if (gasAvailable !== undefined && split.execution > gasAvailable) {
    throw rejected('block-gas-limit', `gas limit ${split.execution} is above the ${gasAvailable} left in the block`);
  }
  if (stateGasAvailable !== undefined && gasLimit > stateGasAvailable) {
    const left = `${stateGasAvailable} of state gas left in the block`;
    throw rejected('block-gas-limit', `gas limit ${gasLimit} is above the ${left}`);
  }
  const most = maxInitCodeBytes(rules);
  if (message.to === undefined && message.data.length > most) {
    const size = `init code of ${message.data.length} bytes is above the limit of ${most} (EIP-3860)`;
    throw rejected('init-code', size);
  }
  if (message.authorizationList !== undefined) {
    if (!rules.prague) throw rejected('type', 'authorization lists are valid from Prague on');
    if (message.to === undefined)
      throw rejected('malformed', 'a transaction with authorizations cannot create a contract');
  }
  return { intrinsicGas: intrinsicGas(message, rules), floorGas: dataFloorGas(message, rules), split };
}

/** From Amsterdam on geth checks this last, before that Besu does so at first. */
function requireIntrinsicGas(
  { rules }: ExecutionBase,
  { gasLimit }: TransactionMessage,
  { intrinsicGas: intrinsic, floorGas }: AdmittedGas,
  { leniency }: RunOptions,
): void {
  const minimum = intrinsic > floorGas ? intrinsic : floorGas;
  if (gasLimit < minimum) throw rejected('intrinsic-gas', `intrinsic gas ${minimum} exceeds gas limit ${gasLimit}`);
  if (rules.amsterdam && leniency?.gasAboveCap !== true && minimum > TRANSACTION_GAS_CAP)
    throw rejected('gas-limit', `intrinsic gas ${minimum} exceeds the cap of ${TRANSACTION_GAS_CAP} (EIP-8037)`);
}

function checkPrice(message: TransactionMessage, baseFee: bigint, options: RunOptions): void {
  const cap = message.gasPrice ?? message.maxFeePerGas ?? 0n;
  if (message.gasPrice === undefined && (message.maxPriorityFeePerGas ?? 0n) > cap) {
    throw rejected('gas-price', `max priority fee ${message.maxPriorityFeePerGas} is above max fee ${cap}`);
  }
  if (options.leniency?.lowPrice !== true && cap < baseFee) {
    throw rejected('gas-price', `gas price ${cap} is below the base fee ${baseFee}`);
  }
}

function checkSender(message: TransactionMessage, sender: Account, { leniency }: RunOptions): void {
  const nonce = leniency?.nonce ?? 'exact';
  if (nonce !== 'any') {
    if (message.nonce < sender.nonce) {
      throw rejected('nonce-too-low', `nonce ${message.nonce} is below the account's, ${sender.nonce}`);
    }
    if (nonce === 'exact' && message.nonce > sender.nonce) {
      throw rejected('nonce-too-high', `nonce ${message.nonce} is above the account's, ${sender.nonce}`);
    }
  }
  // A simulated call does without a nonce, unless the address of its contract depends on it.
  if (sender.nonce >= MAX_NONCE && (nonce !== 'any' || message.to === undefined))
    throw rejected('nonce-too-high', 'the account has no nonce left');
}

/** Most blobs of one transaction (EIP-7594 from Osaka on). */
export function mostBlobs({ max }: Pick<BlobSchedule, 'max'>, { osaka }: Pick<Rules, 'osaka'>): number {
  return osaka ? Math.min(max, MAX_BLOBS_PER_TRANSACTION) : max;
}

/** @returns wei per blob gas */
function checkBlobs({ rules, block }: ExecutionBase, message: TransactionMessage, options: RunOptions): bigint {
  const hashes = message.blobVersionedHashes;
  if (hashes === undefined) return 0n;
  const schedule = rules.blobs;
  if (schedule === undefined) throw rejected('type', 'BLOB_TX_NOT_ALLOWED: blob transactions are not accepted');
  if (message.to === undefined) throw rejected('malformed', 'a transaction with blobs cannot create a contract');
  if (hashes.length === 0) throw rejected('malformed', 'a blob transaction must have at least one blob');
  const limit = mostBlobs(schedule, rules);
  if (hashes.length > limit) throw rejected('malformed', `${hashes.length} blobs are above the limit of ${limit}`);
  if (hashes.some((hash) => hash[0] !== BLOB_HASH_VERSION))
    throw rejected('malformed', 'a blob hash has an unknown version');
  const price = block.blobBaseFee ?? 1n;
  const isFree = options.baseFeePerGas === 0n || options.leniency?.freeBlobs === true;
  if (isFree && (message.maxFeePerBlobGas ?? 0n) === 0n) return 0n;
  if (options.leniency?.lowPrice !== true && (message.maxFeePerBlobGas ?? 0n) < price) {
    throw rejected(
      'gas-price',
      `max fee per blob gas ${message.maxFeePerBlobGas ?? 0n} is below the blob base fee ${price}`,
    );
  }
  return price;
}

/** @returns wei to take in advance, for gas and for blobs */
function checkFunds(
  message: TransactionMessage,
  sender: Account,
  price: bigint,
  blobPrice: bigint,
  options: RunOptions,
): Pick<Admission, 'prepayment' | 'blobFee'> {
  const { gasLimit, value } = message;
  const { balance } = sender;
  const blobGas = GAS_PER_BLOB * BigInt(message.blobVersionedHashes?.length ?? 0);
  const maxBlobFee = blobPrice === 0n ? 0n : blobGas * (message.maxFeePerBlobGas ?? 0n);
  const maxCost = gasLimit * (message.gasPrice ?? message.maxFeePerGas ?? 0n) + maxBlobFee + value;
  const charges = { prepayment: gasLimit * price, blobFee: blobGas * blobPrice };
  if (balance >= maxCost) return charges;
  const required = options.leniency?.unfunded === true ? value : maxCost;
  if (balance < required) {
    const from = bytesToHex(message.from);
    const text = `up-front cost ${required} exceeds balance ${balance} of sender ${from}`;
    throw new PlumblineError('INSUFFICIENT_FUNDS', text, { sender: from, required, balance });
  }
  const affordable = balance >= charges.prepayment + charges.blobFee + value;
  return affordable ? charges : { prepayment: 0n, blobFee: 0n };
}

/** @throws PlumblineError `TRANSACTION_REJECTED`, rule `type`, for a type that a later fork adds */
export function requireTypeInForce({ type }: Pick<SignedTransaction, 'type'>, rules: Rules): void {
  const inForce = [true, rules.berlin, rules.london, rules.cancun && rules.blobs !== undefined, rules.prague][type];
  if (inForce !== true) throw rejected('type', `transactions of type ${type} are not in force under ${rules.hardfork}`);
}

/** Gas of the simplest transaction. */
export const TRANSACTION_GAS = 21_000n;

/** Most bytes of init code of a creation (EIP-3860, EIP-7954). */
export function maxInitCodeBytes(rules: Pick<Rules, 'shanghai' | 'amsterdam'>): number {
  if (rules.amsterdam) return 131_072;
  return rules.shanghai ? 49_152 : Number.POSITIVE_INFINITY;
}

/** Refund for an authorization if the authority's account exists (EIP-7702). */
export const EXISTING_AUTHORITY_REFUND = 12_500n;

/** Divisor of the gas used that bounds the refund: one fifth (EIP-3529), one half before London. */
export function refundQuotient(rules: Pick<Rules, 'london'>): bigint {
  return rules.london ? 5n : 2n;
}

const CREATION_GAS = 32_000n;
const ZERO_BYTE_GAS = 4n;
const OTHER_BYTE_GAS = 16n;
const OTHER_BYTE_GAS_BEFORE_ISTANBUL = 68n;
const INIT_CODE_WORD_GAS = 2n;
const ACCESS_LIST_ADDRESS_GAS = 2_400n;
const ACCESS_LIST_KEY_GAS = 1_900n;
const AUTHORIZATION_GAS = 25_000n;
const FLOOR_ZERO_BYTE_GAS = 10n;
const FLOOR_OTHER_BYTE_GAS = 40n;

function countBytes(data: Uint8Array): { zero: bigint; other: bigint } {
  let zero = 0;
  for (const byte of data) if (byte === 0) zero++;
  return { zero: BigInt(zero), other: BigInt(data.length - zero) };
}

/** Gas used before the first instruction (EIP-2, EIP-2028, EIP-2930, EIP-3860, EIP-7702; EIP-2780 from Amsterdam on). */
export function intrinsicGas(message: TransactionMessage, rules: Rules): bigint {
  const { zero, other } = countBytes(message.data);
  if (rules.amsterdam) return intrinsicResources(message, zero, other);
  const otherByteGas = rules.istanbul ? OTHER_BYTE_GAS : OTHER_BYTE_GAS_BEFORE_ISTANBUL;
  let gas = TRANSACTION_GAS + ZERO_BYTE_GAS * zero + otherByteGas * other;
  if (message.to === undefined) {
    if (rules.homestead) gas += CREATION_GAS;
    if (rules.shanghai) gas += INIT_CODE_WORD_GAS * BigInt(Math.ceil(message.data.length / 32));
  }
  for (const { storageKeys } of message.accessList ?? []) {
    gas += ACCESS_LIST_ADDRESS_GAS + ACCESS_LIST_KEY_GAS * BigInt(storageKeys.length);
  }
  return gas + AUTHORIZATION_GAS * BigInt(message.authorizationList?.length ?? 0);
}

/** Minimum gas for a transaction with this data (EIP-7623; EIP-7976 from Amsterdam on); zero before Prague. */
export function dataFloorGas(message: TransactionMessage, rules: Rules): bigint {
  if (rules.amsterdam) return floorOfBytes(message);
  if (!rules.prague) return 0n;
  const { zero, other } = countBytes(message.data);
  return TRANSACTION_GAS + FLOOR_ZERO_BYTE_GAS * zero + FLOOR_OTHER_BYTE_GAS * other;
}
