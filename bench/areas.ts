import type { BenchArea } from './area.js';
import { hashing } from './hash.js';
import { sizing } from './sizing.js';

/** Every area, in the order of printing. */
export const AREAS: readonly BenchArea[] = [hashing, sizing];
