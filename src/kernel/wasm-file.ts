/**
 * Doors `plumbline/kernel.wasm`, `plumbline/kernel-scalar.wasm` and `plumbline/kernel/NAME.BUILD.wasm`: WebAssembly modules as
 * files, to be fetched and handed to `loadHasher` or `loadCalldataSizer` as `wasm`. They are no modules of JavaScript, and
 * whoever does not serve them needs none of them: the scripts carry the same bytes.
 */
export {};
