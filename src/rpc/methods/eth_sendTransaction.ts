import { asSent } from '../../chain/admission.js';
import type { TransactionRequest } from '../../chain/devnet/mining/impersonation.js';
import { PlumblineError } from '../../errors.js';
import { encodeTransaction, type TransactionType } from '../../ethereum/encode-transaction.js';
import { keccak256 } from '../../kernel/keccak.js';
import type { CallRequest } from '../../primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../../primitives/hex.js';
import type { MethodCallOptions } from '../method.js';
import { CHANGES_DEVNET, COMPUTES, SENDS_WITH_KEYS } from '../method-rows.js';
import { parseCallOn, parseCallRequest } from '../parse-call.js';
import { invalidParams } from '../rpc-errors.js';
import { formatPendingTransaction, formatReceipt } from '../schema/format.js';
import type { CallJson, ReceiptJson, SentCallJson } from '../schema/json.js';
import { defineMethod, type RpcContext } from './context.js';
import { requireDevnet } from './devnet-method.js';
import { requireNotGivenUp } from './permitted-accounts.js';
import { pendingNonce } from './state-reads.js';

const SUBJECT = 'transaction params';
const NO_BYTES = new Uint8Array(0);

/**
 * Sends a transaction of a dev account, signed here, or of an impersonated account, unsigned. Fills in what is missing: the
 * nonce, the gas by an estimate, and prices that the pool accepts.
 */
export const eth_sendTransaction = defineMethod<[transaction: SentCallJson], Hex>(
  'eth_sendTransaction',
  SENDS_WITH_KEYS,
  send('eth_sendTransaction'),
);

/** As `eth_sendTransaction`, for a sender that need not be impersonated. */
export const eth_sendUnsignedTransaction = defineMethod<[transaction: SentCallJson], Hex>(
  'eth_sendUnsignedTransaction',
  CHANGES_DEVNET,
  send('eth_sendUnsignedTransaction'),
);

/** As `eth_sendTransaction`; answers with the receipt, as `eth_sendRawTransactionSync` does. */
export const eth_sendTransactionSync = defineMethod<[transaction: SentCallJson], ReceiptJson>(
  'eth_sendTransactionSync',
  CHANGES_DEVNET,
  async (context, params, options) => {
    const hash = await send('eth_sendTransactionSync')(context, params, options);
    const { DEFAULT_WAIT_MS, receiptWithin } = await import('./send-sync.js');
    return formatReceipt(await receiptWithin(context.chain, hexToBytes(hash), DEFAULT_WAIT_MS, options));
  },
);

type Sending = 'eth_sendTransaction' | 'eth_sendTransactionSync' | 'eth_sendUnsignedTransaction';

function send(method: Sending) {
  const unsigned = method === 'eth_sendUnsignedTransaction';
  return async (context: RpcContext, [param]: readonly unknown[], options: MethodCallOptions): Promise<Hex> => {
    const devnet = requireDevnet(context, method);
    const request = await readSentTransaction(context, param, options, (from) => {
      if (unsigned) return;
      requireNotGivenUp(devnet, from, options);
      devnet.impersonation.requireSender(from);
    });
    return bytesToHex(await devnet.send({ ...request, unsigned }, options));
  };
}

/**
 * A transaction from its JSON, with what it leaves out.
 *
 * @param requireSender - throws for a sender who may not send
 * @throws RpcError -32602; PlumblineError `TRANSACTION_REJECTED`, rule `chain-id`; of the gas estimate
 */
export async function readSentTransaction(
  context: RpcContext,
  param: unknown,
  options: MethodCallOptions,
  requireSender: (from: Uint8Array) => void,
): Promise<TransactionRequest> {
  const call = parseCallRequest(param);
  const { from } = call;
  if (from === undefined) throw invalidParams('from', 'is missing', SUBJECT);
  if (call.maxFeePerBlobGas !== undefined) throw invalidParams('type', 'must be 0, 1, 2 or 4', SUBJECT);
  if (call.authorizationList !== undefined && call.gasPrice !== undefined)
    throw invalidParams('gasPrice', 'cannot be combined with authorizationList', SUBJECT);
  requireSender(from);
  const { chainId } = context.chain.network;
  if (call.chainId !== undefined && call.chainId !== BigInt(chainId)) {
    const reason = `the transaction is for chain ${call.chainId}, this is ${chainId}`;
    throw new PlumblineError('TRANSACTION_REJECTED', reason, { rule: 'chain-id', reason });
  }
  return requestOf(context, { ...call, from }, options);
}

