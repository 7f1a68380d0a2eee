import { type Block, type BlockReference, isHead } from '../../chain/block.js';
import type { AskedForState, Chain } from '../../chain/chain.js';
import { type ExecutionPoint, type FeeEstimate, isAboutCall } from '../../estimate/estimate-request.js';
import { loadSignerRecovery } from '../../ethereum/signer.js';
import { parseSignedTransaction } from '../../ethereum/transaction.js';
import { type BlockContext, type BlockOverrides, withBlockOverrides } from '../../evm/block-context.js';
import { defaultGas, transactionMessageOf } from '../../evm/call.js';
import { rulesAt } from '../../evm/common.js';
import { RunBudget, type RunLimits } from '../../evm/run-budget.js';
import type { SpeculativeRun } from '../../evm/simulation.js';
import type { StateReader } from '../../evm/state-reader.js';
import type { TransactionMessage } from '../../evm/transaction-message.js';
import type { KnownNames, PreviewedCall } from '../../preview/preview.js';
import { previewCalls } from '../../preview/preview-calls.js';
import { ZERO_ADDRESS } from '../../primitives/bytes.js';
import { type CallRequest, priceOf, type StateOverrides } from '../../primitives/call-request.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { Method, MethodCallOptions } from '../method.js';
import { parseCallOn } from '../parse-call.js';
import { parseBlockOverrides, parseStateOverrides } from '../parse-overrides.js';
import {
  optional,
  parseAddress,
  parseBoolean,
  parseBytes,
  requireArray,
  requireObject,
  requireText,
} from '../parse-params.js';
import { parseBlockReference, requireBlock } from '../resolve-block.js';
import { invalidParams } from '../rpc-errors.js';
import type { SeenByEndpoint, TransactionPreview } from '../schema/transaction-preview.js';
import type { RpcContext } from './context.js';
import { formatEstimate } from './linea_estimateGas.js';

/** Most bytes of traces of a run that only finds out what is read, as JSON: longer ones need memory, and show little that is new. */
export const MAX_PREFETCH_BYTES = 4 * 2 ** 20;

/** `node.previewTransaction`: a call or a signed transaction, or a list of them, and options. */
export const previewTransaction: Method<RpcContext>['handle'] = async (
  context,
  params,
  call,
): Promise<TransactionPreview> => {
  const { chain, maxAnswerBytes } = context;
  const wanted = parsePreview(context.chain.network, params);
  const { block: reference, overrides, blockOverrides, watch, errors, known, accessLists } = wanted;
  const calls: CallRequest[] = [];
  for (const one of wanted.calls) calls.push(one instanceof Uint8Array ? await signedCall(one, chain) : one);
  const { signal, gas } = call;
  const named = isHead(reference) ? await chain.head(call) : await requireBlock(context, reference, call);
  const seen = seenByEndpoints();
  const next = await nextContext(chain, named, blockOverrides, call);
  const plan = {
    call: calls[0]!,
    overrides,
    block: named,
    tag: 'tag' in reference && reference.tag !== 'earliest' ? reference.tag : undefined,
    accessLists,
    runs: {
      calls,
      coinbase: next.coinbase,
      run: (reader: StateReader, limits: RunLimits, speculativeRun: SpeculativeRun) => {
        const budget = new RunBudget({ ...limits, maxAnswerBytes: MAX_PREFETCH_BYTES });
        const guessed = {
          network: chain.network,
          block: next,
          state: reader,
          overrides,
          watch,
          known,
          budget,
          speculativeRun,
        };
        return previewCalls(guessed, calls.length, async (index, before) => {
          const { nonce: _, ...one } = calls[index]!;
          const nonce = (await before.account(one.from ?? ZERO_ADDRESS))?.nonce ?? 0n;
          return transactionMessageOf(one, { gasLimit: speculativeRun.gas, nonce, price: 0n, free: true });
        });
      },
      onAsk: seen.note,
    },
  };
  const { block: on, state } = await chain.prepare(plan, call);
  const block = await nextContext(chain, on, blockOverrides, call);
  const baseFeePerGas = blockOverrides === undefined ? block.baseFeePerGas : undefined;
  const { network } = chain;
  const base = {
    network,
    block,
    state,
    overrides,
    budget: new RunBudget({ signal, gas, maxAnswerBytes }),
    watch,
    errors,
    known,
  };
  const fees: (FeeOutcome & { readonly message: TransactionMessage })[] = [];
  const preview = await previewCalls(base, calls.length, async (index, reader) => {
    const point = { on, context: block, state: reader, baseFeePerGas };
    const fee = await feeOf(context, calls[index]!, point, call);
    const message = await messageOf(context, calls[index]!, fee, point);
    fees.push({ message, ...fee });
    return message;
  });
  const { balances, tokens, users, environmentReads } = preview;
  return {
    calls: preview.calls.map((one, i) => withFee(one, fees[i]!)),
    balances,
    tokens,
    warnings: preview.warnings,
    users,
    fees: preview.fees,
    environmentReads,
    trust: {
      level: await chain.trust(on),
      block: { number: on.header.number, hash: bytesToHex(on.hash) },
      accessLists,
      overridden: [
        ...(overrides !== undefined && overrides.length > 0 ? (['state'] as const) : []),
        ...(blockOverrides !== undefined ? (['block'] as const) : []),
      ],
    },
    seen: seen.list(),
  };
};

