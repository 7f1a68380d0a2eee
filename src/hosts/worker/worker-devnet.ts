/**
 * The worker that `createNode` starts for a devnet. It is the same as `plumbline-l2/worker`, but the code up to the first estimate is
 * three files that are fetched at once (scripts/lib/worker-chunks.mjs): the number of files delays the start more than
 * their size.
 */

export { feesOn } from '../../estimate/estimation.js';
export { general } from '../../fees/general.generated.js';
export { wasm as evmKernel } from '../../kernel/wasm/evm.simd.generated.js';
export { wasm as trieKernel } from '../../kernel/wasm/trie.simd.generated.js';
export { openDevnetNode } from '../opening/open-devnet.js';

import './worker.js';
