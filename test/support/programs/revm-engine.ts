import type { TransactionMessage } from '../../../src/evm/transaction-message.js';
import { bytesToHex, type Hex } from '../../../src/primitives/hex.js';
import { toQuantity } from '../../../src/primitives/quantity.js';
import type { Anvil, RpcReply, RpcRequest } from '../anvil.js';
import { type AccountState, accountIn, codeHashOf, differencesFrom, endOf, type Outcome } from './outcome.js';
import { scenarioBlock } from './plumbline-engine.js';
import type { Scenario } from './scenario.js';

/** A frame of `callTracer`. */
interface Frame {
  readonly gasUsed: Hex;
  readonly output?: Hex;
  readonly error?: string;
  readonly calls?: readonly Frame[];
  readonly logs?: readonly { address: Hex; topics?: Hex[]; data?: Hex; index: Hex }[];
}

type Account = { nonce?: number; balance?: Hex; code?: Hex; storage?: Record<Hex, Hex> };
type Accounts = Record<Hex, Account>;

/** What `prestateTracer` gives in diff mode: of the accounts that changed the whole before, and what changed. */
interface Diff {
  readonly pre: Accounts;
  readonly post: Accounts;
}

const NO_WORD: Hex = `0x${'00'.repeat(32)}`;

/** Runs scenarios of one fork with revm, each on its own state. */
export async function runRevm(anvil: Anvil, scenarios: readonly Scenario[]): Promise<Outcome[]> {
  const requests = scenarios.flatMap((one) => [
    traceCall(one, 'callTracer', { withLog: true }),
    traceCall(one, 'prestateTracer', { diffMode: true }),
  ]);
  const replies = await anvil.batch<Frame & Diff>(requests);
  return scenarios.map((one, i) => outcomeOf(one, replies[2 * i]!, replies[2 * i + 1]!));
}

/** Gas left before an instruction of the outermost frame, and what it took; calls with what they passed on. */
export interface Step {
  readonly gas: number;
  readonly gasCost: number;
  readonly depth: number;
}

/** The instructions of a run's outermost frame, of the first `limit` instructions; none where it is refused. */
export async function stepsOf(anvil: Anvil, one: Scenario, limit: number): Promise<Step[]> {
  const options = { disableStorage: true, disableStack: true, enableMemory: false, limit };
  const [reply] = await anvil.batch<{ structLogs: Step[] }>([traceWith(one, options)]);
  return reply!.error === undefined ? reply!.result.structLogs.filter(({ depth }) => depth === 1) : [];
}

function traceCall(one: Scenario, tracer: string, tracerConfig: object): RpcRequest {
  return traceWith(one, { tracer, tracerConfig });
}

function traceWith({ alloc, message, hardfork }: Scenario, tracing: object): RpcRequest {
  const stateOverrides: Record<Hex, object> = {};
  for (const [address, { storage, ...account } = {}] of Object.entries(alloc)) {
    stateOverrides[address as Hex] = { ...account, ...(storage !== undefined && { state: storage }) };
  }
  const { number, timestamp, gasLimit, baseFeePerGas, coinbase, prevRandao } = scenarioBlock(hardfork);
  const blockOverrides = {
    number: toQuantity(number),
    time: toQuantity(timestamp),
    gasLimit: toQuantity(gasLimit),
    baseFee: toQuantity(baseFeePerGas),
    coinbase: bytesToHex(coinbase),
    random: bytesToHex(prevRandao),
  };
  const options = { ...tracing, stateOverrides, blockOverrides };
  return { method: 'debug_traceCall', params: [requestOf(message), 'latest', options] };
}

/** Type of the transaction (EIP-2718). */
export function typeOf({
  authorizationList,
  blobVersionedHashes,
  maxFeePerGas,
  accessList,
}: TransactionMessage): number {
  if (authorizationList !== undefined) return 4;
  if (blobVersionedHashes !== undefined) return 3;
  if (maxFeePerGas !== undefined) return 2;
  return accessList !== undefined ? 1 : 0;
}

