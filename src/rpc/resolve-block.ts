import type { Block } from '../chain/block.js';
import { BLOCK_TAGS, type BlockReference, type BlockTag, isHead, isPending } from '../chain/block.js';
import type { Chain, ChainCall } from '../chain/chain.js';
import { PlumblineError } from '../errors.js';
import type { BlockContext } from '../evm/block-context.js';
import type { StateReader } from '../evm/state-reader.js';
import type { CallRequest, StateOverrides } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import { optional, parseBoolean, parseHash, parseQuantity, requireObject, requireText } from './parse-params.js';
import { invalidParams } from './rpc-errors.js';

const LATEST: BlockReference = { tag: 'latest' };

/** What is needed to find a block. Every context of methods has it. */
interface Holder {
  readonly chain: Chain;
}

/** The block of a reference. @throws PlumblineError `BLOCK_NOT_FOUND` */
export async function requireBlock({ chain }: Holder, reference: BlockReference, call?: ChainCall): Promise<Block> {
  const block = await chain.block(reference, call);
  if (block !== undefined) return block;
  throw blockNotFound(reference);
}

function blockNotFound(reference: BlockReference): PlumblineError<'BLOCK_NOT_FOUND'> {
  const text =
    'number' in reference ? String(reference.number) : 'hash' in reference ? bytesToHex(reference.hash) : reference.tag;
  return new PlumblineError('BLOCK_NOT_FOUND', `no block ${text}`, { block: text });
}

/**
 * The block a parameter names, for methods that answer null for an unknown number or hash.
 *
 * @throws PlumblineError `BLOCK_NOT_FOUND` for a tag that names no block yet; RpcError -32602
 */
export async function findBlock(holder: Holder, parameter: unknown, call?: ChainCall): Promise<Block | undefined> {
  const reference = parseBlockReference(parameter);
  return 'tag' in reference ? requireBlock(holder, reference, call) : holder.chain.block(reference, call);
}

/** The block a parameter names, the newest when it is missing. @throws as `requireBlock`, RpcError -32602 */
export function blockAtParameter(holder: Holder, parameter: unknown, call?: ChainCall): Promise<Block> {
  return requireBlock(holder, parseBlockReference(parameter, LATEST), call);
}

/** State after the block a parameter names, the newest when it is missing. @throws as `requireBlock`, -32602 */
export async function stateOf({ chain }: Holder, parameter: unknown, call: ChainCall): Promise<StateReader> {
  const reference = parseBlockReference(parameter, LATEST);
  const state = await chain.accountsAt(reference, call);
  if (state === undefined) throw blockNotFound(reference);
  return state;
}

/** Where a call is executed: the state after the block, in the context of that block, or of the next one for `pending`. */
export async function executionPointOf(
  holder: Holder,
  parameter: unknown,
  asked: CallRequest,
  overrides: StateOverrides | undefined,
  call: ChainCall,
): Promise<{ state: StateReader; block: BlockContext }> {
  const { chain } = holder;
  const reference = parseBlockReference(parameter, LATEST);
  const named = isHead(reference) ? undefined : await requireBlock(holder, reference, call);
  const tag = 'tag' in reference && reference.tag !== 'earliest' ? reference.tag : undefined;
  const { block: on, state } = await chain.prepare({ call: asked, overrides, block: named, tag }, call);
  return { state, block: isPending(reference) ? await chain.pendingContext(on, call) : chain.contextOf(on) };
}

/** A block with its transactions. */
export function withBody({ chain }: Holder, block: Block, call?: ChainCall): Promise<Block> {
  return chain.withBody(block, call);
}

const SUBJECT = 'block param';
const HASH_DIGITS = 64;

/**
 * A block parameter: a tag, a number (hex, or decimal digits as in Besu), a hash (32 bytes), or an object with one of `blockNumber` (a
 * number or a tag) and `blockHash`.
 *
 * @param fallback - used for a missing or null parameter; without it such a parameter is refused
 * @throws RpcError -32602
 * @source EIP-1898
 */
export function parseBlockReference(value: unknown, fallback?: BlockReference, parameter = 'block'): BlockReference {
  if ((value === undefined || value === null) && fallback !== undefined) return fallback;
  if (typeof value === 'string') return parseText(value, parameter);
  if (typeof value === 'number')
    throw invalidParams(parameter, 'is a number; write it in hex, such as "0x1b4"', SUBJECT);
  const object = requireObject(value, parameter, SUBJECT);
  const [blockNumber, blockHash] = [object.blockNumber ?? undefined, object.blockHash ?? undefined];
  if ((blockNumber === undefined) === (blockHash === undefined)) {
    throw invalidParams(parameter, 'needs either blockNumber or blockHash', SUBJECT);
  }
  // Clients of go-ethereum send a tag here, too.
  if (blockNumber !== undefined) {
    const path = `${parameter}.blockNumber`;
    const text = requireText(blockNumber, path, SUBJECT);
    return namedBlock(text) ?? { number: parseNumber(text, path) };
  }
  const requireCanonical = optional(object.requireCanonical, (present) =>
    parseBoolean(present, `${parameter}.requireCanonical`, SUBJECT),
  );
  const hash = parseHash(blockHash, `${parameter}.blockHash`, SUBJECT);
  return requireCanonical === undefined ? { hash } : { hash, requireCanonical };
}

/** The parameter of a method of `debug_`: the files of execution-apis refuse decimal digits there. @throws RpcError -32602 */
export function requireHexNumber(value: unknown, parameter = 'block'): unknown {
  if (typeof value === 'string' && DECIMAL.test(value))
    throw invalidParams(parameter, 'is neither a block tag nor hex', SUBJECT);
  return value;
}

/** Decimal digits, as Besu takes them. */
const DECIMAL = /^(?:0|[1-9][0-9]{0,15})$/;

/** A block by its tag, or by its number in decimal digits. @returns undefined for other text */
function namedBlock(text: string): BlockReference | undefined {
  if (BLOCK_TAGS.includes(text as BlockTag)) return { tag: text as BlockTag };
  if (DECIMAL.test(text) && Number.isSafeInteger(Number(text))) return { number: Number(text) };
  return undefined;
}

function parseText(text: string, parameter: string): BlockReference {
  const named = namedBlock(text);
  if (named !== undefined) return named;
  if (!text.startsWith('0x')) throw invalidParams(parameter, 'is neither a block tag nor hex', SUBJECT);
  if (text.length === 2 + HASH_DIGITS) return { hash: parseHash(text, parameter, SUBJECT) };
  return { number: parseNumber(text, parameter) };
}

/** A number above all that can be counted here is that of a block that is not there, as any other future one. */
function parseNumber(text: string, parameter: string): number {
  const number = parseQuantity(text, parameter, SUBJECT, 257);
  return number > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(number);
}
