import { encodeTransaction, type TransactionType } from '../../ethereum/encode-transaction.js';
import { keccak256 } from '../../kernel/keccak.js';
import type { CallRequest } from '../../primitives/call-request.js';
import type { Hex } from '../../primitives/hex.js';
import { bytesToHex } from '../../primitives/hex.js';
import { parseCallOn } from '../parsing/parse-call.js';
import type { MethodCallOptions } from '../protocol/method.js';
import { COMPUTES } from '../protocol/method-rows.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { formatPendingTransaction } from '../schema/format.js';
import type { CallJson } from '../schema/json.js';
import { pendingNonce } from './account-state.js';
import { defineMethod, type RpcContext } from './context.js';

const SUBJECT = 'transaction params';
const NO_BYTES = new Uint8Array(0);

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

/** Gas limit and prices of a transaction: those of the call, else an estimate, and prices that the pool accepts. */
export async function completed(context: RpcContext, call: CallRequest, options: MethodCallOptions) {
  const { signal, gas, note } = options;
  return {
    gasLimit: call.gas ?? (await context.estimator.gas({ call, signal, gas, note })).gasLimit,
    price: call.gasPrice === undefined ? await feesOf(context, call, options) : { gasPrice: call.gasPrice },
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
