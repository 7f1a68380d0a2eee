/**
 * What blocks do beside their transactions: they call contracts of the system, collect the requests that these leave for the consensus
 * layer, and pay withdrawals.
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { PlumblineError } from '../errors.js';
import { EMPTY_CODE_HASH, EMPTY_REQUESTS_HASH, HISTORY_CONTRACT } from '../ethereum/constants.js';
import type { Withdrawal } from '../ethereum/ordered-trie.js';
import type { Log } from '../ethereum/receipt.js';
import { exceptionText } from '../kernel/evm.js';
import { bytesToBigInt, concatBytes, equalBytes, joinBytes, ZERO_WORD } from '../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import type { BlockStep } from './accesses.js';
import { handInCertain, type Machine, runToEnd } from './machine.js';
import { RunBudget } from './run-budget.js';
import type { StateOverlay } from './state-overlay.js';
import { NO_ACCOUNT } from './state-reader.js';

export const SYSTEM_ADDRESS: Uint8Array = hexToBytes('0xfffffffffffffffffffffffffffffffffffffffe', 20);
const SYSTEM_CALL_GAS = 30_000_000n;
/** Room for 16 new slots, from Amsterdam on (EIP-8037). */
const SYSTEM_CALL_STATE_GAS = 16n * 97_920n;

/** Contract that stores parent beacon block roots (EIP-4788). */
export const BEACON_ROOTS_ADDRESS: Uint8Array = hexToBytes('0x000f3df6d732807ef1319fb7b8bb8522d0beac02', 20);

/**
 * Calls the system contracts before the first transaction of a block: with the parent beacon block root from Cancun on,
 * with the parent's hash from Prague on. Contracts that are not deployed are skipped.
 *
 * @param budget - for the gas of blocks that are simulated; unlimited when left out
 * @param step - notes what they access
 */
export async function runSystemCalls(machine: Machine, budget?: RunBudget, step?: BlockStep): Promise<void> {
  const { block, rules } = machine;
  if (rules.cancun) {
    await systemCall(machine, BEACON_ROOTS_ADDRESS, async () => block.parentBeaconBlockRoot ?? ZERO_WORD, budget, step);
  }
  if (rules.prague && block.number > 0) {
    await systemCall(machine, HISTORY_CONTRACT, () => block.blockHash(block.number - 1), budget, step);
  }
}

/**
 * Calls a contract as the system, outside of transactions.
 *
 * @param contract - 20 bytes
 * @returns the result; undefined if the contract is not deployed
 */
async function systemCall(
  machine: Machine,
  contract: Uint8Array,
  input: () => Promise<Uint8Array>,
  budget = new RunBudget(),
  step?: BlockStep,
): Promise<{ readonly returnData: Uint8Array; readonly exception: string | undefined } | undefined> {
  const { state, rules } = machine;
  await step?.touch(contract);
  const account = await state.account(contract);
  if (account === undefined || (await state.code(account.codeHash)).length === 0) return undefined;
  const data = await input();
  const stateGas = rules.amsterdam ? SYSTEM_CALL_STATE_GAS : 0n;
  const kernel = await machine.enter();
  await handInCertain(kernel, state, { accounts: [], recipient: contract });
  machine.begin(kernel, { origin: SYSTEM_ADDRESS, gasPrice: 0n, blobHashes: [] });
  try {
    kernel.start({ caller: SYSTEM_ADDRESS, to: contract, value: 0n, data, gas: SYSTEM_CALL_GAS, stateGas });
    await runToEnd(machine, kernel, budget, undefined);
    const outcome = { returnData: kernel.returned(), exception: exceptionText(kernel.result().exception) };
    kernel.finish();
    if (step !== undefined)
      for (const { address, slots } of kernel.loads())
        if (!equalBytes(address, SYSTEM_ADDRESS)) await step.touch(address, slots);
    machine.commit(kernel);
    return outcome;
  } catch (error) {
    kernel.rollback();
    throw error;
  }
}

/** Queue of withdrawal requests (EIP-7002). */
export const WITHDRAWAL_REQUESTS_ADDRESS: Uint8Array = hexToBytes('0x00000961ef480eb55e80d19ad83579a64c007002', 20);
/** Queue of consolidation requests (EIP-7251). */
export const CONSOLIDATION_REQUESTS_ADDRESS: Uint8Array = hexToBytes('0x0000bbddc7ce488642fb579f8b00f3a590007251', 20);

/** Queue of deposits of builders, from Amsterdam on (EIP-8282). */
const BUILDER_DEPOSITS_ADDRESS = hexToBytes('0x0000bff46984e3725691fa540a8c7589300d8282', 20);
/** Queue of exits of builders (EIP-8282). */
const BUILDER_EXITS_ADDRESS = hexToBytes('0x000064d678505ad48f8ccb093bc65613800e8282', 20);