/** A signed transaction as a call: it runs with just the limit, the prices and the nonce that are signed. */
async function signedCall(raw: Uint8Array, { network }: Chain): Promise<CallRequest> {
  await loadSignerRecovery();
  const { from, to, nonce, gasLimit: gas, value, data, ...rest } = parseSignedTransaction(raw, network.chainId);
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, accessList, authorizationList } = rest;
  const prices = maxFeePerGas === undefined ? { gasPrice } : { maxFeePerGas, maxPriorityFeePerGas };
  return { from, to, nonce, gas, value, data, ...prices, accessList, authorizationList };
}

/** The block after `on`, with the coinbase and the random number of `on` where the chain does not make it itself. */
export async function nextContext(
  chain: Chain,
  on: Block,
  overrides: BlockOverrides | undefined,
  call: MethodCallOptions,
): Promise<BlockContext> {
  const next = await chain.pendingContext(on, call);
  const { miner: coinbase, mixHash: prevRandao } = on.header;
  return withBlockOverrides(chain.kind === 'devnet' ? next : { ...next, coinbase, prevRandao }, overrides);
}

/** Collects what endpoints are asked. */
export function seenByEndpoints() {
  interface Seen {
    readonly accounts: Map<Hex, { readonly slots: Set<Hex>; code: boolean }>;
    calls: boolean;
  }
  const endpoints = new Map<string, Seen>();
  return {
    note(endpoint: string, { accounts, call }: AskedForState): void {
      const seen = endpoints.get(endpoint) ?? { accounts: new Map(), calls: false };
      endpoints.set(endpoint, seen);
      seen.calls ||= call;
      for (const { address, slots, code } of accounts) {
        const key = bytesToHex(address);
        const asked = seen.accounts.get(key) ?? { slots: new Set(), code: false };
        seen.accounts.set(key, asked);
        asked.code ||= code;
        for (const slot of slots.values()) asked.slots.add(bytesToHex(slot));
      }
    },
    list: (): SeenByEndpoint[] =>
      [...endpoints].map(([endpoint, { accounts, calls }]) => ({
        endpoint,
        accounts: [...accounts].map(([address, { slots, code }]) => ({ address, slots: [...slots], code })),
        calls,
      })),
  };
}

type FeeOutcome = { readonly estimate: FeeEstimate } | { readonly error: Error };

async function feeOf(
  { estimator }: RpcContext,
  call: CallRequest,
  at: ExecutionPoint,
  { signal, gas, note }: MethodCallOptions,
): Promise<FeeOutcome> {
  try {
    return { estimate: await estimator.fees({ call, at, signal, gas, note }) };
  } catch (error) {
    if (!isAboutCall(error)) throw error;
    return { error };
  }
}

/** The transaction that a wallet would sign: what the call leaves out is estimated. */
async function messageOf(
  { chain }: RpcContext,
  call: CallRequest,
  fee: FeeOutcome,
  { on, context, state }: ExecutionPoint,
): Promise<TransactionMessage> {
  const { network } = chain;
  const gasLimit =
    call.gas ??
    ('estimate' in fee
      ? fee.estimate.gasLimit
      : defaultGas(context, rulesAt(network, context.number, context.timestamp), network));
  const nonce = call.nonce ?? (await state.account(call.from ?? ZERO_ADDRESS))?.nonce ?? 0n;
  if (priceOf(call) > 0n) return transactionMessageOf(call, { gasLimit, nonce, price: 0n, free: false });
  const tip = 'estimate' in fee ? fee.estimate.priorityFeePerGas : (await chain.prices(on)).prices.minGasPriceWei;
  return transactionMessageOf(call, { gasLimit, nonce, price: context.baseFeePerGas + tip, tip, free: false });
}

function withFee(
  call: PreviewedCall,
  fee: FeeOutcome & { readonly message: TransactionMessage },
): TransactionPreview['calls'][number] {
  if ('error' in fee) return call.status === 'success' ? { ...call, feeError: fee.error.message } : call;
  const { gasLimit, gasPrice, maxFeePerGas = 0n } = fee.message;
  const total = toQuantity(gasLimit * (gasPrice ?? maxFeePerGas));
  return { fee: { total, ...formatEstimate(fee.estimate) }, ...call };
}

/** A preview that is wanted. */
interface PreviewRequest {
  /** Calls, and signed transactions as bytes. */
  readonly calls: readonly (CallRequest | Uint8Array)[];
  readonly block: BlockReference;
  readonly overrides: StateOverrides | undefined;
  readonly blockOverrides: BlockOverrides | undefined;
  readonly watch: readonly Hex[];
  /** Signatures. */
  readonly errors: readonly string[];
  readonly known: KnownNames | undefined;
  readonly accessLists: boolean;
}

