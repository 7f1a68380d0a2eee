import type { EVMBLSInterface, EVMBN254Interface } from '@ethereumjs/evm';
import { PlumblineError } from '../../errors.js';

/*
 * The pairing curves are rarely used, and their arithmetic is a quarter of the interpreter's code. The interpreter gets
 * stand-ins, and the precompiles that need the curves wait until they are loaded.
 */

interface Curves {
  readonly bls: EVMBLSInterface;
  readonly bn254: EVMBN254Interface;
}

let loading: Promise<void> | undefined;
let loaded: Curves | undefined;

/** Addresses of the precompiles on BN254 and BLS12-381. */
const FIRST_BN254 = 0x06;
const LAST_BN254 = 0x08;
const FIRST_BLS = 0x0b;
const LAST_BLS = 0x11;

/** Whether a precompile needs `loadCurves` first. */
export function needsCurves(precompile: number): boolean {
  return (precompile >= FIRST_BN254 && precompile <= LAST_BN254) || (precompile >= FIRST_BLS && precompile <= LAST_BLS);
}

/** Loads the curves once. A failed load is tried again next time. */
export function loadCurves(): Promise<void> {
  loading ??= import('./curves.js').then(
    ({ NobleBLS, NobleBN254 }) => {
      loaded = { bls: new NobleBLS(), bn254: new NobleBN254() };
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

function curves(): Curves {
  if (loaded !== undefined) return loaded;
  const reason = 'the curves are not loaded';
  throw new PlumblineError('INTERNAL', reason, { reason });
}

/** BLS12-381; usable after `loadCurves`. */
export const lazyBls: EVMBLSInterface = {
  addG1: (input) => curves().bls.addG1(input),
  addG2: (input) => curves().bls.addG2(input),
  mapFPtoG1: (input) => curves().bls.mapFPtoG1(input),
  mapFP2toG2: (input) => curves().bls.mapFP2toG2(input),
  msmG1: (input) => curves().bls.msmG1(input),
  msmG2: (input) => curves().bls.msmG2(input),
  pairingCheck: (input) => curves().bls.pairingCheck(input),
};

/**
 * BN254; usable after `loadCurves`. @ethereumjs/evm 10.1 uses its own, unless the build of the worker replaced that.
 */
export const lazyBn254: EVMBN254Interface = {
  add: (input) => curves().bn254.add(input),
  mul: (input) => curves().bn254.mul(input),
  pairing: (input) => curves().bn254.pairing(input),
};