/** DepositEvent(bytes,bytes,bytes,bytes,bytes) (EIP-6110). */
const DEPOSIT_TOPIC = hexToBytes('0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5', 32);
/** Lengths in bytes of the event's five fields: public key, withdrawal credentials, amount, signature, index. */
const DEPOSIT_MEMBERS = [48, 32, 8, 96, 8];
const DEPOSIT_EVENT_BYTES = 576;
const DEPOSIT = 0;
const WITHDRAWAL = 1;
const CONSOLIDATION = 2;
const BUILDER_DEPOSIT = 3;
const BUILDER_EXIT = 4;
/** In order of type. The first two are there from Prague on, the others from Amsterdam on. */
const QUEUES: readonly (readonly [type: number, contract: Uint8Array])[] = [
  [WITHDRAWAL, WITHDRAWAL_REQUESTS_ADDRESS],
  [CONSOLIDATION, CONSOLIDATION_REQUESTS_ADDRESS],
  [BUILDER_DEPOSIT, BUILDER_DEPOSITS_ADDRESS],
  [BUILDER_EXIT, BUILDER_EXITS_ADDRESS],
];
const NO_INPUT = async () => new Uint8Array(0);

/**
 * The requests of a block to the beacon chain, collected after its last transaction: deposits from the logs,
 * withdrawals, consolidations, and from Amsterdam on deposits and exits of builders from their queues. Kinds without requests are
 * left out.
 *
 * @param logs - of the block
 * @param depositContract - 20 bytes; if undefined, there are no deposits
 * @param budget - as of `runSystemCalls`
 * @param step - as of `runSystemCalls`
 * @returns type byte and content of each, in order of type
 * @throws PlumblineError `EXECUTION_FAILED` when a queue contract fails or a deposit event is malformed
 * @source EIP-7685, EIP-6110, EIP-7002, EIP-7251, EIP-8282
 */
export async function collectRequests(
  machine: Machine,
  logs: readonly Log[],
  depositContract: Uint8Array | undefined,
  budget?: RunBudget,
  step?: BlockStep,
): Promise<Uint8Array[]> {
  const deposits = depositContract === undefined ? new Uint8Array(0) : depositsOf(logs, depositContract);
  const contents: [number, Uint8Array][] = [[DEPOSIT, deposits]];
  for (const [type, contract] of machine.rules.amsterdam ? QUEUES : QUEUES.slice(0, 2))
    contents.push([type, await queued(machine, contract, budget, step)]);
  return contents
    .filter(([, content]) => content.length > 0)
    .map(([type, content]) => concatBytes(Uint8Array.of(type), content));
}

/** `requestsHash` of a header, 32 bytes (EIP-7685). */
export function requestsHash(requests: readonly Uint8Array[]): Uint8Array {
  if (requests.length === 0) return EMPTY_REQUESTS_HASH;
  return sha256(joinBytes(requests.map((request) => sha256(request))));
}

/** @throws PlumblineError `EXECUTION_FAILED` if a queue is not deployed, which makes a block of Amsterdam invalid */
export async function requireQueues({ state }: Machine): Promise<void> {
  for (const [, contract] of QUEUES) {
    const code = await state.code((await state.account(contract))?.codeHash ?? EMPTY_CODE_HASH);
    if (code.length === 0) throw failed(`request queue ${bytesToHex(contract)} has no code`);
  }
}

async function queued(
  machine: Machine,
  contract: Uint8Array,
  budget: RunBudget | undefined,
  step: BlockStep | undefined,
): Promise<Uint8Array> {
  const result = await systemCall(machine, contract, NO_INPUT, budget, step);
  if (result?.exception === undefined) return result?.returnData ?? new Uint8Array(0);
  throw failed(`request queue ${bytesToHex(contract)}: ${result.exception}`);
}

function depositsOf(logs: readonly Log[], contract: Uint8Array): Uint8Array {
  const deposits = logs
    .filter(({ address, topics }) => equalBytes(address, contract) && equalBytes(topics[0] ?? address, DEPOSIT_TOPIC))
    .map(({ data }) => depositOf(data));
  return joinBytes(deposits);
}

/** The five fields of the event, concatenated. In the event, each follows an offset and its length. */
function depositOf(data: Uint8Array): Uint8Array {
  if (data.length !== DEPOSIT_EVENT_BYTES)
    throw failed(`a deposit event must have ${DEPOSIT_EVENT_BYTES} bytes, got ${data.length}`);
  const word = (at: number) => bytesToBigInt(data.subarray(at, at + 32));
  let at = 32 * DEPOSIT_MEMBERS.length;
  const members = DEPOSIT_MEMBERS.map((length, i) => {
    if (word(32 * i) !== BigInt(at) || word(at) !== BigInt(length))
      throw failed('a deposit event has another layout than the deposit contract writes');
    const member = data.subarray(at + 32, at + 32 + length);
    at += 32 + 32 * Math.ceil(length / 32);
    return member;
  });
  return joinBytes(members);
}

function failed(reason: string): PlumblineError<'EXECUTION_FAILED'> {
  return new PlumblineError('EXECUTION_FAILED', reason, { reason });
}

const GWEI = 10n ** 9n;

/** Pays the withdrawals of a block (EIP-4895). @param step - as of `runSystemCalls` */
export async function payWithdrawals(
  state: StateOverlay,
  withdrawals: readonly Withdrawal[],
  step?: BlockStep,
): Promise<void> {
  for (const { address, amount } of withdrawals) {
    await step?.touch(address);
    if (amount > 0n) await credit(state, address, amount * GWEI);
  }
}

/** Adds to the balance of an account, outside of transactions. @param address - 20 bytes */
export async function credit(state: StateOverlay, address: Uint8Array, wei: bigint): Promise<void> {
  const account = (await state.account(address)) ?? NO_ACCOUNT;
  state.setAccount(address, { ...account, balance: account.balance + wei });
}
