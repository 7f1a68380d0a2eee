import type { EstimateRequest } from '../estimate/estimate-request.js';
import { equalBytes } from '../primitives/bytes.js';
import type { AccessListEntry, Authorization, CallRequest } from '../primitives/call-request.js';
import { withLateSignal } from '../scheduling/deadline.js';
import type { MethodCallOptions } from './method.js';
import {
  fitted,
  optional,
  parseAddress,
  parseBoolean,
  parseBytes,
  parseHash,
  parseQuantity,
  requireArray,
  requireObject,
  requireText,
} from './parse-params.js';
import { invalidParams } from './rpc-errors.js';

const SUBJECT = 'call params';
const DECIMAL = /^[0-9]{1,78}$/;

/** As `parseCallRequest`. A call that names another chain is refused. @throws RpcError -32602 also for that */
export function parseCallOn(
  { chainId }: { readonly chainId: number },
  value: unknown,
  options: { readonly lenient?: boolean } = {},
): CallRequest {
  const call = parseCallRequest(value, options);
  if (call.chainId === undefined || call.chainId === BigInt(chainId)) return call;
  throw invalidParams('chainId', `does not match node's (have=${call.chainId}, want=${chainId})`, SUBJECT);
}

/**
 * The call object of `eth_call` and the estimates. Members that are missing or null stay absent, unknown ones (`type`,
 * blob fields) are ignored. Empty `data` is none, as in geth.
 *
 * @param options.lenient - also accepts what `linea_estimateGas` accepts: decimal strings for quantities, an empty string
 *   for `value`, and hex data without `0x` (docs/spec/fees.md 6)
 * @throws RpcError -32602 for a bad member, for `data` and `input` that differ, and for `gasPrice` together with one of
 *   the EIP-1559 prices
 */
export function parseCallRequest(value: unknown, options: { readonly lenient?: boolean } = {}): CallRequest {
  const lenient = options.lenient === true;
  const call = requireObject(value, 'call', SUBJECT);
  const quantity = (member: string, bits: number) =>
    optional(call[member], (present) => parseCallQuantity(present, member, bits, lenient));
  const address = (member: string) => optional(call[member], (present) => parseAddress(present, member, SUBJECT));
  const request: CallRequest = {
    from: address('from'),
    to: address('to'),
    gas: quantity('gas', 64),
    gasPrice: quantity('gasPrice', 256),
    maxFeePerGas: quantity('maxFeePerGas', 256),
    maxPriorityFeePerGas: quantity('maxPriorityFeePerGas', 256),
    maxFeePerBlobGas: quantity('maxFeePerBlobGas', 256),
    value: lenient && call.value === '' ? 0n : quantity('value', 256),
    data: parseData(call, lenient),
    nonce: quantity('nonce', 64),
    chainId: quantity('chainId', 256),
    accessList: optional(call.accessList, parseAccessList),
    authorizationList: optional(call.authorizationList, parseAuthorizationList),
    strict: optional(call.strict, (present) => parseBoolean(present, 'strict', SUBJECT)),
  };
  if (request.gasPrice !== undefined) {
    for (const member of ['maxFeePerGas', 'maxPriorityFeePerGas', 'maxFeePerBlobGas'] as const) {
      if (request[member] !== undefined) throw invalidParams('gasPrice', `cannot be combined with ${member}`);
    }
  }
  return withoutAbsent(request);
}

function parseCallQuantity(value: unknown, member: string, bits: number, lenient: boolean): bigint {
  if (lenient && typeof value === 'string' && DECIMAL.test(value)) return fitted(BigInt(value), member, SUBJECT, bits);
  return parseQuantity(value, member, SUBJECT, bits);
}

function parseData(call: Readonly<Record<string, unknown>>, lenient: boolean): Uint8Array | undefined {
  const bytes = (member: string) =>
    optional(call[member], (present) => {
      const text = requireText(present, member, SUBJECT);
      const isBare = text === '' || (lenient && !text.startsWith('0x'));
      return parseBytes(isBare ? `0x${text}` : text, member, SUBJECT);
    });
  const data = bytes('data');
  const input = bytes('input');
  if (data !== undefined && input !== undefined && !equalBytes(data, input)) {
    throw invalidParams('data', 'differs from input', SUBJECT);
  }
  return data ?? input;
}

function parseAccessList(value: unknown): AccessListEntry[] {
  return requireArray(value, 'accessList', SUBJECT).map((entry, index) => {
    const at = `accessList[${index}]`;
    const { address, storageKeys } = requireObject(entry, at, SUBJECT);
    return {
      address: parseAddress(address, `${at}.address`, SUBJECT),
      storageKeys: requireArray(storageKeys ?? [], `${at}.storageKeys`, SUBJECT).map((key, position) =>
        parseHash(key, `${at}.storageKeys[${position}]`, SUBJECT),
      ),
    };
  });
}

function parseAuthorizationList(value: unknown): Authorization[] {
  return requireArray(value, 'authorizationList', SUBJECT).map((entry, index) => {
    const at = `authorizationList[${index}]`;
    const tuple = requireObject(entry, at, SUBJECT);
    const quantity = (member: string, bits: number) => parseQuantity(tuple[member], `${at}.${member}`, SUBJECT, bits);
    return {
      chainId: quantity('chainId', 256),
      address: parseAddress(tuple.address, `${at}.address`, SUBJECT),
      nonce: quantity('nonce', 64),
      yParity: quantity('yParity', 8),
      r: quantity('r', 256),
      s: quantity('s', 256),
    };
  });
}

/** Leaves out absent members instead of setting them to undefined, so that a call compares equal to what was sent. */
function withoutAbsent(request: CallRequest): CallRequest {
  const present: Partial<Record<keyof CallRequest, unknown>> = {};
  for (const member of Object.keys(request) as (keyof CallRequest)[])
    if (request[member] !== undefined) present[member] = request[member];
  return present as CallRequest;
}

/** An estimate within the limits of a request, whose signal is made where it is read. */
export function estimateRequestOf(asked: EstimateRequest, options: MethodCallOptions): EstimateRequest {
  const { gas, note, stopped } = options;
  const { call, overrides, blockOverrides, at, block, pending, search } = asked;
  return withLateSignal({
    call,
    overrides,
    blockOverrides,
    at,
    block,
    pending,
    search,
    gas,
    note,
    stopped,
    signalFrom: options,
  });
}
