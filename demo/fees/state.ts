import { computed, signal } from '@preact/signals';
import {
  DEV_ACCOUNTS,
  type ExplainedEstimate,
  type GasSearch,
  type Hex,
  TEST_TOKEN,
  tokenBalanceSlot,
} from 'plumbline-l2';
import { type CallFields, type CallForm, readCall } from '../lib/calls.js';
import { type OverrideKind, type OverrideRow, readOverrides } from '../lib/overrides.js';
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
}

export interface Sent {
  readonly hash: Hex;
  readonly succeeded: boolean;
  readonly block: number;
  readonly gasUsed: bigint;
}

export const shown = signal<Shown | undefined>(undefined);
export const sent = signal<Answer<Sent> | undefined>(undefined);

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

/** An example that makes a difference: the sender has what it spends, whatever the chain says. */
export function addExample(): void {
  const { kind, from } = shownForm.value;
  if (kind !== 'token') {
    addRow('balance', { value: '1000000' });
    return;
  }
  const owner = Uint8Array.from((from.slice(2).match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));
  const slot = [...tokenBalanceSlot(owner)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  addRow('slot', { address: TEST_TOKEN, slot: `0x${slot}`, value: `0x${(10n ** 25n).toString(16).padStart(64, '0')}` });
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
    throw error;
  }
}

async function estimateNow(): Promise<void> {
  const node = running.value?.node;
  if (node === undefined) throw new Error('No node is running. Start one under “Node”.');
  const call = readCall(shownForm.value);
  const overrides = readOverrides(rows.value);
  const gasSearch = search.value;
  const params = overrides === undefined ? [call] : [call, overrides];
  const answer = await askBeside(
    'linea_estimateGas',
    () => node.explainEstimate(params, gasSearch === 'node' ? {} : { gasSearch }),
    ({ evidence }) => ({ class: 'computed', level: evidence.trust, block: evidence.block, evidence }),
  );
  sent.value = undefined;
  shown.value = { answer, call, overridden: overrides !== undefined };
}

/** Sends the estimated call with just the estimated limit and fees; the devnet signs for its own accounts. */
export async function send({ answer, call }: Shown): Promise<void> {
  const { gasLimit, priorityFeePerGas, evidence } = answer.result;
  const fees = { gas: gasLimit, maxFeePerGas: evidence.maxFeePerGas, maxPriorityFeePerGas: priorityFeePerGas };
  const { result: hash } = await ask<Hex>('eth_sendTransaction', [{ ...call, ...fees }]);
  if (running.value?.settings.mining === 'manual') await ask('evm_mine');
  const receipt = await ask<{ status: Hex; blockNumber: Hex; gasUsed: Hex }>('eth_getTransactionReceipt', [hash]);
  const { status, blockNumber, gasUsed } = receipt.result;
  sent.value = {
    ...receipt,
    result: { hash, succeeded: status === '0x1', block: Number(blockNumber), gasUsed: BigInt(gasUsed) },
  };
}
