import { isPlumblineError, PlumblineError, rejected } from '../errors.js';
import { effectiveGasPrice } from '../ethereum/base-fee.js';
import { loadSignerRecovery } from '../ethereum/signer.js';
import { parseSignedTransaction, type SignedTransaction } from '../ethereum/transaction.js';
import { authorityOf } from '../evm/authority.js';
import type { BlockContext } from '../evm/block-context.js';
import { rulesAt } from '../evm/common.js';
import type { StateReader } from '../evm/state-reader.js';
import { admit, requireTypeInForce } from '../evm/transaction-checks.js';
import type { Prices } from '../fees/prices.js';
import { priorityFeePerGas } from '../fees/pricing.js';
import { encodeForSizing } from '../fees/transaction-bytes.js';
import type { CalldataSizer } from '../kernel/contracts.js';
import type { Network } from '../networks/network.js';
import { isZeroBytes } from '../primitives/bytes.js';
import type { CallRequest } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';

/** What a transaction is checked against before it enters the pool. */
export interface AdmissionContext {
  readonly network: Network;
  /** State after the head. */
  readonly state: StateReader;
  /** Context of the next block. */
  readonly context: BlockContext;
  /** Prices for the next transaction. */
  readonly prices: Prices;
  /** Loads what sizes the transaction for the profitability margin of the pool. Without it the margin is not checked. */
  readonly sizer: (() => Promise<CalldataSizer>) | undefined;
  /** Where a transaction with this hash is already; undefined if nowhere. */
  readonly placeOf: (hash: Uint8Array) => 'pool' | 'block' | undefined;
}

const BLOB_TYPE = 3;
const DELEGATION_TYPE = 4;
/** Per cent by which a replacement must raise its prices. @source docs/spec/fees.md 7, defaults of the pool */
export const PRICE_BUMP = 10n;
/** Largest distance of a nonce above the account's. @source docs/spec/fees.md 7, defaults of the pool */
export const MAX_NONCE_DISTANCE = 200n;

/** A balance that does not suffice for a transaction that is sent has a code of its own. @returns other errors as they are */
export function asSent(error: unknown): unknown {
  if (!isPlumblineError(error, 'INSUFFICIENT_FUNDS')) return error;
  return new PlumblineError('INSUFFICIENT_FUNDS', error.message, { ...error.details, sent: true }, { cause: error });
}

/**
 * Parses a raw transaction that a client sends.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED`: `type-refused` for blobs if the network has none, otherwise as
 *   `parseSignedTransaction`
 */
export async function parseBroadcast(
  raw: Uint8Array,
  network: Network,
  context: BlockContext,
): Promise<SignedTransaction> {
  const blobs = rulesAt(network, context.number, context.timestamp).blobs !== undefined;
  if (raw[0] === BLOB_TYPE && !blobs) throw rejected('type-refused', refusedType('BLOB_TX_NOT_ALLOWED'));
  await loadSignerRecovery();
  return parseSignedTransaction(raw, network.chainId, { blobs });
}

/**
 * The checks of the pool in the order of the reference node: first the network's rules, then whether the next block or a later
 * one could include the transaction.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED`, `INSUFFICIENT_FUNDS`
 * @source docs/spec/fees.md 7; Consensys/linea-monorepo@cb180134d7 besu-plugins/linea-sequencer:
 *   LineaTransactionPoolValidatorFactory and its validators
 */
