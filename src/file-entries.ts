/**
 * Entry points `plumbline-l2/*` that are files to be served, and export nothing:
 *
 * - `plumbline-l2/worker` and `plumbline-l2/worker-devnet`: scripts for a module Worker or a SharedWorker. `createNode` starts one, or
 *   takes one that runs it.
 * - `plumbline-l2/service-worker`: a classic script for `registerRpcProxy`. Serve it from the page's origin, together with the files
 *   beside it (`plumbline-l2/service-worker-*`).
 * - `plumbline-l2/kernel.wasm`, `plumbline-l2/kernel-scalar.wasm` and `plumbline-l2/kernel/NAME.BUILD.wasm`: WebAssembly modules, to
 *   be fetched and handed to `loadHasher` or `loadCalldataSizer` as `wasm`. A page that does not serve them needs none of them: the
 *   scripts carry the same bytes.
 */
export {};
