import { Common, Mainnet } from '@ethereumjs/common';
import type { Rules } from '../common.js';

/** The same rules in the form the interpreter takes. */
export function commonOf({ chainId, hardfork }: Rules): Common {
  // The interpreter knows the forks of blob parameters in part only, and none of them changes what it does.
  const named = hardfork.startsWith('bpo') ? 'osaka' : hardfork;
  return new Common({ chain: { ...Mainnet, chainId }, hardfork: named });
}
