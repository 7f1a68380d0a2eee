import { bytesToHex, type Hex, writeHex } from '../../primitives/hex.js';
import type { CallFrame, FrameLog } from './call-frame.js';
import type { Draft } from './plain-frames.js';

/** A frame or a log. */
type Holder = Partial<Draft<Pick<CallFrame & FrameLog, Member>>>;
type Member = 'input' | 'output' | 'data';

/** Pairs of characters of the first page, and of the largest. */
const FIRST_PAGE = 512;
const LARGEST_PAGE = 32_768;
const DECODER = new TextDecoder();
/** The page of the last trace that ended: to allocate one takes longer than to fill it. */
let spare: Uint16Array<ArrayBuffer> | undefined;

/** Bytes of the members of frames and logs that are given as hex. */
export interface FrameBytes {
  /** @param start - of the `length` bytes that count, which are read at once. The member is set when `end` is called, or before */
  add(holder: Holder, member: Member, bytes: Uint8Array, start: number, length: number): void;
  /** Sets what is not set yet. Nothing can be added afterwards. */
  end(): void;
}

/**
 * Makes texts a page at a time: a page is decoded as one text, from which the others are cut. An engine takes about as long to decode
 * the text of one word as to decode a page.
 */
export function frameBytes(): FrameBytes {
  let pairs = spare ?? new Uint16Array(FIRST_PAGE);
  spare = undefined;
  let used = 0;
  // Of the texts of this page.
  const holders: Holder[] = [];
  const members: Member[] = [];
  const ends: number[] = [];

  function setAll(): void {
    if (used === 0) return;
    const page = DECODER.decode(new Uint8Array(pairs.buffer, 0, 2 * used));
    let start = 0;
    for (let i = 0; i < ends.length; i++) {
      set(holders[i]!, members[i]!, page.substring(2 * start, 2 * ends[i]!) as Hex);
      start = ends[i]!;
    }
    holders.length = 0;
    members.length = 0;
    ends.length = 0;
    used = 0;
  }

  return {
    add(holder, member, bytes, start, length) {
      if (used + length >= pairs.length) {
        setAll();
        if (length >= LARGEST_PAGE) return set(holder, member, bytesToHex(bytes.subarray(start, start + length)));
        const wanted = Math.max(FIRST_PAGE, length + 1, Math.min(4 * pairs.length, LARGEST_PAGE));
        if (wanted > pairs.length) pairs = new Uint16Array(wanted);
      }
      writeHex(bytes, start, length, pairs, used);
      used += length + 1;
      holders.push(holder);
      members.push(member);
      ends.push(used);
    },
    end() {
      setAll();
      spare = pairs;
    },
  };
}

function set(holder: Holder, member: Member, text: Hex): void {
  if (member === 'input') holder.input = text;
  else if (member === 'output') holder.output = text;
  else holder.data = text;
}
