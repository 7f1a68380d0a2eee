import { describe, expect, it } from 'vitest';
import { type Alloc, AllocState } from '../../conformance/alloc-state.js';
import { besuSearch, type GasEstimate, gethSearch, type RunWithGas } from '../../src/evm/gas.js';
import type { Machine } from '../../src/evm/machine.js';
import { simulateTransaction } from '../../src/evm/transaction.js';
import type { TransactionMessage, TransactionOutcome } from '../../src/evm/transaction-message.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import {
  blockContext,
  COINBASE,
  CONTRACT,
  ETHER,
  message,
  networkAt,
  openMachine,
  SENDER,
  STRANGER,
} from '../support/evm.js';
import { GasPath } from '../support/oracle/gas-path.js';
import { OracleMachine } from '../support/oracle/machine.js';
import { OracleOverlay } from '../support/oracle/state-overlay.js';
import { oracleSimulation } from '../support/oracle/transaction.js';
import { seededRandom } from '../support/random.js';

/** The called contract first; each calls only later ones, so there is no end of them to fear. */
const CONTRACTS: readonly Hex[] = [CONTRACT, `0x${'c1'.repeat(20)}`, `0x${'c2'.repeat(20)}`, `0x${'c3'.repeat(20)}`];
const SHA256: Hex = `0x${'00'.repeat(19)}02`;
const CURVE_ADDITION: Hex = `0x${'00'.repeat(19)}06`;

type Below = (bound: number) => number;

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
const push1 = (value: number) => `60${hex(value, 2)}`;
const push3 = (value: number) => `62${hex(value, 6)}`;
const pushBalance = (value: bigint) => `67${value.toString(16).padStart(16, '0')}`;
const pushAddress = (address: Hex) => `73${address.slice(2)}`;

/** Reverts where the word on the stack is zero: `PC + 8` is the JUMPDEST behind it. */
const REVERT_UNLESS = '58600801575f5ffd5b';

/** What becomes of the word that tells whether a call went well: dropped, stored, or the caller reverts without it. */
function afterwards(below: Below): string {
  return ['50', `${push1(below(4))}55`, REVERT_UNLESS][below(3)]!;
}

function call(below: Below, depth: number): string {
  const later = CONTRACTS.slice(depth + 1);
  const targets = [...later, ...later, STRANGER, SHA256, ...(below(4) === 0 ? [CURVE_ADDITION] : [])];
  const target = targets[below(targets.length)]!;
  const kind = below(4);
  const value = kind < 2 && below(3) === 0 ? push1(below(9)) : '5f';
  // Either all there is, told by GAS, or a fixed amount; that one is often not enough.
  const gas = below(5) > 0 ? '5a' : push3(below(4) === 0 ? below(3_000) : 20_000 + below(100_000));
  const input = target === CURVE_ADDITION ? push1(64) : '5f';
  const tail = `${pushAddress(target)}${gas}`;
  const shared = `5f5f${input}5f`;
  const instruction = [`${value}${tail}f1`, `${value}${tail}f2`, `${tail}f4`, `${tail}fa`][kind]!;
  return `${shared}${instruction}${afterwards(below)}`;
}

/** Init code `SSTORE(0, n)`, and a byte of code to deposit or none; by CREATE or CREATE2. */
function create(below: Below): string {
  const code = `60${hex(below(3), 2)}5f5560${hex(below(2), 2)}5ff3`;
  const [length, instruction] = [code.length / 2, ['f0', 'f5'][below(2)]!];
  const salt = instruction === 'f5' ? push1(below(200)) : '';
  return `67${code}5f52${salt}${push1(length)}${push1(32 - length)}5f${instruction}${afterwards(below)}`;
}

/** Gas that is looked at for its own sake, or the balance that has paid for it. */
function look(below: Below): string {
  return [
    `5a${push3(below(200_000))}10${push1(below(4))}55`,
    `${push3(below(200_000))}5a10${REVERT_UNLESS}`,
    `${pushBalance(ETHER - BigInt(below(7 * 16_777_216)))}3231${['10', '11'][below(2)]}${REVERT_UNLESS}`,
    `5a505a${push1(1)}0150`,
  ][below(4)]!;
}

function instruction(below: Below, depth: number): string {
  const roll = below(100);
  if (roll < 30) return `${push1(below(3))}${push1(below(4))}55`;
  if (roll < 42) return `${push1(below(6))}5450`;
  if (roll < 50) return `5f${push3(below(4_000))}52`;
  if (roll < 56) return `${push1(below(200))}5f2050`;
  if (roll < 60) return `${push1(below(200))}5fa0`;
  if (roll < 64) return `${pushAddress(below(2) === 0 ? STRANGER : (COINBASE as Hex))}3150`;
  if (roll < 67) return create(below);
  if (roll < 72) return look(below);
  return call(below, depth);
}

function ending(below: Below): string {
  const roll = below(40);
  if (roll === 0) return 'fe';
  if (roll < 4) return '5f5ffd';
  if (roll < 6) return `${pushAddress(STRANGER)}ff`;
  return roll < 20 ? '00' : '60205ff3';
}

function program(below: Below, depth: number): Hex {
  const length = 1 + below(depth === 0 ? 8 : 6);
  return `0x${Array.from({ length }, () => instruction(below, depth)).join('')}${ending(below)}`;
}

