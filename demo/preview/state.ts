import { computed, signal } from '@preact/signals';
import {
  type AddressLookup,
  DEV_ACCOUNTS,
  type Hex,
  NETWORKS,
  type PlumblineNode,
  type PreviewCall,
  type SignaturePreview,
  type TransactionPreview,
} from 'plumbline-l2';
import { type CallForm, callFieldsOf, callFormOf, readCall } from '../lib/calls.js';
import { PageError } from '../lib/explain.js';
import { pretty } from '../lib/format.js';
import { type Fields, type Question, question, showLink } from '../state/link.js';
import { type Answer, ask, askBeside } from '../state/requests.js';
import { running } from '../state/session.js';
import type { Settings } from '../state/settings.js';
import { onNetwork } from '../state/token.js';
import { addressesIn, ensNames, findNames, namesAsked, type Said } from './ens.js';
import { CONTRACTS, EXAMPLES, type ExampleName, SIGNATURE, SIGNER } from './examples.js';
import { readPasted, readToSign } from './paste.js';

export type Way = 'example' | 'form' | 'paste' | 'signature';

export const way = signal<Way>('example');
export const example = signal<ExampleName>('drainer');
export const form = signal<CallForm>({
  kind: 'token',
  from: DEV_ACCOUNTS[0]!.address,
  to: DEV_ACCOUNTS[1]!.address,
  amount: '1',
  data: '0x',
});
export const shownForm = computed(() => onNetwork(form.value));
/** What is to be signed, as JSON or hex. */
export const toSign = signal(pretty(SIGNATURE));
export const signer = signal<Hex>(SIGNER);
/** The text under “Paste”; empty until that way is chosen. */
export const pasted = signal('');

/** What is previewed: calls, or bytes of signed transactions. */
export type Previewed = PreviewCall | Hex;

export interface Shown {
  readonly answer: Answer<TransactionPreview>;
  readonly calls: readonly Previewed[];
  /** The node that could send them; undefined for calls on another chain. */
  readonly node: PlumblineNode | undefined;
  readonly question: Question;
}

export const shown = signal<Shown | undefined>(undefined);

/** A signature that was previewed. */
export interface ShownSignature {
  readonly answer: Answer<SignaturePreview>;
  readonly question: Question;
}

export const shownSignature = signal<ShownSignature | undefined>(undefined);

/** Chooses a way. “Paste” begins with what was previewed last, and stays so: no answer that comes later replaces it. */
export function choose(chosen: Way): void {
  if (chosen === 'paste' && pasted.value === '')
    pasted.value = pretty(shown.value?.calls ?? EXAMPLES[example.value].calls);
  way.value = chosen;
}

/** Whether the examples can run: they use accounts and the token of devnets. */
export const hasExamples = computed(() => onNetwork(form.value).hasToken);

/** What the form says. */
export const fields = computed<Fields>(() => {
  if (way.value === 'example') return { way: 'example', example: example.value };
  if (way.value === 'signature') return { way: 'signature', account: signer.value, text: toSign.value };
  return way.value === 'form'
    ? { way: 'form', ...callFieldsOf(shownForm.value) }
    : { way: 'paste', text: pasted.value };
});

/** Puts what a link says into the form. */
export function fill(params: URLSearchParams): void {
  const text = params.get('text');
  const name = params.get('example');
  if (params.get('way') === 'signature') {
    toSign.value = text ?? toSign.value;
    signer.value = (params.get('account') ?? signer.value) as Hex;
    way.value = 'signature';
    return;
  }
  if (text !== null) pasted.value = text;
  else if (name !== null && Object.hasOwn(EXAMPLES, name)) example.value = name as ExampleName;
  else form.value = { ...form.value, ...callFormOf(params) };
  way.value = text !== null ? 'paste' : params.get('way') === 'form' ? 'form' : 'example';
}

/**
 * Previews what is chosen. What fails leaves no older preview standing, which would seem to be its own.
 *
 * @throws Error of the form, ProviderRpcError of the node
 */
export async function preview(): Promise<void> {
  shown.value = undefined;
  shownSignature.value = undefined;
  naming.abort();
  const now = running.value;
  if (now === undefined) throw new PageError('PAGE', 'No node is running. Start one under “Node”.');
  const { node, settings } = now;
  if (way.value === 'signature') return previewSignature(node, settings);
  const isExample = way.value === 'example';
  const calls = callsOf();
  const asked = question('preview', fields.value);
  if (settings.kind === 'devnet') await placeContracts();
  const stateOverrides = isExample && settings.kind !== 'devnet' ? CONTRACTS : undefined;
  const answer = await askBeside(
    'previewTransaction',
    calls,
    () => node.previewTransaction(calls, stateOverrides === undefined ? {} : { stateOverrides }),
    ({ trust, seen }) => ({
      class: 'computed',
      level: trust.level,
      block: trust.block.number,
      evidence: { trust, seen },
    }),
  );
  shown.value = { answer, calls, node, question: asked };
  showLink(asked);
  nameAccounts(settings, answer.result);
}

async function previewSignature(node: PlumblineNode, settings: Settings): Promise<void> {
  const request = readToSign(toSign.value);
  const asked = question('preview', fields.value);
  if (settings.kind === 'devnet') await placeContracts();
  const options = { account: signer.value, origin: location.origin };
  const answer = await askBeside(
    'previewSignature',
    [request, options],
    () => node.previewSignature(request, options),
    ({ trust, seen, evidence }) => ({
      class: 'computed',
      level: trust.level,
      block: trust.block.number,
      evidence: { trust, seen, ...evidence },
    }),
  );
  shownSignature.value = { answer, question: asked };
  showLink(asked);
  nameAccounts(settings, { ...answer.result.effects, warnings: answer.result.findings });
}

/** Ends the lookups of the preview before. */
let naming = new AbortController();

/** Looks for names of what is shown already, on a network with ENS. Nothing waits for it. */
function nameAccounts({ kind, network }: Settings, said: Said): void {
  ensNames.value = new Map();
  namesAsked.value = 0;
  if (kind === 'devnet' || NETWORKS[network].ens === undefined) return;
  naming = new AbortController();
  const { signal: abort } = naming;
  const lookUp = async (address: Hex) =>
    (await ask<AddressLookup>('plumbline_lookupAddress', [address], { quiet: true, signal: abort })).result;
  void findNames(addressesIn(said), lookUp, abort);
}

function callsOf(): readonly Previewed[] {
  if (way.value === 'example') return EXAMPLES[example.value].calls;
  return way.value === 'form' ? [readCall(shownForm.value)] : readPasted(pasted.value);
}

/** Puts the contracts of the examples into the devnet of the page, if they are not there yet. */
async function placeContracts(): Promise<void> {
  for (const [address, { code, stateDiff }] of Object.entries(CONTRACTS)) {
    const { result: held } = await ask<Hex>('eth_getCode', [address, 'latest'], { quiet: true });
    if (held === code) continue;
    await ask('anvil_setCode', [address, code], { quiet: true });
    for (const [slot, value] of Object.entries(stateDiff))
      await ask('anvil_setStorageAt', [address, slot, value], { quiet: true });
  }
}
