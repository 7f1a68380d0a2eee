/**
 * The worker that `createNode` starts for a devnet: the same as `plumbline-l2/worker`, but what a devnet needs up to its first
 * estimate is three files, fetched at once (scripts/lib/worker-chunks.mjs). A page that starts one waits for files more than
 * for their bytes.
 */
export { general } from '../../dictionary/general.generated.js';
export { feesOn } from '../../estimate/estimation.js';
export { wasm as trieKernel } from '../../kernel/wasm/trie.simd.generated.js';
export { openDevnetNode } from '../opening/open-devnet.js';

import './worker.js';