async function completion(...[context, call, options]: Parameters<typeof completed>) {
  try {
    return await completed(context, call, options);
  } catch (error) {
    throw asSent(error);
  }
}

async function requestOf(
  context: RpcContext,
  call: CallRequest & { readonly from: Uint8Array },
  options: MethodCallOptions,
): Promise<TransactionRequest> {
  const { from, to, nonce, value = 0n, data = NO_BYTES, accessList, authorizationList } = call;
  return { from, to, nonce, value, data, accessList, authorizationList, ...(await completion(context, call, options)) };
}

/**
 * Fills in what a transaction lacks: nonce, gas by an estimate, prices. Nothing is signed or kept.
 *
 * @returns `raw`, its encoding with an empty signature, and `tx`
 * @source ethereum/go-ethereum@02b73d4ea7 internal/ethapi/api.go, FillTransaction
 */
export const eth_fillTransaction = defineMethod<[transaction: CallJson], { readonly raw: Hex; readonly tx: object }>(
  'eth_fillTransaction',
  COMPUTES,
  async (context, [param], options) => {
    const call = parseCallOn(context.chain.network, param);
    const { from } = call;
    if (from === undefined) throw invalidParams('from', 'is missing', SUBJECT);
    if (call.maxFeePerBlobGas !== undefined) throw invalidParams('type', 'must be 0, 1, 2 or 4', SUBJECT);
    const [{ gasLimit, price }, nonce] = await Promise.all([
      completed(context, call, options),
      call.nonce ?? pendingNonce(context, from, options),
    ]);
    const { network } = context.chain;
    const chainId = call.chainId ?? BigInt(network.chainId);
    const type = typeOf(call);
    const { to, value = 0n, data = NO_BYTES, authorizationList } = call;
    const accessList = call.accessList ?? (type === 0 ? undefined : []);
    const fields = { type, chainId, nonce, to, gasLimit, value, data, accessList, authorizationList, ...price };
    // A legacy transaction names its chain in `v` (EIP-155).
    const signature = { v: type === 0 ? 35n + 2n * chainId : 0n, r: 0n, s: 0n };
    const raw = encodeTransaction(fields, signature);
    const whole = {
      gasPrice: undefined,
      maxFeePerGas: undefined,
      maxPriorityFeePerGas: undefined,
      ...fields,
      ...signature,
    };
    return { raw: bytesToHex(raw), tx: formatPendingTransaction({ ...whole, from, raw, hash: keccak256(raw) }) };
  },
);

function typeOf({ gasPrice, accessList, authorizationList }: CallRequest): TransactionType {
  if (authorizationList !== undefined) return 4;
  if (gasPrice === undefined) return 2;
  return accessList === undefined ? 0 : 1;
}

/**
 * Gas limit and prices of a transaction: those of the call, else an estimate, and prices that the pool accepts. The estimate is at these
 * prices: a contract that reads them, as the claim of a message with a fee does, may need more gas than without.
 *
 * @source ethereum/go-ethereum@0237985f58 internal/ethapi/transaction_args.go, setDefaults
 */
export async function completed(context: RpcContext, call: CallRequest, options: MethodCallOptions) {
  const { signal, gas, note } = options;
  const price = call.gasPrice === undefined ? await feesOf(context, call, options) : { gasPrice: call.gasPrice };
  return {
    gasLimit: call.gas ?? (await context.estimator.gas({ call: { ...call, ...price }, signal, gas, note })).gasLimit,
    price,
  };
}

/** Twice the network's minimum is more than the pool demands for any calldata, and the base fee may double meanwhile. */
async function feesOf(
  { chain }: RpcContext,
  { maxFeePerGas, maxPriorityFeePerGas }: CallRequest,
  options: MethodCallOptions,
) {
  const { baseFeePerGas } = await chain.pendingContext(undefined, options);
  const usual = 2n * (await chain.prices(undefined, options)).prices.minGasPriceWei;
  const tip = maxPriorityFeePerGas ?? (maxFeePerGas !== undefined && maxFeePerGas < usual ? maxFeePerGas : usual);
  return { maxFeePerGas: maxFeePerGas ?? 2n * baseFeePerGas + tip, maxPriorityFeePerGas: tip };
}
