/** Curve arithmetic of the precompiles, in a module that is loaded on first use. */
export { NobleBLS, NobleBN254 } from '@ethereumjs/evm';
