import type { TransactionReceipt } from '../../chain/block.js';
import { type Chain, findReceipt } from '../../chain/chain.js';
import { isPlumblineError, PlumblineError } from '../../errors.js';
import type { Hex } from '../../primitives/hex.js';
import { bytesToHex } from '../../primitives/hex.js';
import { raceSignal } from '../../scheduling/clock.js';
import { openDeadline } from '../../scheduling/deadline.js';
import type { MethodCallOptions } from '../method.js';
import { SENDS_RAW } from '../method-rows.js';
import { optional, parseBytes } from '../parse-params.js';
import { invalidParams } from '../rpc-errors.js';
import { formatReceipt } from '../schema/format.js';
import type { ReceiptJson } from '../schema/json.js';
import { defineMethod } from './context.js';

/** geth's limits, milliseconds. @source ethereum/go-ethereum@02b73d4ea7 eth/ethconfig/config.go, TxSyncDefaultTimeout */
export const DEFAULT_WAIT_MS = 20_000;
const MAX_WAIT_MS = 60_000;
/** Time after which a receipt that could not be read is asked for again, if no block comes before. */
const AGAIN_MS = 2_000;

/** `[raw, timeoutMs]`: sends a transaction and answers with its receipt (EIP-7966). */
export const eth_sendRawTransactionSync = defineMethod<[transaction: Hex, timeoutMs?: Hex | number], ReceiptJson>(
  'eth_sendRawTransactionSync',
  SENDS_RAW,
  async ({ chain }, [raw, timeoutMs], call) => {
    const waitMs = optional(timeoutMs, parseWait) ?? DEFAULT_WAIT_MS;
    const hash = await chain.submit(parseBytes(raw, 'transaction', 'transaction params'), call);
    return formatReceipt(await receiptWithin(chain, hash, waitMs, call));
  },
);

/**
 * The receipt of a transaction that was sent, when a block includes it.
 *
 * @param hash - 32 bytes
 * @throws PlumblineError `TRANSACTION_PENDING` when the time is over
 */
export async function receiptWithin(
  chain: Chain,
  hash: Uint8Array,
  waitMs: number,
  call: MethodCallOptions,
): Promise<TransactionReceipt> {
  const deadline = openDeadline(call.signal, waitMs);
  const limited = { ...call, signal: deadline.signal };
  let wake = () => {};
  let last: unknown;
  let again: ReturnType<typeof setTimeout> | undefined;
  const stop = chain.subscribe({ head: () => wake() });
  try {
    for (;;) {
      const head = new Promise<void>((resolve) => {
        wake = resolve;
      });
      try {
        const receipt = await deadline.run(() => findReceipt(chain, hash, limited));
        if (receipt !== undefined) return receipt;
        last = undefined;
      } catch (error) {
        // The transaction is sent. That its receipt cannot be had now, as from endpoints that do not all have the newest block, may pass.
        deadline.signal.throwIfAborted();
        last = error;
        again = setTimeout(wake, AGAIN_MS);
      }
      await raceSignal(head, deadline.signal);
      clearTimeout(again);
    }
  } catch (error) {
    if (!isPlumblineError(error, 'REQUEST_TIMED_OUT')) throw error;
    const what = last === undefined ? 'no block has included it' : 'its receipt could not be read';
    const message = `the transaction was sent, and ${what} in ${waitMs} ms`;
    const details = { hash: bytesToHex(hash), waitedMs: waitMs };
    throw new PlumblineError('TRANSACTION_PENDING', message, details, last ? { cause: last } : undefined);
  } finally {
    stop();
    clearTimeout(again);
    deadline.close();
  }
}

/** Milliseconds, as a number or a quantity. */
function parseWait(value: unknown): number {
  const wait = typeof value === 'string' && /^0x[0-9a-f]{1,8}$/i.test(value) ? Number(value) : value;
  if (typeof wait === 'number' && Number.isInteger(wait) && wait > 0 && wait <= MAX_WAIT_MS) return wait;
  throw invalidParams('timeout', `is not a whole number of milliseconds from 1 to ${MAX_WAIT_MS}`);
}
