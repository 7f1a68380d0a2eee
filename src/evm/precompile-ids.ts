import type { Rules } from './common.js';

const P256_VERIFY = 0x100;

/** @source Ethereum Yellow Paper, appendix E; EIP-198, 196, 197 (Byzantium), 152 (Istanbul), 4844 (Cancun), 2537 (Prague) */
function lastInRow({ byzantium, istanbul, cancun, prague }: Rules): number {
  if (prague) return 0x11;
  if (cancun) return 0x0a;
  if (istanbul) return 0x09;
  return byzantium ? 0x08 : 0x04;
}

/** Numbers of the standard addresses that are precompiles under these rules, in order: from 1 to 0x11, and 0x100. */
export function activePrecompiles(rules: Rules): readonly number[] {
  const row = Array.from({ length: lastInRow(rules) }, (_, i) => i + 1);
  // EIP-7951
  return rules.osaka ? [...row, P256_VERIFY] : row;
}
