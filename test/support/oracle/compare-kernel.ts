import { expect } from 'vitest';
import { type Alloc, AllocState } from '../../../conformance/alloc-state.js';
import { Machine } from '../../../src/evm/machine.js';
import { type AccountChange, StateOverlay } from '../../../src/evm/state-overlay.js';
import { runTransaction } from '../../../src/evm/transaction.js';
import type { TransactionMessage, TransactionOutcome } from '../../../src/evm/transaction-message.js';
import { preferEvmBuild } from '../../../src/kernel/evm-module.js';
import { HARDFORKS, type Hardfork } from '../../../src/networks/network.js';
import { compareBytes, concatBytes, isZeroBytes } from '../../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../../src/primitives/hex.js';
import { blockContext } from '../evm.js';
import { PROGRAM_COINBASE } from '../random-programs.js';
import { OracleMachine } from './machine.js';
import { OracleOverlay } from './state-overlay.js';
import { oracleTransaction } from './transaction.js';

const CHAIN_ID = 1;
/** After so many runs all that they have changed is compared, too: what they have changed only grows. */
const TOGETHER = 16;

/** Place of a fork among all of them. */
export const forkIndex = (hardfork: Hardfork) => HARDFORKS.indexOf(hardfork);

/** One of the two: a machine with its way to run a transaction. */
interface Subject {
  run(message: TransactionMessage): Promise<TransactionOutcome>;
  changes(): Promise<readonly AccountChange[]>;
}

async function open(subject: 'oracle' | 'simd' | 'scalar', hardfork: Hardfork, alloc: Alloc): Promise<Subject> {
  const blobs = { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477n };
  const forks = [{ hardfork, block: 0, ...(forkIndex(hardfork) >= forkIndex('cancun') && { blobs }) }];
  const london = forkIndex(hardfork) >= forkIndex('london');
  const block = blockContext({
    gasLimit: 100_000_000n,
    baseFeePerGas: london ? 7n : 0n,
    coinbase: hexToBytes(PROGRAM_COINBASE),
    prevRandao: new Uint8Array(32).fill(0x5a),
    difficulty: forkIndex(hardfork) < forkIndex('paris') ? 131_072n : undefined,
    blobBaseFee: 3n,
  });
  const options = {
    leniency: { nonce: 'any', gasAboveCap: true },
    counting: true,
    reportTouched: true,
  } as const;
  const network = { chainId: CHAIN_ID, forks };
  const reader = new AllocState(alloc);
  if (subject === 'oracle') {
    const machine = await OracleMachine.open(network, block, new OracleOverlay(reader));
    return {
      run: (message) => oracleTransaction(machine, message, options),
      changes: () => machine.state.changes(),
    };
  }
  const machine = await Machine.open(network, block, new StateOverlay(reader));
  preferEvmBuild(subject);
  await machine.enter();
  preferEvmBuild('auto');
  return {
    run: (message) => runTransaction(machine, message, options),
    changes: () => machine.state.changes(),
  };
}

/** What @ethereumjs/evm says of a precompile that fails. */
const PRECOMPILE_FAILURES: readonly unknown[] = [
  ...['invalid input length', 'point not on curve', 'input is empty', 'fp point not in field', 'value out of range'],
  ...['revert', 'out of gas'],
];

/** What one run came to. */
interface Trace {
  readonly outcome: Record<string, unknown>;
  readonly touched: readonly string[];
  readonly changes: readonly AccountChange[] | undefined;
}

async function traceOf(subject: Subject, message: TransactionMessage, withChanges: boolean): Promise<Trace> {
  let outcome: Record<string, unknown>;
  let touched: string[] = [];
  try {
    const {
      spareGas: _,
      environment: _reads,
      touched: accesses = [],
      counts = {},
      ...rest
    } = await subject.run(message);
    // The oracle has no trusted setup: every point evaluation fails, and none is counted.
    const { PRECOMPILE_POINT_EVALUATION_FAILURE_EFFECTIVE_CALLS: __, ...counted } = counts;
    outcome = inOrder({ ...rest, counts: inOrder(counted) });
    touched = accesses.flatMap(({ address, storageKeys }) =>
      [new Uint8Array(0), ...storageKeys].map((key) => bytesToHex(concatBytes(address, key))),
    );
  } catch (error) {
    const { name, code, message: text, details } = error as Error & { code?: unknown; details?: unknown };
    outcome = { name, code, text, details };
  }
  return { outcome, touched, changes: withChanges ? sorted(await subject.changes()) : undefined };
}

function inOrder(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** In an order of their own: that of the first writes is not compared. */
function sorted(changes: readonly AccountChange[]): AccountChange[] {
  return [...changes]
    .sort((a, b) => compareBytes(a.address, b.address))
    .map((change) => ({ ...change, slots: [...change.slots].sort((a, b) => compareBytes(a.key, b.key)) }));
}

export function show(value: unknown): string {
  return JSON.stringify(
    value,
    (_, member: unknown) => {
      if (member instanceof Uint8Array) return bytesToHex(member);
      return typeof member === 'bigint' ? `${member}n` : member;
    },
    1,
  );
}

/** Runs the messages one after another on kernel and oracle, and compares after each. @returns how the runs ended */
export async function compare(
  hardfork: Hardfork,
  alloc: Alloc,
  messages: readonly TransactionMessage[],
): Promise<string[]> {
  const oracle = await open('oracle', hardfork, alloc);
  const kernel = await open('simd', hardfork, alloc);
  const scalar = await open('scalar', hardfork, alloc);
  const ends: string[] = [];
  for (const [i, message] of messages.entries()) {
    const withChanges = i % TOGETHER === TOGETHER - 1 || i === messages.length - 1;
    const expected = await traceOf(oracle, message, withChanges);
    const actual = await traceOf(kernel, message, withChanges);
    // @ethereumjs/evm lists created contracts before Cancun, and accesses for which the gas was short.
    expect(expected.touched, `${hardfork} ${i}`).toEqual(expect.arrayContaining([...actual.touched]));
    const { outcome } = actual;
    const isPrecompile = message.to !== undefined && isZeroBytes(message.to.subarray(0, 18));
    if (isPrecompile && PRECOMPILE_FAILURES.includes(expected.outcome.exception)) {
      expect(['precompile failed', 'out of gas']).toContain(outcome.exception);
      expected.outcome.exception = outcome.exception;
    }
    // @ethereumjs/evm has no error of its own for it.
    if (outcome.exception === 'return data out of bounds' && expected.outcome.exception === 'out of gas')
      expected.outcome.exception = outcome.exception;
    const text = ({ outcome, changes }: Trace) => `${hardfork} ${i} ${show({ outcome, changes })}`;
    expect(text(actual)).toBe(text(expected));
    expect(await traceOf(scalar, message, withChanges)).toEqual(actual);
    ends.push(outcome.succeeded === true ? 'succeeded' : String(outcome.exception ?? outcome.code ?? 'thrown'));
  }
  return ends;
}
