import type { Hasher } from '../../kernel/contracts.js';
import { compareBytes, equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { type StateTrace, traceKeyHash } from '../trace.js';
import { ensure } from './trace-verdict.js';

/** The valid sequences of traces of one account in a block: missing, read, updated, created, deleted, recreated. */
const PATTERN = /^(Z|R[rz]*|[rz]*[iud]*U|i*I|[rz]*D|[rz]*Di*I)$/;

/** One letter per type; capitals stand for the account trie. */
const LETTERS: Readonly<Record<StateTrace['type'], string>> = {
  read: 'r',
  'read-zero': 'z',
  insert: 'i',
  update: 'u',
  delete: 'd',
};

/**
 * Checks that the traces of a block are in the order of block application: accounts by ascending `hkey`; the traces of
 * each account together and in one of six patterns; slots by ascending `hkey` among reads and among writes.
 *
 * @param at - names the block in the verdict
 * @throws TraceRefusal `PATTERN_BROKEN`
 * @source docs/spec/state-trie.md 5.3 and 10
 */
export function checkOrder(hasher: Hasher, traces: readonly StateTrace[], at: string): void {
  const groups: { address: Uint8Array; first: number; traces: StateTrace[] }[] = [];
  for (const [first, trace] of traces.entries()) {
    const address = trace.location ?? trace.key;
    const group = groups.at(-1);
    if (group !== undefined && equalBytes(group.address, address)) group.traces.push(trace);
    else groups.push({ address, first, traces: [trace] });
  }
  let prior: Uint8Array | undefined;
  for (const group of groups) {
    const place = `${at}[${group.first}]`;
    const hkey = traceKeyHash(hasher, { location: undefined, key: group.address });
    const ascending = prior === undefined || compareBytes(prior, hkey) < 0;
    ensure(ascending, 'PATTERN_BROKEN', place, `account ${bytesToHex(group.address)} is out of order`);
    prior = hkey;
    const letters = group.traces.map(letterOf).join('');
    ensure(
      PATTERN.test(letters),
      'PATTERN_BROKEN',
      place,
      `the traces of an account, ${letters}, do not match a known pattern`,
    );
    checkSlots(hasher, group.traces, (i) => `${at}[${group.first + i}]`);
  }
}

function letterOf({ type, location }: StateTrace): string {
  return location === undefined ? LETTERS[type].toUpperCase() : LETTERS[type];
}

function checkSlots(hasher: Hasher, traces: readonly StateTrace[], place: (i: number) => string): void {
  const isRead = ({ type }: StateTrace) => type === 'read' || type === 'read-zero';
  for (let i = 1; i < traces.length; i++) {
    const [before, after] = [traces[i - 1]!, traces[i]!];
    if (before.location === undefined || after.location === undefined || isRead(before) !== isRead(after)) continue;
    const order = compareBytes(traceKeyHash(hasher, before), traceKeyHash(hasher, after));
    // A slot that was cleared in between is removed, then written again.
    const again = order === 0 && before.type === 'delete' && after.type === 'insert';
    ensure(order < 0 || again, 'PATTERN_BROKEN', place(i), 'the slot is out of order');
  }
}
