import { byteLength, copy, mul, put, setU64, square, zero } from './word';

/** Shifts, single bytes and powers of words. */

const LEFT: usize = memory.data(32, 16);
const RIGHT: usize = memory.data(32, 16);
/** Powers of the base of `exp` with exponents from 0 to 15. */
const POWERS: usize = memory.data(512, 16);

/** Leading zero bits: 256 for zero (EIP-7939). */
export function clz(a: usize, out: usize): void {
  let bits: u64 = 256;
  for (let at: usize = 0; at < 32; at += 8) {
    const limb = load<u64>(a + at);
    if (limb !== 0) bits = ((24 - at) << 3) + i64.clz(limb);
  }
  setU64(bits, out);
}

/** Extends the sign of a number whose top byte is `byteIndex`, counted from the least. */
export function signextend(byteIndex: usize, value: usize, out: usize): void {
  const index = load<u64>(byteIndex);
  const far = (load<u64>(byteIndex, 8) | load<u64>(byteIndex, 16) | load<u64>(byteIndex, 24)) !== 0;
  copy(value, out);
  if (far || index > 30) return;
  const up = 56 - ((index & 7) << 3);
  let at = out + (<usize>index & 24);
  const limb = (load<i64>(at) << up) >> up;
  store<i64>(at, limb);
  for (at += 8; at < out + 32; at += 8) store<i64>(at, limb >> 63);
}

/** Byte `index` of the word's big-endian form. */
export function byteAt(index: usize, value: usize, out: usize): void {
  const at = shiftOf(index);
  setU64(at < 32 ? <u64>load<u8>(value + 31 - <usize>at) : 0, out);
}

/** A shift or an index: at most 256. */
function shiftOf(a: usize): u64 {
  const low = load<u64>(a);
  return (load<u64>(a, 8) | load<u64>(a, 16) | load<u64>(a, 24)) !== 0 || low > 255 ? 256 : low;
}

export function shl(shift: usize, value: usize, out: usize): void {
  const bits = shiftOf(shift);
  let r0 = load<u64>(value);
  let r1 = load<u64>(value, 8);
  let r2 = load<u64>(value, 16);
  let r3 = load<u64>(value, 24);
  if (bits > 255) {
    zero(out);
    return;
  }
  if (bits & 128) {
    r3 = r1;
    r2 = r0;
    r1 = r0 = 0;
  }
  if (bits & 64) {
    r3 = r2;
    r2 = r1;
    r1 = r0;
    r0 = 0;
  }
  const up = bits & 63;
  const down = 63 - up;
  put(
    out,
    r0 << up,
    (r1 << up) | ((r0 >> 1) >> down),
    (r2 << up) | ((r1 >> 1) >> down),
    (r3 << up) | ((r2 >> 1) >> down),
  );
}

export function shr(shift: usize, value: usize, out: usize): void {
  shiftDown(shiftOf(shift), value, out, 0);
}

export function sar(shift: usize, value: usize, out: usize): void {
  shiftDown(shiftOf(shift), value, out, load<i64>(value, 24) >> 63);
}

export function shiftDown(bits: u64, value: usize, out: usize, fill: u64): void {
  let r0 = load<u64>(value);
  let r1 = load<u64>(value, 8);
  let r2 = load<u64>(value, 16);
  let r3 = load<u64>(value, 24);
  if (bits > 255) {
    put(out, fill, fill, fill, fill);
    return;
  }
  if (bits & 128) {
    r0 = r2;
    r1 = r3;
    r2 = r3 = fill;
  }
  if (bits & 64) {
    r0 = r1;
    r1 = r2;
    r2 = r3;
    r3 = fill;
  }
  const down = bits & 63;
  const up = 63 - down;
  put(
    out,
    (r0 >> down) | ((r1 << 1) << up),
    (r1 >> down) | ((r2 << 1) << up),
    (r2 >> down) | ((r3 << 1) << up),
    (r3 >> down) | ((fill << 1) << up),
  );
}

/** Square and multiply from the exponent's top bit, or four bits at a time when it is long. */
export function exp(base: usize, exponent: usize, out: usize): void {
  const length = byteLength(exponent);
  if (length === 0) {
    setU64(1, out);
    return;
  }
  const b0 = load<u64>(base);
  if ((load<u64>(base, 8) | load<u64>(base, 16) | load<u64>(base, 24)) === 0 && popcnt(b0) === 1) {
    setU64(length > 1 && b0 !== 1 ? 256 : ctz(b0) * load<u64>(exponent), LEFT);
    setU64(1, RIGHT);
    shl(LEFT, RIGHT, out);
    return;
  }
  const step = length > 4 ? 4 : 1;
  setU64(1, POWERS);
  copy(base, POWERS + 32);
  for (let i: usize = 2; i < (<usize>1) << step; i++) {
    const at = POWERS + (i << 5);
    mul(at - 32, POWERS + 32, at);
  }
  setU64(1, LEFT);
  let started = false;
  for (let at = length - 1; at >= 0; at--) {
    const bits = <usize>load<u8>(exponent + at);
    for (let left = 8 - step; left >= 0; left -= step) {
      if (started) for (let i = 0; i < step; i++) square(LEFT, LEFT);
      const digit = (bits >> left) & ((1 << step) - 1);
      if (digit !== 0) {
        if (started) mul(LEFT, POWERS + (digit << 5), LEFT);
        else copy(POWERS + (digit << 5), LEFT);
        started = true;
      }
    }
  }
  copy(LEFT, out);
}
