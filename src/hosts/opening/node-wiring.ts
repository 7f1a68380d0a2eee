import type { HashScheme, KernelBuild } from '../../kernel/contracts.js';
import { hasSimd } from '../../kernel/instantiate.js';
import type { Network } from '../../networks/network.js';
import type { HandleOptions } from '../../rpc/protocol/handle.js';
import type { InlineExtras } from '../options/inline-extras.js';
import type { NodeInfo, NodeOptions } from '../options/options.js';
import { REQUEST_TIMEOUT_MS } from '../options/options.js';

/** How a node's dispatchers handle what they are given. */
export function handlingOf(options: NodeOptions, extras: Pick<InlineExtras, 'onError'>): HandleOptions {
  return {
    timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    maxBatch: options.maxBatch,
    onError: extras.onError,
  };
}

/** @param scheme - of the zk state after the newest block */
export function nodeInfo(network: Network, scheme: HashScheme, build: KernelBuild): NodeInfo {
  return {
    chainId: network.chainId,
    networkName: network.name,
    hashScheme: scheme,
    rollupAddress: network.rollup.address,
    kernelBuild: build === 'simd' || (build === 'auto' && hasSimd()) ? 'simd' : 'scalar',
  };
}