const SUBJECT = 'preview params';
const MAX_CALLS = 32;
const MAX_WATCHED = 16;
const MAX_ERRORS = 256;
const MAX_KNOWN = 2_048;
const MEMBERS = ['block', 'stateOverrides', 'blockOverrides', 'watch', 'errors', 'known', 'accessLists'];
/** `Name(type,type)`. */
const SIGNATURE = /^[A-Za-z_$][\w$]*\([\w[\](),]*\)$/;

/** Of a parameter: what follows its type, such as its name, and `payable`. */
const AFTER_TYPE = /(?<=[\w)\]])(?:\s+[A-Za-z_$][\w$]*)+(?=\s*[,)])/g;

/** `[calls, options]`. @throws RpcError -32602 that names the member */
function parsePreview(
  network: { readonly chainId: number },
  [callsParam, optionsParam]: readonly unknown[],
): PreviewRequest {
  const calls = Array.isArray(callsParam) ? callsParam : [callsParam];
  if (calls.length === 0 || calls.length > MAX_CALLS)
    throw invalidParams('calls', `must be 1 to ${MAX_CALLS} calls, got ${calls.length}`, SUBJECT);
  const options = optional(optionsParam, (present) => requireObject(present, 'options', SUBJECT)) ?? {};
  const unknown = Object.keys(options).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined)
    throw invalidParams(`options.${unknown}`, `is not an option; there are ${MEMBERS.join(', ')}`, SUBJECT);
  const block = parseBlockReference(options.block, { tag: 'latest' });
  if ('tag' in block && block.tag === 'pending')
    throw invalidParams('options.block', 'is always the block before; the calls run in the next one', SUBJECT);
  return {
    calls: calls.map((call, i) =>
      typeof call === 'string'
        ? parseBytes(call, `calls[${i}]`, SUBJECT)
        : parseCallOn(network, call, { lenient: true }),
    ),
    block,
    overrides: parseStateOverrides(options.stateOverrides),
    blockOverrides: parseBlockOverrides(options.blockOverrides),
    watch: list(options.watch, 'watch', MAX_WATCHED).map((one, i) =>
      bytesToHex(parseAddress(one, `options.watch[${i}]`, SUBJECT)),
    ),
    errors: list(options.errors, 'errors', MAX_ERRORS).flatMap(parseError),
    known: optional(options.known, parseKnown),
    accessLists: optional(options.accessLists, (one) => parseBoolean(one, 'options.accessLists', SUBJECT)) ?? false,
  };
}

function list(value: unknown, name: string, most: number): readonly unknown[] {
  const items = optional(value, (present) => requireArray(present, `options.${name}`, SUBJECT)) ?? [];
  if (items.length > most)
    throw invalidParams(`options.${name}`, `must be at most ${most}, got ${items.length}`, SUBJECT);
  return items;
}

/** `{ tokens, addresses }`. */
export function parseKnown(value: unknown): KnownNames {
  const { tokens, addresses } = requireObject(value, 'options.known', SUBJECT);
  return {
    ...(tokens !== undefined && {
      tokens: list(tokens, 'known.tokens', MAX_KNOWN).map((one, i) => {
        const name = `options.known.tokens[${i}]`;
        const { address, symbol } = requireObject(one, name, SUBJECT);
        return {
          address: bytesToHex(parseAddress(address, `${name}.address`, SUBJECT)),
          symbol: requireText(symbol, `${name}.symbol`, SUBJECT),
        };
      }),
    }),
    ...(addresses !== undefined && {
      addresses: list(addresses, 'known.addresses', MAX_KNOWN).map((one, i) =>
        bytesToHex(parseAddress(one, `options.known.addresses[${i}]`, SUBJECT)),
      ),
    }),
  };
}

/** A signature, or an item of an ABI; what is no error is passed over. */
function parseError(value: unknown, index: number): string[] {
  const name = `options.errors[${index}]`;
  if (typeof value === 'string') {
    const signature = value
      .replace(/^\s*error\s+|\s*;\s*$/g, '')
      .replaceAll(AFTER_TYPE, '')
      .replaceAll(/\s/g, '')
      .replaceAll(/\b(u?int)(?=[[,)])/g, '$1256');
    if (!SIGNATURE.test(signature)) throw invalidParams(name, 'is not a signature such as TooLittle(uint256)', SUBJECT);
    return [signature];
  }
  const item = requireObject(value, name, SUBJECT);
  if (item.type !== 'error') return [];
  return [requireText(item.name, `${name}.name`, SUBJECT) + typesOf(item.inputs, `${name}.inputs`)];
}

/** `(type,type)`; a tuple is written as the types of its members. */
function typesOf(inputs: unknown, name: string): string {
  const types = requireArray(inputs ?? [], name, SUBJECT).map((input, i) => {
    const { type, components } = requireObject(input, `${name}[${i}]`, SUBJECT);
    const text = requireText(type, `${name}[${i}].type`, SUBJECT);
    if (!text.startsWith('tuple')) return text;
    return typesOf(components, `${name}[${i}].components`) + text.slice('tuple'.length);
  });
  return `(${types.join(',')})`;
}
