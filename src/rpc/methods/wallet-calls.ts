import { findReceipt } from '../../chain/chain.js';
import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { NEEDS_KEYS, SENDS_WITH_KEYS } from '../method-rows.js';
import { parseAddress, parseHash, parseQuantity, requireArray, requireObject, requireText } from '../parse-params.js';
import { invalidParams, walletRefused } from '../rpc-errors.js';
import type { BatchJson, BatchStatusJson } from '../schema/json.js';
import { defineMethod, type RpcContext } from './context.js';
import { requireDevnet } from './devnet-method.js';
import { eth_sendTransaction } from './eth_sendTransaction.js';
import { permittedAccounts, requirePermitted } from './permitted-accounts.js';

const VERSION = '2.0.0';
const MAX_CALLS = 32;
/** Most batches that a devnet remembers: it forgets the oldest. */
const MAX_BATCHES = 1024;
/** Bytes of an id. @source EIP-5792, "wallet_sendCalls" */
const MAX_ID_BYTES = 4096;

interface Batch {
  /** Of its transactions, 32 bytes each. */
  readonly hashes: Hex[];
  /** `ended`: a call could not be sent, and those after it were not. */
  state: 'sending' | 'sent' | 'ended';
}

/** In memory: a devnet that is opened again knows none. */
const batches = new WeakMap<DevnetControl, Map<string, Batch>>();

/** A devnet sends the calls of a batch as transactions, one after another. @source EIP-5792 */
export const wallet_getCapabilities = defineMethod<
  [address: Hex, chainIds?: readonly Hex[]],
  { readonly [chainId: Hex]: { readonly atomic: { readonly status: 'unsupported' } } }
>('wallet_getCapabilities', NEEDS_KEYS, (context, [address, chains], call) => {
  requirePermitted(requireDevnet(context, 'wallet_getCapabilities'), parseAddress(address), call);
  const own = toQuantity(context.chain.network.chainId);
  const asked = chains === undefined || chains === null ? [own] : requireArray(chains, 'chainIds', 'params');
  const isAsked = asked.some((id, i) => toQuantity(parseQuantity(id, `chainIds[${i}]`)) === own);
  return isAsked ? { [own]: { atomic: { status: 'unsupported' } } } : {};
});

/**
 * Sends each call as a transaction of its own, in order. What a call lacks is filled in when its turn comes. If the first call
 * cannot be sent, the batch is refused; if a later one cannot, the batch ends there.
 *
 * @source EIP-5792
 */
export const wallet_sendCalls = defineMethod<[batch: BatchJson], { readonly id: string }>(
  'wallet_sendCalls',
  SENDS_WITH_KEYS,
  async (context, [param], options) => {
    const devnet = requireDevnet(context, 'wallet_sendCalls');
    const known = batches.get(devnet) ?? new Map<string, Batch>();
    batches.set(devnet, known);
    const { id, from, calls } = readBatch(param, context, known);
    const sender = parseAddress(from ?? permittedAccounts(devnet, options)[0], 'from');
    requirePermitted(devnet, sender, options);
    const batch: Batch = { hashes: [], state: 'sending' };
    known.set(id, batch);
    try {
      for (const call of calls) {
        const transaction = { ...call, from: bytesToHex(sender) };
        batch.hashes.push((await eth_sendTransaction.handle(context, [transaction], options)) as Hex);
      }
      batch.state = 'sent';
    } catch (error) {
      if (batch.hashes.length === 0) {
        known.delete(id);
        throw error;
      }
      batch.state = 'ended';
      options.onError?.(error, 'wallet_sendCalls');
    }
    for (const [oldest] of known) if (known.size > MAX_BATCHES) known.delete(oldest);
    return { id };
  },
);

