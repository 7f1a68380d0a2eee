import type { Pieces } from '../../scheduling/pieces.js';

/** Output of a precompile; undefined when the call fails. */
export type Output = Uint8Array | undefined;

/** Calculates the output from input whose length was checked and whose gas is paid. */
export type Run = (input: Uint8Array) => Output | Pieces<Output>;
