import { instanceOf } from '../instantiate.js';
import type { EvmExports } from './evm-exports.js';
import { EvmKernel } from './evm-kernel.js';
import { EVM_SOURCE, evmBuild, loadEvmModule } from './evm-module.js';

/** Most idle kernels. There are more only while that many executions go on at once. */
const MAX_IDLE = 4;
/** A kernel whose memory has grown beyond this is not kept. */
const MAX_IDLE_BYTES = 64 * 2 ** 20;

const idle: EvmKernel[] = [];

/**
 * An idle kernel, or a new one. It may hold state of an earlier use.
 *
 * @param configuration - that it should have already: to configure one takes as long as a small run
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 */
export async function takeEvmKernel(configuration: string | undefined): Promise<EvmKernel> {
  const build = evmBuild();
  const isFit = (kernel: EvmKernel) => kernel.build === build && kernel.configuration === configuration;
  const fit = idle.findLastIndex(isFit);
  const at = fit >= 0 ? fit : idle.findLastIndex((kernel) => kernel.build === build);
  if (at >= 0) return idle.splice(at, 1)[0]!;
  return new EvmKernel(await instanceOf<EvmExports>(EVM_SOURCE, await loadEvmModule()), build);
}

/** @param kernel - without an open transaction; not used by the caller any more */
export function returnEvmKernel(kernel: EvmKernel): void {
  if (kernel.isBroken || kernel.memoryBytes > MAX_IDLE_BYTES) return;
  if (idle.length === MAX_IDLE) idle.shift();
  idle.push(kernel);
}
