import type { BenchArea } from './area.js';
import { estimating } from './estimate.js';
import { hashing } from './hash.js';
import { lightNode } from './light.js';
import { pageStart } from './page.js';
import { proxying } from './proxy.js';
import { sizing } from './sizing.js';
import { state } from './state.js';
import { storing } from './store.js';
import { verifying } from './verify.js';

/** Every area, in the order of printing. */
export const AREAS: readonly BenchArea[] = [
  hashing,
  sizing,
  estimating,
  lightNode,
  verifying,
  state,
  storing,
  proxying,
  pageStart,
];
