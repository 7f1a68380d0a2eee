/**
 * Number of equal bytes at a and b, at most `limit`. Reads up to 7 bytes past the limit, which PADDING allows.
 * Comparing sixteen bytes at once with SIMD was measured and is no faster: most comparisons end within the first eight.
 */
export function matchLength(a: usize, b: usize, limit: i32): i32 {
  for (let n = 0; n < limit; n += 8) {
    const difference = load<u64>(a + n) ^ load<u64>(b + n);
    if (difference !== 0) return min(n + <i32>(ctz(difference) >> 3), limit);
  }
  return limit;
}
