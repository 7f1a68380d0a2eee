import { createMethodTable, type MethodTable } from './method.js';
import { L1_METHODS, type L1Context } from './methods/layer-one.js';

export type { L1Context } from './methods/layer-one.js';

/** The methods by which light-node code reads the simulated layer 1 as it reads Ethereum (docs/decisions.md 25). */
export function layerOneTable(): MethodTable<L1Context> {
  return createMethodTable(L1_METHODS);
}
