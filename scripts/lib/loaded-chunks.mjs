/** Which chunks of a worker a use of it loads, for `npm run size` and for the build. */

/** The text of a kernel build that an engine with SIMD loads. */
export const kernel = (name) => `kernel/wasm/${name}.simd.generated.js`;

export const LIGHT = ['hosts/opening/open-light.js'];
export const EXECUTION = ['estimate/estimation.js', kernel('evm')];
export const FEES = [...EXECUTION, 'kernel/calldata-sizer.js'];
export const STORE = ['store/idb-store.js', 'store/metered-store.js', 'chain/light/light-cache.js'];

/** Modules whose dynamic imports a node in memory comes to before its first estimate, by the worker that opens it. */
export const FIRST_ESTIMATE = {
  devnet: [],
  light: [...LIGHT, ...FEES, 'chain/light/light-cache.js'],
};

/** Chunks that are loaded with the entry and with the dynamic imports of some modules. */
export function loaded(chunks, modules) {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const found = new Set();
  const follow = (chunk) => {
    if (chunk === undefined || found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports) follow(byName.get(name));
  };
  follow(chunks.find(({ isEntry }) => isEntry));
  for (const module of modules) {
    const chunk = chunks.find(({ modules }) => modules.some((id) => id === module || id.endsWith(`/${module}`)));
    if (chunk === undefined) throw new Error(`${module} is in no chunk`);
    follow(chunk);
  }
  return found;
}
