import { computed, signal } from '@preact/signals';
import {
  type ClaimPreparation,
  DEV_ACCOUNTS,
  type Hex,
  type LayerOneView,
  type MessageJson,
  type MessageList,
  type PlumblineNode,
  type ProvedBlocks,
  type SentMessage,
} from 'plumbline-l2';
import type { ClaimState } from 'plumbline-l2/verify';
import type { Shown as PreviewShown } from '../preview/state.js';
import type { Fields, Question } from '../state/link.js';
import { running } from '../state/session.js';

/** Sent by this page, on its devnet; or by anybody. */
export type Way = 'send' | 'follow';

/** Withdrawals that a visitor can begin with. */
export const EXAMPLES = {
  plain: { label: 'A withdrawal', hint: 'to an account that has nothing yet', amount: '1.5', fee: '0' },
  fee: { label: 'With a fee', hint: 'to pay whoever claims it', amount: '1.5', fee: '0.01' },
  refused: { label: 'To a contract that refuses it', hint: 'told before anybody claims it', amount: '1.5', fee: '0' },
} as const;

export type ExampleName = keyof typeof EXAMPLES;

export const way = signal<Way>('send');
export const example = signal<ExampleName>('plain');
export const recipient = signal<string>('0x00000000000000000000000000000000000c0ffe');
export const amount = signal<string>(EXAMPLES.plain.amount);
export const fee = signal<string>(EXAMPLES.plain.fee);
/** Hash of a message, or an address. */
export const wanted = signal<string>('');
/** Numbers of blocks, as typed. */
export const [first, last] = [signal(''), signal('')];

/** Only the devnet of the page signs for its accounts. */
export const isDevnet = computed(() => running.value?.settings.kind === 'devnet');

/** What the form asks for, where it asks and does not send. */
export const fields = computed<Fields>(() => ({ message: wanted.value, from: first.value, to: last.value }));

/** Puts what a link says into the form. */
export function fill(params: URLSearchParams): void {
  way.value = 'follow';
  wanted.value = params.get('message') ?? '';
  first.value = params.get('from') ?? '';
  last.value = params.get('to') ?? '';
}

/** Chooses an example. */
export function choose(name: ExampleName): void {
  example.value = name;
  amount.value = EXAMPLES[name].amount;
  fee.value = EXAMPLES[name].fee;
}

/** A block of layer 1. */
export interface At {
  readonly number: number;
  readonly timestamp: number;
}

/** Something that layer 1 did, by its logs. */
export interface Event extends At {
  readonly transaction: Hex;
}

/** What became of a withdrawal, as far as it could be followed. */
export interface Followed {
  readonly node: PlumblineNode;
  readonly rollup: Hex;
  /** Whether layer 1 is that of the devnet of this page. */
  readonly own: boolean;
  readonly message: MessageJson;
  /** Its log, where its block is known. */
  readonly sent: { readonly log: SentMessage; readonly proved: ProvedBlocks } | undefined;
  readonly claim: Exclude<ClaimPreparation, { readonly status: 'notFound' }>;
  /** What this page found itself: whether the branch leads to the root; undefined where there is no branch. */
  readonly branch: { readonly verified: boolean; readonly empty: readonly boolean[] } | undefined;
  /** What this page read itself of the slots; undefined where layer 1 did not answer, or not truly. */
  readonly slots: ClaimState | undefined;
  /** Storage key of the depth of the root. */
  readonly slot: Hex | undefined;
  /** The finalization that brought the root. */
  readonly finalized: Event | undefined;
  readonly claimed: (Event & { readonly before: bigint; readonly after: bigint }) | undefined;
}

/** The message that was asked for is not in the blocks that were read. */
export interface Missing {
  readonly proved: ProvedBlocks;
  readonly layerOne: LayerOneView;
}

export const followed = signal<
  | { readonly of: Followed; readonly question: Question }
  | { readonly missing: Missing; readonly question: Question }
  | undefined
>(undefined);

/** What an address sent, or is to get. */
export const listed = signal<
  { readonly address: Hex; readonly list: MessageList; readonly question: Question } | undefined
>(undefined);

/** What the claim would do. */
export const previewed = signal<PreviewShown | undefined>(undefined);

/** Who claims on a devnet. */
export const CLAIMER: Hex = DEV_ACCOUNTS[1]!.address;
/** Elsewhere, as typed; the recipient when left empty. */
export const claimer = signal('');
