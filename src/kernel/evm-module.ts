import type { CompiledModule, KernelBuild } from './contracts.js';
import { compile, type KernelSource } from './instantiate.js';

/** The builds of the EVM. */
export const EVM_SOURCE: KernelSource = {
  name: 'evm',
  simd: () => import('./wasm/evm.simd.generated.js'),
  scalar: () => import('./wasm/evm.scalar.generated.js'),
};

const modules = new Map<KernelBuild, Promise<CompiledModule>>();
let preferred: KernelBuild = 'auto';

/** Chooses the build that executes in this thread from now on; `auto` at first. */
export function preferEvmBuild(build: KernelBuild): void {
  preferred = build;
}

/** The build that executes in this thread. */
export function evmBuild(): KernelBuild {
  return preferred;
}

/**
 * Loads and compiles the module, once in a thread. A failed load is tried again next time.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 */
export function loadEvmModule(): Promise<CompiledModule> {
  const build = preferred;
  let module = modules.get(build);
  if (module === undefined) {
    module = compile(EVM_SOURCE, { build });
    modules.set(build, module);
    module.catch(() => modules.delete(build));
  }
  return module;
}
