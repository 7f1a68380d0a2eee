import type { TrustLevel } from '../chain/block.js';
import type { Chain, ChainCall } from '../chain/chain.js';
import { isPlumblineError } from '../errors.js';
import type { ExecutionPoint } from '../estimate/estimate-request.js';
import type { Estimator } from '../estimate/estimator.js';
import type { NamedPrices } from '../ethereum/base-fee.js';
import type { TransactionType } from '../ethereum/encode-transaction.js';
import { loadSignerRecovery } from '../ethereum/signer.js';
import { parseSignedTransaction, type SignedTransaction } from '../ethereum/transaction.js';
import { type Rules, rulesAt } from '../evm/common.js';
import { type Account, NO_ACCOUNT } from '../evm/state-reader.js';
import type { Prices } from '../fees/prices.js';
import { encodeSigned } from '../fees/transaction-bytes.js';
import { isLayerOne } from '../networks/network.js';
import { equalBytes } from '../primitives/bytes.js';
import type { CallRequest } from '../primitives/call-request.js';
import { type Finding, tried } from './diagnosis.js';

/** A transaction to check: signed, or a call with what could be filled in. */
export interface DiagnosedTransaction
  extends NamedPrices,
    Pick<CallRequest, 'accessList' | 'authorizationList' | 'maxFeePerBlobGas' | 'chainId'> {
  readonly type: TransactionType;
  readonly from: Uint8Array;
  readonly to: Uint8Array | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  /** Undefined where it was left out and could not be filled in. The gas limit and the prices likewise. */
  readonly nonce: bigint | undefined;
  readonly gasLimit: bigint | undefined;
  readonly blobVersionedHashes?: readonly Uint8Array[] | undefined;
  /** Only of a signed transaction, like the next: 32 bytes. */
  readonly hash?: Uint8Array;
  readonly raw?: Uint8Array;
  /** Unsigned: only a devnet has such transactions. */
  readonly impersonated?: true;
}

/** Decodes signed bytes of any chain and type. @returns the check that fails, if they are not a transaction */
export async function readSigned(raw: Uint8Array, chainId: number): Promise<SignedTransaction | Finding> {
  await loadSignerRecovery();
  try {
    return parseSignedTransaction(raw, chainId, { blobs: true, anyChain: true });
  } catch (error) {
    if (!isPlumblineError(error, 'TRANSACTION_REJECTED')) throw error;
    const { rule, reason } = error.details;
    return { check: rule === 'signature' ? 'signature' : 'encoding', outcome: 'fails', reason };
  }
}

/** The transaction that is signed for a call: type 2, unless the call says otherwise. */
export function transactionOf(
  call: CallRequest & { readonly from: Uint8Array },
  chainId: number,
): DiagnosedTransaction {
  const { from, to, gas, value = 0n, data = new Uint8Array(0), nonce, ...rest } = call;
  return {
    type: typeOf(call),
    from,
    to,
    gasLimit: gas,
    value,
    data,
    nonce,
    gasPrice: rest.gasPrice,
    maxFeePerGas: rest.maxFeePerGas,
    maxPriorityFeePerGas: rest.maxPriorityFeePerGas,
    maxFeePerBlobGas: rest.maxFeePerBlobGas,
    accessList: rest.accessList,
    authorizationList: rest.authorizationList,
    chainId: rest.chainId ?? BigInt(chainId),
  };
}

function typeOf(call: CallRequest): TransactionType {
  if (call.authorizationList !== undefined) return 4;
  if (call.maxFeePerBlobGas !== undefined) return 3;
  if (call.gasPrice === undefined) return 2;
  return call.accessList === undefined ? 0 : 1;
}

/** The candidate as a call, for reading its state and estimating it. */
export function callOf(candidate: DiagnosedTransaction): CallRequest & { readonly from: Uint8Array } {
  const {
    type: _,
    gasLimit: gas,
    hash: _hash,
    raw: _raw,
    impersonated: _unsigned,
    blobVersionedHashes: _blobs,
    chainId: _id,
    ...call
  } = candidate;
  return { ...call, gas };
}

/** The highest price that it may pay, wei per gas. */
export function capOf({ gasPrice, maxFeePerGas }: NamedPrices): bigint | undefined {
  return gasPrice ?? maxFeePerGas;
}

/** A candidate of which nothing is missing. */
export type CompleteTransaction = DiagnosedTransaction & { readonly nonce: bigint; readonly gasLimit: bigint };

/** Whether its nonce, its gas limit and its prices are known. */
export function isComplete(candidate: DiagnosedTransaction): candidate is CompleteTransaction {
  return candidate.nonce !== undefined && candidate.gasLimit !== undefined && capOf(candidate) !== undefined;
}

/** The signed transaction; with a signature that stands for the real one, if there is none yet. */
export function signedBytes(candidate: CompleteTransaction): Uint8Array {
  return candidate.raw ?? encodeSigned(candidate);
}

/** What a diagnosis works on: the node's chain and its estimator. */
export interface DiagnosisParts {
  readonly chain: Chain;
  readonly estimator: Estimator;
}

/** Whether geth's pool takes the transaction: on a layer 1, but not on a devnet, which has a pool of its own. */
export function hasLayerOnePool({ network, kind }: Pick<Chain, 'network' | 'kind'>): boolean {
  return isLayerOne(network) && kind !== 'devnet';
}

/** Whether the prover's limits of the profile count. */
export function hasLineLimits(chain: Pick<Chain, 'network' | 'kind'>): boolean {
  return chain.network.moduleLimits !== undefined && !hasLayerOnePool(chain);
}

/** What a transaction is checked against: the next block on the newest one. */
export interface Conditions extends ExecutionPoint {
  readonly rules: Rules;
  readonly prices: Prices;
  readonly trust: TrustLevel;
  readonly sender: Account;
  /** Transactions of the sender that this node knows as pending. */
  readonly pending: readonly SignedTransaction[];
}

/** Reads what the checks need. @returns why it could not be read, if so */
export function readConditions(
  { chain, estimator }: DiagnosisParts,
  call: CallRequest & { readonly from: Uint8Array },
  limits: ChainCall,
): Promise<Conditions | string> {
  return tried(async (): Promise<Conditions> => {
    const point = await estimator.executionPoint({ ...limits, call, pending: true });
    const { number, timestamp } = point.context;
    const [sender, { prices }, trust, pending] = await Promise.all([
      point.state.account(call.from),
      chain.prices(point.on, limits),
      chain.trust(point.on),
      chain.pendingTransactions(),
    ]);
    return {
      ...point,
      rules: rulesAt(chain.network, number, timestamp),
      prices,
      trust,
      sender: sender ?? NO_ACCOUNT,
      pending: pending.filter(({ from }) => equalBytes(from, call.from)),
    };
  });
}
