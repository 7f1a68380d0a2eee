import type { StateEdit } from '../../chain/state-edits.js';
import { messageOf } from '../../errors.js';
import { GrowingBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { nextTurn } from '../../scheduling/turns.js';
import { answerTooLarge } from '../handle.js';
import { CHANGES_DEVNET, READS_DEVNET } from '../method-rows.js';
import { optional, parseAddress, parseBytes, parseStorageKey, requireObject } from '../parse-params.js';
import { invalidParams, RpcError } from '../rpc-errors.js';
import { devnetMethods, parseAmount } from './devnet-method.js';

/*
 * Accounts as anvil writes them: JSON in gzip, as hex. A chunk of its own.
 */

const SUBJECT = 'state params';
/** Most bytes of a state as JSON text, to be read. */
const MAX_TEXT_BYTES = 32 * 2 ** 20;
/** Most edits of one state. As slots, they are 28 MB of text. */
const MAX_EDITS = 200_000;
/** Characters that are compressed at once. */
const PIECE = 16_384;

export const STATE_METHODS = [
  /** All accounts of the newest state. There are no blocks in it. */
  ...devnetMethods<[], Hex>(
    ['anvil_dumpState', 'hardhat_dumpState'],
    READS_DEVNET,
    async (devnet, _, { context, signal }) => {
      const limit = (context.maxAnswerBytes ?? Number.POSITIVE_INFINITY) / 2;
      const { readable, writable } = new CompressionStream('gzip');
      const writer = writable.getWriter();
      const encoder = new TextEncoder();
      let text = '{"block":null,"accounts":{';
      const add = async (more: string) => {
        text += more;
        if (text.length < PIECE) return nextTurn();
        await writer.write(encoder.encode(text));
        text = '';
      };
      const write = async () => {
        let separator = '';
        for await (const { address, nonce, balance, code, slots } of devnet.accounts()) {
          signal?.throwIfAborted();
          const account = { nonce: Number(nonce), balance: toQuantity(balance), code: bytesToHex(code) };
          const members = JSON.stringify(account).slice(0, -1);
          await add(`${separator}"${bytesToHex(address)}":${members},"storage":{`);
          for (const [i, [key, value]] of slots.entries())
            await add(`${i === 0 ? '' : ','}"${bytesToHex(key)}":"${bytesToHex(value)}"`);
          await add('}}');
          separator = ',';
        }
        const rest = '},"best_block_number":null,"blocks":[],"transactions":[],"historical_states":null}';
        await writer.write(encoder.encode(text + rest));
        await writer.close();
      };
      const [, bytes] = await Promise.all([
        write().catch(async (error: unknown) => {
          await writer.abort(error);
          throw error;
        }),
        collected(readable, limit, () => answerTooLarge(context.maxAnswerBytes!)),
      ]);
      return bytesToHex(bytes);
    },
  ),

  /** `[state]`: takes over the accounts of a state that a devnet or anvil wrote. Other accounts and the blocks stay. */
  ...devnetMethods<[state: Hex], true>(
    ['anvil_loadState', 'hardhat_loadState'],
    CHANGES_DEVNET,
    async (devnet, [state], { signal }) => {
      const text = await textOf(parseBytes(state, 'state', SUBJECT));
      const { accounts } = requireObject(parsed(text), 'state', SUBJECT);
      const edits: StateEdit[] = [];
      for (const [name, value] of Object.entries(requireObject(accounts, 'accounts', SUBJECT))) {
        for (const edit of editsOf(name, value)) {
          await nextTurn();
          signal?.throwIfAborted();
          edits.push(edit);
          if (edits.length > MAX_EDITS) throw invalidParams('state', `has more than ${MAX_EDITS} values`, SUBJECT);
        }
      }
      await devnet.editAll(edits);
      return true;
    },
  ),
];

function* editsOf(name: string, value: unknown): Generator<StateEdit> {
  const address = parseAddress(name, 'accounts', SUBJECT);
  const { nonce, balance, code, storage } = requireObject(value, name, SUBJECT);
  const bytecode = optional(code, (given) => parseBytes(given, 'code', SUBJECT)) ?? new Uint8Array(0);
  yield { kind: 'nonce', address, nonce: optional(nonce, (given) => parseAmount(given, 'nonce', 63)) ?? 0n };
  yield { kind: 'balance', address, balance: optional(balance, (given) => parseAmount(given, 'balance')) ?? 0n };
  yield { kind: 'code', address, code: bytecode };
  for (const [slot, content] of Object.entries(requireObject(storage ?? {}, 'storage', SUBJECT))) {
    const key = parseStorageKey(slot, 'storage', SUBJECT);
    yield { kind: 'slot', address, key, value: parseStorageKey(content, 'storage', SUBJECT) };
  }
}

/** @throws RpcError -32602 for what is neither gzip nor JSON text, or is too long */
async function textOf(bytes: Uint8Array): Promise<string> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const tooLong = () => invalidParams('state', `has more than ${MAX_TEXT_BYTES} bytes`, SUBJECT);
  try {
    const source = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
    const plain = isGzip ? source.pipeThrough(new DecompressionStream('gzip')) : source;
    return new TextDecoder().decode(await collected(plain, MAX_TEXT_BYTES, tooLong));
  } catch (error) {
    if (error instanceof RpcError) throw error;
    throw invalidParams('state', `is not gzip (${messageOf(error)})`, SUBJECT);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidParams('state', 'is not JSON', SUBJECT);
  }
}

/** All bytes of a stream. @throws what `tooLong` returns, above `limit` bytes */
async function collected(stream: ReadableStream<Uint8Array>, limit: number, tooLong: () => Error): Promise<Uint8Array> {
  const pieces = new GrowingBytes();
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (pieces.length + value.length > limit) {
      await reader.cancel();
      throw tooLong();
    }
    pieces.push(value);
  }
  return pieces.bytes();
}