/** @source EIP-5792 */
export const wallet_getCallsStatus = defineMethod<[id: string], BatchStatusJson>(
  'wallet_getCallsStatus',
  NEEDS_KEYS,
  async (context, [idParam], call) => {
    const id = requireText(idParam, 'id', 'params');
    const batch = batches.get(requireDevnet(context, 'wallet_getCallsStatus'))?.get(id);
    if (batch === undefined)
      throw walletRefused('unknown-batch', 'this node has no batch with this id, or has forgotten it');
    const { chain } = context;
    const receipts = await Promise.all(batch.hashes.map((hash) => findReceipt(chain, parseHash(hash, 'hash'), call)));
    const included = receipts.filter((receipt) => receipt !== undefined);
    const waiting = new Set((await chain.pendingTransactions()).map(({ hash }) => bytesToHex(hash)));
    const isPending = batch.state === 'sending' || batch.hashes.some((hash) => waiting.has(hash));
    const failed = included.filter(({ succeeded }) => !succeeded).length;
    const isWhole = batch.state === 'sent' && included.length === batch.hashes.length;
    return {
      version: VERSION,
      id,
      chainId: toQuantity(chain.network.chainId),
      status: isPending ? 100 : statusOf({ isWhole, included: included.length, failed }),
      atomic: false,
      receipts: included.map((receipt) => ({
        logs: receipt.logs.map((log) => ({
          address: bytesToHex(log.address),
          data: bytesToHex(log.data),
          topics: log.topics.map(bytesToHex),
        })),
        status: toQuantity(receipt.succeeded ? 1 : 0),
        blockHash: bytesToHex(receipt.block.hash),
        blockNumber: toQuantity(receipt.block.header.number),
        gasUsed: toQuantity(receipt.gasUsed),
        transactionHash: bytesToHex(receipt.transaction.hash),
      })),
    };
  },
);

/** Confirmed, failed before any of it was included, reverted completely or in part. @source EIP-5792, "Status Codes" */
function statusOf(batch: { readonly isWhole: boolean; readonly included: number; readonly failed: number }): number {
  const { isWhole, included, failed } = batch;
  if (isWhole && failed === 0) return 200;
  if (included === 0) return 400;
  return isWhole && failed === included ? 500 : 600;
}

/** @throws RpcError -32602; PlumblineError `WALLET_REFUSED` for what EIP-5792 has a code for */
function readBatch(param: unknown, { chain }: RpcContext, known: ReadonlyMap<string, Batch>) {
  const request = requireObject(param, 'batch', 'params');
  if (requireText(request.version, 'version', 'params') !== VERSION)
    throw invalidParams('version', `must be ${VERSION}`);
  const { chainId } = chain.network;
  if (parseQuantity(request.chainId, 'chainId') !== BigInt(chainId)) {
    throw walletRefused('unsupported-chain', `this node has one chain, ${toQuantity(chainId)}`);
  }
  if (request.atomicRequired !== false) {
    if (request.atomicRequired !== true) throw invalidParams('atomicRequired', 'must be true or false');
    throw walletRefused('atomicity', 'a devnet sends calls one after another; ask with atomicRequired: false');
  }
  requireOptional(request.capabilities, 'capabilities');
  const calls = requireArray(request.calls, 'calls', 'params');
  if (calls.length === 0) throw invalidParams('calls', 'is empty');
  if (calls.length > MAX_CALLS) throw walletRefused('batch-too-large', `a batch has at most ${MAX_CALLS} calls`);
  return {
    id: idOf(request.id, known),
    from: request.from,
    calls: calls.map((value, i) => {
      const { capabilities, to, data, value: amount } = requireObject(value, `calls[${i}]`, 'params');
      requireOptional(capabilities, `calls[${i}].capabilities`);
      return { to, data, value: amount };
    }),
  };
}

function idOf(id: unknown, known: ReadonlyMap<string, Batch>): string {
  if (id === undefined || id === null) return bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
  const text = requireText(id, 'id', 'params');
  if (text.length > 2 + 2 * MAX_ID_BYTES) throw invalidParams('id', `is longer than ${MAX_ID_BYTES} bytes of hex`);
  if (known.has(text))
    throw walletRefused('duplicate-batch', 'a batch with this id was sent before; choose another id');
  return text;
}

/** Capabilities that are not marked as optional have to be supported, and none is. */
function requireOptional(capabilities: unknown, path: string): void {
  if (capabilities === undefined || capabilities === null) return;
  for (const [name, value] of Object.entries(requireObject(capabilities, path, 'params'))) {
    if (requireObject(value, `${path}.${name}`, 'params').optional === true) continue;
    throw walletRefused('unsupported-capability', `${path}.${name} is not supported; leave it out or mark it optional`);
  }
}
