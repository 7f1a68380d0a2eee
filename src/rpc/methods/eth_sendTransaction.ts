import type { TransactionRequest } from '../../chain/devnet/mining/impersonation.js';
import { PlumblineError } from '../../errors.js';
import type { CallRequest } from '../../primitives/call-request.js';
import { bytesToHex } from '../../primitives/hex.js';
import { parseCallRequest } from '../parsing/parse-call.js';
import type { Method, MethodCallOptions } from '../protocol/method.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { defineMethod, type RpcContext } from './context.js';
import { requireDevnet } from './devnet-method.js';
import { requireNotGivenUp } from './permitted-accounts.js';

const SUBJECT = 'transaction params';

/**
 * Sends a transaction of a dev account, signed here, or of an impersonated account, unsigned. Fills in what is missing: the
 * nonce, the gas by an estimate, and prices that the pool accepts.
 */
export const eth_sendTransaction = defineMethod('eth_sendTransaction', send('eth_sendTransaction'));

/** As `eth_sendTransaction`, for a sender that need not be impersonated. */
export const eth_sendUnsignedTransaction = defineMethod(
  'eth_sendUnsignedTransaction',
  send('eth_sendUnsignedTransaction'),
);

function send(method: 'eth_sendTransaction' | 'eth_sendUnsignedTransaction'): Method<RpcContext>['handle'] {
  const unsigned = method === 'eth_sendUnsignedTransaction';
  return async (context, [param], options) => {
    const devnet = requireDevnet(context, method);
    const request = await readSentTransaction(context, param, options, (from) => {
      if (unsigned) return;
      requireNotGivenUp(from, options);
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
  if (call.authorizationList !== undefined || call.maxFeePerBlobGas !== undefined) {
    throw invalidParams('type', 'must be 0, 1 or 2', SUBJECT);
  }
  requireSender(from);
  const { chainId } = context.chain.network;
  if (call.chainId !== undefined && call.chainId !== BigInt(chainId)) {
    const reason = `the transaction is for chain ${call.chainId}, this is ${chainId}`;
    throw new PlumblineError('TRANSACTION_REJECTED', reason, { rule: 'chain-id', reason });
  }
  return completed(context, { ...call, from }, options);
}

async function completed(
  context: RpcContext,
  call: CallRequest & { readonly from: Uint8Array },
  { signal, gas }: MethodCallOptions,
): Promise<TransactionRequest> {
  const gasLimit = call.gas ?? (await context.estimator.gas({ call, signal, gas })).gasLimit;
  return {
    from: call.from,
    to: call.to,
    nonce: call.nonce,
    gasLimit,
    price: call.gasPrice === undefined ? await feesOf(context, call) : { gasPrice: call.gasPrice },
    value: call.value ?? 0n,
    data: call.data ?? new Uint8Array(0),
    accessList: call.accessList,
  };
}

/** Twice the network's minimum is more than the pool demands for any calldata, and the base fee may double meanwhile. */
async function feesOf({ chain }: RpcContext, { maxFeePerGas, maxPriorityFeePerGas }: CallRequest) {
  const { baseFeePerGas } = await chain.pendingContext();
  const usual = 2n * (await chain.prices()).prices.minGasPriceWei;
  const tip = maxPriorityFeePerGas ?? (maxFeePerGas !== undefined && maxFeePerGas < usual ? maxFeePerGas : usual);
  return { maxFeePerGas: maxFeePerGas ?? 2n * baseFeePerGas + tip, maxPriorityFeePerGas: tip };
}
