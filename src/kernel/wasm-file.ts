/**
 * Entry points `plumbline-l2/kernel.wasm`, `plumbline-l2/kernel-scalar.wasm` and `plumbline-l2/kernel/NAME.BUILD.wasm`:
 * WebAssembly modules as files, to be fetched and handed to `loadHasher` or `loadCalldataSizer` as `wasm`. They are no modules
 * of JavaScript, and a page that does not serve them needs none of them: the scripts carry the same bytes.
 */
export {};
