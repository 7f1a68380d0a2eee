import type { LightChainParts } from '../light-options.js';
import { LayerOneFinality } from './finality.js';
import { FinalityStore } from './finality-store.js';

/** What layer 1 holds, as the parts of a light chain say it is to be read; undefined without endpoints of layer 1. */
export function openFinality(parts: LightChainParts): LayerOneFinality | undefined {
  const { network, layerOne, clock, cache, finalityMaxAgeMs: maxAgeMs } = parts;
  if (layerOne === undefined) return undefined;
  const { rollup, chainId } = network;
  const how = { prove: parts.proveLayerOne, agreeing: parts.layerOneAgreeing, header: parts.layerOneHeader };
  const store = new FinalityStore(cache?.finalizations, { chainId, rollup: rollup.address, ...how });
  return new LayerOneFinality(layerOne, { rollup, maxAgeMs, clock, store, ...how });
}
