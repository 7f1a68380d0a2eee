import type { Area } from './area.js';
import { EXECUTION_AREAS } from './execution.js';
import { FEE_AREAS } from './fees.js';

/** Every area, in the order of printing. */
export const AREAS: readonly Area[] = [...FEE_AREAS, ...EXECUTION_AREAS];
