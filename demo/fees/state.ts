import { computed, signal } from '@preact/signals';
import { DEV_ACCOUNTS, type ExplainedEstimate, GAS_SEARCHES, type GasSearch, type Hex, TEST_TOKEN } from 'plumbline-l2';
import { balanceSlot } from '../lib/balance-slot.js';
import {
  type CallFields,
  type CallForm,
  callFieldsOf,
  callFormOf,
  readCall,
  requireAddress,
  word,
} from '../lib/calls.js';
import { PageError } from '../lib/explain.js';
import { formatUnits, parseUnits } from '../lib/format.js';
import { type OverrideKind, type OverrideRow, readOverrides } from '../lib/overrides.js';
import { type Fields, type Question, question, showLink } from '../state/link.js';
import { type Answer, ask, askBeside } from '../state/requests.js';
import { running } from '../state/session.js';
import { onNetwork } from '../state/token.js';

/** A gas search by name, or the one of the node. */
export type Search = 'node' | GasSearch;

export const form = signal<CallForm>({
  kind: 'token',
  from: DEV_ACCOUNTS[0]!.address,
  to: DEV_ACCOUNTS[1]!.address,
  amount: '1',
  data: '0x',
});
export const shownForm = computed(() => onNetwork(form.value));
export const search = signal<Search>('node');
export const rows = signal<readonly OverrideRow[]>([]);

/** The newest estimate with the call it is of. */
export interface Shown {
  readonly answer: Answer<ExplainedEstimate>;
  readonly call: CallFields;
  readonly overridden: boolean;
  readonly question: Question;
}

export interface Sent {
  readonly hash: Hex;
  readonly succeeded: boolean;
  readonly block: number;
  readonly gasUsed: bigint;
  /** Wei that was paid for gas. */
  readonly paid: bigint;
}

export const shown = signal<Shown | undefined>(undefined);
export const sent = signal<Answer<Sent> | undefined>(undefined);

/** What the form says. */
export const fields = computed<Fields>(() => ({
  ...callFieldsOf(shownForm.value),
  ...(search.value !== 'node' && { search: search.value }),
  ...(rows.value.length > 0 && { overrides: JSON.stringify(rows.value.map(({ id: _, ...row }) => row)) }),
}));

/** Puts what a link says into the form. */
export function fill(params: URLSearchParams): void {
  form.value = callFormOf(params);
  search.value = GAS_SEARCHES.find((name) => name === params.get('search')) ?? 'node';
  rows.value = [];
  for (const row of rowsOf(params.get('overrides') ?? '[]')) addRow('balance', row);
}

/** Rows of a link, which may have been changed by hand. */
function rowsOf(text: string): Partial<OverrideRow>[] {
  try {
    const list = JSON.parse(text) as unknown;
    const isRow = (row: unknown) => {
      return typeof row === 'object' && row !== null && Object.values(row).every((value) => typeof value === 'string');
    };
    return Array.isArray(list) ? list.filter(isRow) : [];
  } catch {
    return [];
  }
}

let nextRow = 1;

export function addRow(kind: OverrideKind, given: Partial<OverrideRow> = {}): void {
  const { from } = form.value;
  rows.value = [...rows.value, { id: nextRow++, address: from, kind, slot: '', value: '', ...given }];
}

export function changeRow(id: number, part: Partial<OverrideRow>): void {
  rows.value = rows.value.map((row) => (row.id === id ? { ...row, ...part } : row));
}

export function removeRow(id: number): void {
  rows.value = rows.value.filter((row) => row.id !== id);
}

/** Plenty: a million ether, and of the test token as much, beside what is sent. */
const PLENTY = 10n ** 24n;

/**
 * The sender has what it spends, whatever the chain says: ether for the amount and the fee, and tokens where it sends them.
 *
 * @throws Error of the form
 */
export function addExample(): void {
  const { kind, from, amount } = shownForm.value;
  const sender = requireAddress(from, 'From');
  const sum = PLENTY + parseUnits(amount.trim() === '' ? '0' : amount, 18, kind === 'token' ? 'Tokens' : 'Ether');
  const slot = balanceSlot(sender);
  rows.value = rows.value.filter((row) => row.slot !== slot && !(row.kind === 'balance' && row.address === sender));
  addRow('balance', { address: sender, value: formatUnits(kind === 'token' ? PLENTY : sum, 18, '') });
  if (kind === 'token') addRow('slot', { address: TEST_TOKEN, slot, value: `0x${word(sum.toString(16))}` });
}

/**
 * Estimates what the form says. What fails leaves no older estimate standing, which would seem to be its own.
 *
 * @throws Error of the form, ProviderRpcError of the method
 */
export async function estimate(): Promise<void> {
  try {
    await estimateNow();
  } catch (error) {
    shown.value = undefined;
    // By it the amounts of the error are given in the unit of the token.
    throw Object.assign(error as Error, {
      contract: shownForm.value.kind === 'token' ? TEST_TOKEN : shownForm.value.to,
    });
  }
}

async function estimateNow(): Promise<void> {
  const node = running.value?.node;
  if (node === undefined) throw new PageError('PAGE', 'No node is running. Start one under “Node”.');
  const call = readCall(shownForm.value);
  const overrides = readOverrides(rows.value);
  const gasSearch = search.value;
  const params = overrides === undefined ? [call] : [call, overrides];
  const asked = question('fees', fields.value);
  const answer = await askBeside(
    'linea_estimateGas',
    params,
    () => node.explainEstimate(params, gasSearch === 'node' ? {} : { gasSearch }),
    ({ evidence }) => ({ class: 'computed', level: evidence.trust, block: evidence.block, evidence }),
  );
  sent.value = undefined;
  shown.value = { answer, call, overridden: overrides !== undefined, question: asked };
  showLink(asked);
}

interface Receipt {
  readonly status: Hex;
  readonly blockNumber: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
}

/** Sends the estimated call with just the estimated limit and fees; the devnet signs for its own accounts. */
export async function send({ answer, call }: Shown): Promise<void> {
  const { gasLimit, priorityFeePerGas, evidence } = answer.result;
  const fees = { gas: gasLimit, maxFeePerGas: evidence.maxFeePerGas, maxPriorityFeePerGas: priorityFeePerGas };
  const { result: hash } = await ask<Hex>('eth_sendTransaction', [{ ...call, ...fees }]);
  if (running.value?.settings.mining === 'manual') await ask('evm_mine');
  const receipt = await ask<Receipt>('eth_getTransactionReceipt', [hash]);
  const { status, blockNumber, effectiveGasPrice } = receipt.result;
  const gasUsed = BigInt(receipt.result.gasUsed);
  sent.value = {
    ...receipt,
    result: {
      ...{ hash, succeeded: status === '0x1', block: Number(blockNumber), gasUsed },
      paid: gasUsed * BigInt(effectiveGasPrice),
    },
  };
}
