import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { AllocState } from '../../conformance/alloc-state.js';
import { callAt } from '../../src/evm/call.js';
import { RunBudget } from '../../src/evm/run-budget.js';
import { runTransaction, simulateTransaction } from '../../src/evm/transaction.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import {
  allocWith,
  blockContext,
  CONTRACT,
  message,
  networkAt,
  openMachine,
  SLOT_0,
  STRANGER,
} from '../support/evm.js';

/** Programs that end only when their gas does. */
const ENDLESS: Record<string, Hex> = {
  'a loop': '0x5b5f56',
  // KECCAK256 of 64 KiB.
  'a loop of hashes': '0x5b620100005f20505f56',
  // KECCAK256 of 9 MiB.
  'a loop of long hashes': '0x5b629000005f20505f56',
  // Calls itself with all the gas there is, twice.
  'a recursion': '0x5f5f5f5f5f305af1505f5f5f5f5f305af15000',
  // SHA-256 of 64 KiB.
  'a loop of precompiles': '0x5b5f5f620100005f60025afa505f56',
  // BLAKE2b with 2^20 rounds: input of 213 bytes, the rounds in the first four.
  'a loop of BLAKE2b': '0x630010000060e01b5f525b5f5f60d55f60095afa50600a56',
  // 40 cold slots at a time, each of which has to be read.
  'a loop of reads': '0x5f5b8054506001016001565b',
};
const GAS = 200_000_000n;
const LENIENCY = { gasAboveCap: true } as const;

describe('slices of a run', () => {
  it.each(Object.entries(ENDLESS))('%s lends the thread to timers and to other runs', async (_, code) => {
    const controller = new AbortController();
    const { signal } = controller;
    let ended = false;
    const run = simulateTransaction(await openMachine(allocWith(code)), message({ gasLimit: GAS }), {
      leniency: LENIENCY,
      budget: new RunBudget({ signal }),
    });
    const outcome = run.then(
      ({ exception }) => exception,
      ({ code }) => code,
    );
    outcome.then(() => {
      ended = true;
    });
    // The first turn of a timer, then another run from beginning to end.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const other = await simulateTransaction(await openMachine(allocWith('0x00')), message());
    expect(other.succeeded).toBe(true);
    expect(ended).toBe(false);
    controller.abort();
    expect(await outcome).toBe('ABORTED');
  });

  it('an abort leaves the state as it was, and the machine runs on', async () => {
    const machine = await openMachine(allocWith('0x60015f555b600456'));
    const controller = new AbortController();
    setTimeout(() => controller.abort());
    const budget = new RunBudget({ signal: controller.signal });
    const run = runTransaction(machine, message({ gasLimit: GAS }), { leniency: LENIENCY, budget });
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await machine.state.changes()).toEqual([]);
    const { succeeded } = await runTransaction(machine, message({ to: hexToBytes(STRANGER), value: 1n }));
    expect(succeeded).toBe(true);
  });

  // Around the length that one slice hashes, and several times it.
  it.each([0x1ffff, 0x20000, 0x1ffb0, 0x1ff98, 0x100001])(
    'a hash of %i bytes in slices is the hash',
    async (length) => {
      const bytes = new Uint8Array(length).fill(0xa5);
      // CALLDATACOPY of everything, then the digest is returned.
      const run = await openMachine(allocWith('0x365f5f37365f205f5260205ff3'));
      const { returnData } = await simulateTransaction(run, message({ data: bytes, gasLimit: GAS }), {
        leniency: LENIENCY,
      });
      expect(returnData).toEqual(keccak_256(bytes));
    },
  );

  it('a hash that was aborted is forgotten', async () => {
    const machine = await openMachine(allocWith('0x365f5f37365f205f5260205ff3'));
    const [long, short] = [new Uint8Array(2 ** 23), Uint8Array.of(1, 2, 3)];
    const controller = new AbortController();
    setTimeout(() => controller.abort());
    const budget = new RunBudget({ signal: controller.signal });
    const aborted = simulateTransaction(machine, message({ data: long, gasLimit: 2n * GAS }), {
      leniency: LENIENCY,
      budget,
    });
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
    const { returnData } = await simulateTransaction(machine, message({ data: short }));
    expect(returnData).toEqual(keccak_256(short));
  });

  it('small slices give the same outcome as one', async () => {
    const code = '0x5f5b600101805f5520506101f4806001575a5f5260205ff3';
    const run = async (gasBudget: number) => {
      const options = { budget: new RunBudget({ gas: { budget: gasBudget, spent: 0 } }), counting: true };
      return simulateTransaction(await openMachine(allocWith(code)), message(), options);
    };
    expect(await run(1_000_000_000)).toEqual(await run(Number.POSITIVE_INFINITY));
  });
});

describe('reads of a run', () => {
  /** A state that counts how many reads are open at once. */
  class Watched extends AllocState {
    open = 0;
    most = 0;

    private async counted<T>(read: () => Promise<T>): Promise<T> {
      this.most = Math.max(this.most, ++this.open);
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.open--;
      return read();
    }

    override account(address: Uint8Array) {
      return this.counted(() => super.account(address));
    }

    override slot(address: Uint8Array, slot: Uint8Array) {
      return this.counted(() => super.slot(address, slot));
    }
  }

  it('are made at once for everything in the access list, and not again', async () => {
    // SLOAD of slots 0 to 9.
    const code: Hex = `0x${Array.from({ length: 10 }, (_, i) => `600${i}5450`).join('')}00`;
    const state = new Watched(allocWith(code, { [SLOT_0]: `0x${'00'.repeat(31)}01` }));
    const storageKeys = Array.from({ length: 10 }, (_, i) => bigIntToBytes(BigInt(i), 32));
    const accessList = [
      { address: hexToBytes(CONTRACT), storageKeys },
      { address: hexToBytes(STRANGER), storageKeys: [] },
    ];
    const call = { to: hexToBytes(CONTRACT), accessList };
    await callAt(state, blockContext(), call, { network: networkAt('osaka') });
    expect(state.reads).toEqual({ accounts: 4, slots: 10, codes: 1 });
    // Recipient, coinbase, the stranger and the slots; the sender was read before.
    expect(state.most).toBe(13);
  });

  it('are not repeated by later runs on the same state', async () => {
    const state = new Watched(allocWith('0x5f545f355400'));
    const machine = await openMachine(state);
    await simulateTransaction(machine, message({ data: bigIntToBytes(1n, 32) }));
    const reads = { ...state.reads };
    for (let i = 0; i < 3; i++)
      await runTransaction(machine, message({ nonce: BigInt(i), data: bigIntToBytes(1n, 32) }));
    expect(state.reads).toEqual(reads);
  });

  it('are of the new state after somebody else wrote to it', async () => {
    const machine = await openMachine(allocWith('0x5f545f5260205ff3'));
    await simulateTransaction(machine, message());
    machine.state.setSlot(hexToBytes(CONTRACT), hexToBytes(SLOT_0), Uint8Array.of(5));
    const { returnData } = await simulateTransaction(machine, message());
    expect(returnData[31]).toBe(5);
  });
});
