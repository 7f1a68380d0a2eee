/** The curve arithmetic of the precompiles, as one module to load when a contract calls one. */
export { NobleBLS, NobleBN254 } from '@ethereumjs/evm';
