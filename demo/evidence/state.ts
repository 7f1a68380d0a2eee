import { computed, signal } from '@preact/signals';
import {
  type AnswerReport,
  DEV_ACCOUNTS,
  type EvidenceBundle,
  type Hex,
  type Network,
  type PlumblineNode,
} from 'plumbline-l2';
import type { VerifiedEvidence } from 'plumbline-l2/verify';
import type { Fields, Question } from '../state/link.js';
import { LIES, type LieName, type Said } from './lies.js';
import type { LinkName } from './links.js';
import type { Told } from './servers.js';

/** A balance with all that proves it. */
export interface Reading {
  /** The devnet behind the servers. */
  readonly node: PlumblineNode;
  readonly network: Network;
  /** Root of the beacon block that is trusted. */
  readonly checkpoint: Hex;
  readonly account: Hex;
  readonly balance: bigint;
  /** What the light node says of its answer. */
  readonly report: AnswerReport;
  readonly bundle: EvidenceBundle;
  /** What the bundle proves, judged once more in this page. */
  readonly proved: VerifiedEvidence;
  readonly told: Told;
  /** How many questions the balance took, and how long with the start of the node. */
  readonly asked: number;
  readonly ms: number;
}

/** How a light node refused a server that lied. */
export interface Refusal {
  readonly lie: LieName;
  readonly said: Said;
  readonly link: LinkName;
  readonly error: unknown;
}

export const account = signal<string>(DEV_ACCOUNTS[0]!.address);
export const lie = signal<LieName>('root');
/** What the form says. */
export const fields = computed<Fields>(() => ({ account: account.value }));

/** Puts what a link says into the form. */
export function fill(params: URLSearchParams): void {
  account.value = params.get('account') ?? '';
  const name = params.get('lie') ?? '';
  if (Object.hasOwn(LIES, name)) lie.value = name as LieName;
}

/** What is under way, in a sentence. */
export const stage = signal('');

/** `refusal`: of another light node, to which the servers said the same but for the lie. */
export const shown = signal<
  { readonly reading: Reading; readonly refusal?: Refusal; readonly question: Question } | undefined
>(undefined);
