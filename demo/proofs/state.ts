import { computed, signal } from '@preact/signals';
import { DEV_ACCOUNTS, type Hex, TEST_TOKEN } from 'plumbline-l2';
import type { HashScheme, LineaProofJson, LineaProofVerdict } from 'plumbline-l2/verify';
import { balanceSlot } from '../lib/balance-slot.js';
import type { Knowledge } from '../lib/trust.js';
import type { Fields, Question } from '../state/link.js';
import type { Anatomy } from './anatomy.js';
import type { Check } from './checks.js';
import { TAMPERINGS, type Tampering } from './tamper.js';

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
  readonly question: Question;
}

/** What the form that asks the node holds. */
export interface AskFormFields {
  readonly address: string;
  /** One a line. */
  readonly keys: string;
  readonly block: string;
}

/** What the form for a pasted answer holds. */
export interface PasteFormFields {
  readonly text: string;
  readonly root: string;
  readonly scheme: HashScheme;
}

export const source = signal<'ask' | 'paste'>('ask');
export const askForm = signal<AskFormFields>({
  address: TEST_TOKEN,
  keys: balanceSlot(DEV_ACCOUNTS[1]!.address),
  block: 'finalized',
});
/** How a copy is forged. */
export const tampering = signal<Tampering>('value');
export const pasteForm = signal<PasteFormFields>({ text: '', root: '', scheme: 'poseidon2' });

/** What the form says. */
export const fields = computed<Fields>(() => ({ ...(source.value === 'ask' ? askForm.value : pasteForm.value) }));

/** Puts what a link says into the form. */
export function fill(params: URLSearchParams): void {
  const text = (name: string) => params.get(name) ?? '';
  const forge = text('forge');
  if (Object.hasOwn(TAMPERINGS, forge)) tampering.value = forge as Tampering;
  source.value = params.has('text') ? 'paste' : 'ask';
  if (source.value === 'ask') askForm.value = { address: text('address'), keys: text('keys'), block: text('block') };
  else
    pasteForm.value = {
      text: text('text'),
      root: text('root'),
      scheme: text('scheme') === 'mimc' ? 'mimc' : 'poseidon2',
    };
}

export const examined = signal<Examined | undefined>(undefined);
