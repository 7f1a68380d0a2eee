import type { Area } from './area.js';

/** Every area, in the order of printing. */
export const AREAS: readonly Area[] = [];