function worldOf(below: Below): Alloc {
  const alloc: Alloc = { [SENDER]: { balance: `0x${ETHER.toString(16)}` } };
  for (const [depth, address] of CONTRACTS.entries()) {
    const storage: Record<Hex, Hex> = {};
    for (let slot = 0; slot < 4; slot++) {
      if (below(2) === 0) storage[`0x${hex(slot, 64)}`] = `0x${hex(1 + below(2), 64)}`;
    }
    alloc[address] = { nonce: '0x1', balance: '0x4', code: program(below, depth), storage };
  }
  return alloc;
}

const codeOf = (alloc: Alloc) => hexToBytes(alloc[CONTRACT]!.code!);

const leniency = { nonce: 'future', lowPrice: true, unfunded: true, contractSender: true } as const;

function runsOf(machine: Machine, call: Partial<TransactionMessage>): RunWithGas {
  return (gasLimit) => simulateTransaction(machine, message({ gasLimit, ...call }), { leniency });
}

/** Spare gas of the same run by hooks in @ethereumjs/evm. */
async function oracleSpareGas(alloc: Alloc, call: Partial<TransactionMessage>, gasLimit: bigint) {
  const overlay = new OracleOverlay(new AllocState(alloc));
  const machine = await OracleMachine.open(networkAt('osaka'), blockContext(), overlay);
  const path = new GasPath();
  await oracleSimulation(machine, message({ gasLimit, ...call }), { leniency, path });
  return path.spareGas;
}

const told = ({ succeeded, gasUsed, gasUsedBeforeRefund, returnData, logs }: TransactionOutcome) =>
  JSON.stringify([succeeded, String(gasUsed), String(gasUsedBeforeRefund), bytesToHex(returnData), logs.length]);

/** Each search with runs alone, and without those that are proved. */
const SEARCHES = { besu: besuSearch, geth: gethSearch };
const attempt = (
  search: typeof besuSearch,
  run: RunWithGas,
  ceiling: bigint,
  proves: boolean,
): Promise<Partial<GasEstimate> | string> =>
  search(run, { ceiling, plain: false, proves }).then(
    ({ gasLimit, runs, gasUsed, gasUsedBeforeRefund }) => ({ gasLimit, runs, gasUsed, gasUsedBeforeRefund }),
    (error) => error.code,
  );

describe('the gas path of random contracts', () => {
  it.each([
    [1, 'osaka', [16_777_216n, 1_000_000n, 150_000n]],
    [2, 'osaka', [16_777_216n, 1_000_000n, 150_000n]],
    [3, 'osaka', [16_777_216n, 1_000_000n, 150_000n]],
    // Nothing proves these from outside but the runs themselves. Above 2^24 there is a reservoir.
    [4, 'amsterdam', [16_777_216n, 1_000_000n, 400_000n]],
    [5, 'amsterdam', [17_000_000n, 1_000_000n, 400_000n]],
    [6, 'amsterdam', [30_000_000n, 1_000_000n, 400_000n]],
  ] as const)(
    'limits that it proves come out as the run that proved them, seed %i, %s',
    async (seed, fork, ceilings) => {
      const below = seededRandom(seed * 7_919);
      const seen = { proved: 0, tight: 0, withCalls: 0, saved: 0 };
      for (let round = 0; round < 200; round++) {
        const alloc = worldOf(below);
        const machine = await openMachine(new AllocState(alloc), fork);
        // Some are creations, with the code of the first contract as init code.
        const call = below(5) === 0 ? { to: undefined, data: codeOf(alloc) } : {};
        let executed = 0;
        const run = runsOf(machine, call);
        const execute: RunWithGas = (gasLimit) => {
          executed++;
          return run(gasLimit);
        };
        const ceiling = ceilings[below(3)]!;
        for (const search of Object.values(SEARCHES)) {
          const before = executed;
          const expected = await attempt(search, execute, ceiling, false);
          const plain = executed;
          expect(await attempt(search, execute, ceiling, true), JSON.stringify(alloc)).toEqual(expected);
          seen.saved += plain - before - (executed - plain);
        }
        const first = await execute(ceiling);
        const { spareGas } = first;
        if (fork === 'osaka') expect(spareGas, JSON.stringify(alloc)).toBe(await oracleSpareGas(alloc, call, ceiling));
        if (!first.succeeded || spareGas === undefined) continue;
        seen.proved++;
        const least = ceiling - spareGas;
        const span = Number(spareGas);
        const limits = [least, least + BigInt(below(span + 1)), least + BigInt(below(Math.min(span, 5_000) + 1))];
        for (const limit of limits) expect(told(await execute(limit)), JSON.stringify(alloc)).toBe(told(first));
        // One less is another run, unless it is below what a transaction has to have anyway.
        if (told(await rejectedAs(execute(least - 1n))) !== told(first)) seen.tight++;
        if (first.gasUsedBeforeRefund < least) seen.withCalls++;
      }
      expect(seen.proved).toBeGreaterThan(60);
      expect(seen.tight).toBe(seen.proved);
      expect(seen.withCalls).toBeGreaterThan(10);
      expect(seen.saved).toBeGreaterThan(200);
    },
  );
});

/** A limit that is not even let in, as a failure. */
function rejectedAs(promise: Promise<TransactionOutcome>): Promise<TransactionOutcome> {
  const nothing = { succeeded: false, gasUsed: 0n, gasUsedBeforeRefund: 0n, returnData: new Uint8Array(0), logs: [] };
  return promise.catch(() => nothing as unknown as TransactionOutcome);
}