export async function checkAdmission(transaction: SignedTransaction, against: AdmissionContext): Promise<void> {
  const { network, state, context } = against;
  const place = against.placeOf(transaction.hash);
  if (place === 'pool') throw rejected('known', 'the transaction is known already');
  if (place === 'block') throw rejected('nonce-too-low', 'the transaction is in a block already');
  requireTypeAccepted(transaction, network);
  await checkDenied(transaction, network);
  requireRecipient(transaction);
  if (transaction.gasLimit > network.txGasLimit) {
    throw rejected('gas-limit', `Gas limit of transaction is greater than the allowed max of ${network.txGasLimit}`);
  }
  if (transaction.data.length > network.calldataLimit) {
    const reason = `Calldata of transaction is greater than the allowed max of ${network.calldataLimit}`;
    throw rejected('calldata-size', reason);
  }
  await checkMargin(transaction, against);
  const nonce = (await state.account(transaction.from))?.nonce ?? 0n;
  if (transaction.nonce < nonce) throw rejected('nonce-too-low', `nonce ${transaction.nonce}, expected ${nonce}`);
  if (transaction.nonce - nonce > MAX_NONCE_DISTANCE) {
    throw rejected('nonce-too-high', `nonce ${transaction.nonce} is too far from the account's, ${nonce}`);
  }
  const rules = rulesAt(network, context.number, context.timestamp);
  const leniency = { nonce: 'future', contractSender: transaction.impersonated === true } as const;
  requireTypeInForce(transaction, rules);
  try {
    await admit({ rules, block: context, state }, transaction, { leniency });
  } catch (error) {
    throw asSent(error);
  }
  if (transaction.gasLimit > context.gasLimit) {
    throw rejected('block-gas-limit', `gas limit ${transaction.gasLimit}, limit of a block ${context.gasLimit}`);
  }
}

/** @throws PlumblineError `TRANSACTION_REJECTED`, rule `type-refused`, for a type that the pool of the profile refuses */
export function requireTypeAccepted({ type }: Pick<SignedTransaction, 'type'>, { pool }: Network): void {
  if (type === DELEGATION_TYPE && pool?.delegationsRefused === true)
    throw rejected('type-refused', refusedType('DELEGATE_CODE_TX_NOT_ALLOWED'));
}

function refusedType(name: string): string {
  return `TransactionTypeValidation - ${name}`;
}

/** @throws PlumblineError `TRANSACTION_REJECTED`, rule `denied`, if an address is on the list of the profile */
export async function checkDenied(
  { from, to, authorizationList = [] }: Pick<SignedTransaction, 'from' | 'to'> & Pick<CallRequest, 'authorizationList'>,
  { pool }: Network,
): Promise<void> {
  if (pool?.deniedAddresses === undefined || pool.deniedAddresses.length === 0) return;
  const denied = new Set(pool.deniedAddresses.map((address) => address.toLowerCase()));
  const check = (role: string, address: Uint8Array | undefined) => {
    if (address === undefined || !denied.has(bytesToHex(address))) return;
    const reason = `${role} ${bytesToHex(address)} is blocked as appearing on the SDN or other legally prohibited list`;
    throw rejected('denied', reason);
  };
  check('sender', from);
  check('recipient', to);
  for (const authorization of authorizationList) {
    check('authorization authority', await authorityOf(authorization));
    check('authorization address', authorization.address);
  }
}

/**
 * The acceptance rule of docs/spec/fees.md 2.1 with the margin of the pool. Prices below the base fee are refused by
 * `admit`.
 */
async function checkMargin(
  transaction: SignedTransaction,
  { network, context, prices, sizer }: AdmissionContext,
): Promise<void> {
  const { pricing, pool: { margin } = {} } = network;
  const { type, gasLimit } = transaction;
  if (pricing === undefined || margin === undefined || sizer === undefined || type === BLOB_TYPE || gasLimit === 0n)
    return;
  const baseFee = context.baseFeePerGas;
  const price = effectiveGasPrice(transaction, baseFee);
  if (price < baseFee) return;
  const bytes = network.sizing === 'signed' ? transaction.raw : encodeForSizing(transaction);
  const use = { gas: gasLimit, compressedTxSize: (await sizer()).compressedTxSize(bytes), baseFee };
  if (price < baseFee + priorityFeePerGas(pricing, prices, use, margin)) {
    throw rejected('unprofitable', 'Gas price too low');
  }
}

/** @throws PlumblineError `TRANSACTION_REJECTED`, rule `recipient`, for a precompile */
export function requireRecipient({ to }: Pick<SignedTransaction, 'to'>): void {
  if (to !== undefined && isPrecompile(to))
    throw rejected('recipient', 'destination address is a precompile address and cannot receive transactions');
}

/** Addresses 0x01 to 0x11 and 0x100. */
function isPrecompile(address: Uint8Array): boolean {
  if (!isZeroBytes(address.subarray(0, 18))) return false;
  const low = address[18]! * 256 + address[19]!;
  return (low >= 1 && low <= 0x11) || low === 0x100;
}
