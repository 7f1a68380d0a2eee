import { signal } from '@preact/signals';
import type { Hex } from 'plumbline-l2';
import type { HashScheme, LineaProofJson, LineaProofVerdict } from 'plumbline-l2/verify';
import type { Knowledge } from '../state/requests.js';
import type { Anatomy } from './anatomy.js';
import type { Check } from './checks.js';
import type { Tampering } from './tamper.js';

/** Where the root came from that a proof was checked against. */
export interface TrustedRoot {
  readonly hash: Hex;
  readonly block: number | undefined;
  readonly from: string;
  /** What it is, behind “leads to”: no more than is known of it. */
  readonly name: string;
  readonly known: Knowledge | undefined;
  /** How a value is known that a proof ties to it; undefined if the root is not known. */
  readonly proves: Knowledge | undefined;
}

/** A proof with its verdict, and everything that is drawn of it. */
export interface Examined {
  readonly answer: LineaProofJson;
  readonly known: Knowledge | undefined;
  readonly scheme: HashScheme;
  readonly root: TrustedRoot;
  readonly verdict: LineaProofVerdict;
  readonly checks: readonly Check[];
  /** Undefined where the answer cannot be hashed, so that there is nothing to draw. */
  readonly drawings: readonly Anatomy[] | undefined;
  readonly ms: number;
  /** What was changed in the answer before it was looked at. */
  readonly tampered: Tampering | undefined;
}

export const examined = signal<Examined | undefined>(undefined);
