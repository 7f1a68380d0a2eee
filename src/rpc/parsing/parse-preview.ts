import type { BlockReference } from '../../chain/block-reference.js';
import type { BlockOverrides } from '../../evm/block-overrides.js';
import type { CallRequest, StateOverrides } from '../../primitives/call-request.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { parseCallOn } from './parse-call.js';
import { parseBlockOverrides, parseStateOverrides } from './parse-overrides.js';
import {
  optional,
  parseAddress,
  parseBoolean,
  parseBytes,
  requireArray,
  requireObject,
  requireText,
} from './parse-params.js';
import { parseBlockReference } from './resolve-block.js';

/** A preview that is wanted. */
export interface PreviewRequest {
  /** Calls, and signed transactions as bytes. */
  readonly calls: readonly (CallRequest | Uint8Array)[];
  readonly block: BlockReference;
  readonly overrides: StateOverrides | undefined;
  readonly blockOverrides: BlockOverrides | undefined;
  readonly watch: readonly Hex[];
  /** Signatures. */
  readonly errors: readonly string[];
  readonly accessLists: boolean;
}

const SUBJECT = 'preview params';
const MAX_CALLS = 32;
const MAX_WATCHED = 16;
const MAX_ERRORS = 256;
const MEMBERS = ['block', 'stateOverrides', 'blockOverrides', 'watch', 'errors', 'accessLists'];
/** `Name(type,type)`. */
const SIGNATURE = /^[A-Za-z_$][\w$]*\([\w[\](),]*\)$/;

/** Of a parameter: what follows its type, such as its name, and `payable`. */
const AFTER_TYPE = /(?<=[\w)\]])(?:\s+[A-Za-z_$][\w$]*)+(?=\s*[,)])/g;

/** `[calls, options]`. @throws RpcError -32602 that names the member */
export function parsePreview(
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
    accessLists: optional(options.accessLists, (one) => parseBoolean(one, 'options.accessLists', SUBJECT)) ?? false,
  };
}

function list(value: unknown, name: string, most: number): readonly unknown[] {
  const items = optional(value, (present) => requireArray(present, `options.${name}`, SUBJECT)) ?? [];
  if (items.length > most)
    throw invalidParams(`options.${name}`, `must be at most ${most}, got ${items.length}`, SUBJECT);
  return items;
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