/** A transaction as JSON-RPC has it. */
export function requestOf(message: TransactionMessage): object {
  const quantity = (name: string, value: bigint | undefined) => value !== undefined && { [name]: toQuantity(value) };
  const { accessList, authorizationList } = message;
  return {
    from: bytesToHex(message.from),
    ...(message.to !== undefined && { to: bytesToHex(message.to) }),
    nonce: toQuantity(message.nonce),
    gas: toQuantity(message.gasLimit),
    value: toQuantity(message.value),
    input: bytesToHex(message.data),
    ...quantity('gasPrice', message.gasPrice),
    ...quantity('maxFeePerGas', message.maxFeePerGas),
    ...quantity('maxPriorityFeePerGas', message.maxPriorityFeePerGas),
    ...quantity('maxFeePerBlobGas', message.maxFeePerBlobGas),
    ...(message.blobVersionedHashes && { blobVersionedHashes: message.blobVersionedHashes.map(bytesToHex) }),
    ...(accessList && {
      accessList: accessList.map(({ address, storageKeys }) => {
        return { address: bytesToHex(address), storageKeys: storageKeys.map(bytesToHex) };
      }),
    }),
    ...(authorizationList && {
      authorizationList: authorizationList.map(({ chainId, address, nonce, yParity, r, s }) => ({
        chainId: toQuantity(chainId),
        address: bytesToHex(address),
        nonce: toQuantity(nonce),
        yParity: toQuantity(yParity),
        r: toQuantity(r),
        s: toQuantity(s),
      })),
    }),
  };
}

function outcomeOf({ alloc, message: sent }: Scenario, traced: RpcReply<Frame>, diffed: RpcReply<Diff>): Outcome {
  if (traced.error !== undefined || diffed.error !== undefined) {
    const { message } = (traced.error ?? diffed.error)!;
    if (
      /CallGasCostMoreThanGasLimit|GasFloorMoreThanGasLimit|nsufficient funds|CreateInitCodeSizeLimit|EIP-?3860|max initcode/i.test(
        message,
      )
    ) {
      return { refused: true };
    }
    throw new Error(`revm: ${message}`);
  }
  const { gasUsed, error, output = '0x' } = traced.result;
  const gasLeft = sent.gasLimit - BigInt(gasUsed);
  const ended = endOf(error === undefined, error === 'execution reverted', output, gasLeft);
  const logs = error === undefined ? logsOf(traced.result) : [];
  const { pre, post } = diffed.result;
  const after = new Map<Hex, AccountState | 'gone'>();
  for (const address of new Set([...Object.keys(pre), ...Object.keys(post)]) as Set<Hex>) {
    const changed = post[address];
    if (changed === undefined) {
      after.set(address, 'gone');
      continue;
    }
    const before = accountIn(alloc, address);
    // A delegation that was taken back looks like one that stayed.
    const isCleared = alloc[address]?.code?.startsWith('0xef0100') === true && changed.nonce !== undefined;
    const keys = [...Object.keys(pre[address]?.storage ?? {}), ...Object.keys(changed.storage ?? {})] as Hex[];
    after.set(address, {
      nonce: changed.nonce === undefined ? before.nonce : BigInt(changed.nonce),
      balance: changed.balance === undefined ? before.balance : BigInt(changed.balance),
      codeHash: changed.code !== undefined ? codeHashOf(changed.code) : isCleared ? undefined : before.codeHash,
      slots: Object.fromEntries(keys.map((key) => [key, changed.storage?.[key] ?? NO_WORD])),
    });
  }
  return {
    ended,
    gasUsed: BigInt(gasUsed),
    returnData: ended === 'halt' ? '0x' : output,
    logs,
    state: differencesFrom(alloc, after),
  };
}

/** Logs of a frame and of those below that did not fail, in the order of their numbers. */
function logsOf(frame: Frame) {
  const found: NonNullable<Frame['logs']>[number][] = [];
  const visit = ({ logs = [], calls = [] }: Frame): void => {
    found.push(...logs);
    for (const inner of calls) if (inner.error === undefined) visit(inner);
  };
  visit(frame);
  found.sort((a, b) => Number(a.index) - Number(b.index));
  return found.map(({ address, topics = [], data = '0x' }) => ({ address, topics, data }));
}
