import { describe, expect, it } from 'vitest';
import type { Alloc } from '../../conformance/alloc-state.js';
import { runTransaction } from '../../src/evm/transaction.js';
import type { RunOptions, TransactionMessage } from '../../src/evm/transaction-message.js';
import type { Hardfork } from '../../src/networks/network.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import {
  allocWith,
  COINBASE,
  CONTRACT,
  ETHER,
  FIRST_CREATED,
  message,
  openMachine,
  SECOND_CREATED,
  SENDER,
  SLOT_0,
  STRANGER,
} from '../support/evm.js';
import { word } from '../support/transaction-gas.js';

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'accepted',
    (error) => error.details.rule ?? error.code,
  );
}

describe('balances, nonce and outcome', () => {
  it('transfers the value, pays the priority fee to the coinbase and burns the base fee', async () => {
    const machine = await openMachine(allocWith('0x'));
    const outcome = await runTransaction(
      machine,
      message({
        to: hexToBytes(STRANGER),
        value: 5n,
        gasPrice: undefined,
        maxFeePerGas: 100n,
        maxPriorityFeePerGas: 3n,
      }),
    );
    expect(outcome).toMatchObject({ succeeded: true, effectiveGasPrice: 10n, gasUsed: 21_000n });
    const after = new Map((await machine.state.changes()).map((change) => [bytesToHex(change.address), change.after]));
    expect(after.size).toBe(3);
    expect(after.get(SENDER)).toMatchObject({ nonce: 1n, balance: ETHER - 5n - 210_000n });
    expect(after.get(STRANGER)).toMatchObject({ nonce: 0n, balance: 5n });
    expect(after.get(COINBASE)).toMatchObject({ balance: 63_000n });
  });

  it('charges for a revert and a failure, and undoes their changes', async () => {
    // Writes a slot, logs, then reverts with one byte.
    const machine = await openMachine(allocWith('0x60015f555f5fa060aa5f5360015ffd'));
    const reverted = await runTransaction(machine, message({ value: 3n }));
    expect(reverted).toMatchObject({ succeeded: false, exception: 'revert', logs: [] });
    expect(bytesToHex(reverted.returnData)).toBe('0xaa');
    const changes = await machine.state.changes();
    expect(changes.map((change) => bytesToHex(change.address))).toEqual([SENDER]);
    expect(changes[0]!.after).toMatchObject({ nonce: 1n, balance: ETHER - reverted.gasUsed * 7n });

    const failing = await openMachine(allocWith('0xfe'));
    const failed = await runTransaction(failing, message());
    expect(failed).toMatchObject({ succeeded: false, exception: 'invalid opcode', gasUsed: 1_000_000n });
  });

  it('creates contracts at known addresses', async () => {
    const machine = await openMachine(allocWith('0x'));
    const initCode = hexToBytes('0x60fe60005360016000f3');
    for (const [nonce, address] of [FIRST_CREATED, SECOND_CREATED].entries()) {
      const created = await runTransaction(machine, message({ to: undefined, nonce: BigInt(nonce), data: initCode }));
      expect(bytesToHex(created.createdAddress!)).toBe(address);
    }
    const change = (await machine.state.changes()).find(({ address }) => bytesToHex(address) === FIRST_CREATED)!;
    expect(change).toMatchObject({ before: undefined, after: { nonce: 1n }, destroyed: false });
    expect(bytesToHex(change.code!)).toBe('0xfe');
  });

  it('removes empty accounts', async () => {
    const machine = await openMachine(allocWith('0x'));
    await runTransaction(machine, message({ to: hexToBytes(STRANGER) }));
    expect((await machine.state.changes()).map(({ address }) => bytesToHex(address))).toEqual([SENDER]);
  });

  it('destroys contracts before Cancun, and from then on only those created in the same transaction', async () => {
    const code: Hex = `0x73${STRANGER.slice(2)}ff`;
    const alloc = {
      ...allocWith(code, { [SLOT_0]: word(1n) }),
      [CONTRACT]: { balance: '0x5', code, storage: {} },
    } as Alloc;
    const changeOf = async (hardfork: Hardfork, target: Hex, overrides: Partial<TransactionMessage> = {}) => {
      const machine = await openMachine(alloc, hardfork);
      expect((await runTransaction(machine, message(overrides))).succeeded).toBe(true);
      return (await machine.state.changes()).find(({ address }) => bytesToHex(address) === target);
    };
    expect(await changeOf('london', CONTRACT)).toMatchObject({ after: undefined, destroyed: true });
    expect(await changeOf('osaka', CONTRACT)).toMatchObject({ after: { balance: 0n }, destroyed: false });
    expect(await changeOf('osaka', STRANGER)).toMatchObject({ after: { balance: 5n } });
    const create = { to: undefined, value: 9n, data: hexToBytes(code) };
    expect(await changeOf('osaka', FIRST_CREATED, create)).toBeUndefined();
    expect(await changeOf('osaka', STRANGER, create)).toMatchObject({ after: { balance: 9n } });
  });
});

describe('transactions that may not run', () => {
  const cases: [string, Partial<TransactionMessage>, RunOptions, Hardfork, string][] = [
    ['too little gas', { gasLimit: 20_999n }, {}, 'osaka', 'intrinsic-gas'],
    ['gas below the data floor', { gasLimit: 21_039n, data: Uint8Array.of(1) }, {}, 'osaka', 'intrinsic-gas'],
    ['gas above the cap of EIP-7825', { gasLimit: 16_777_217n }, {}, 'osaka', 'gas-limit'],
    ['gas at the cap', { gasLimit: 16_777_216n }, {}, 'osaka', 'accepted'],
    ['no cap before Osaka', { gasLimit: 16_777_217n }, {}, 'prague', 'accepted'],
    ['more gas than the block has left', {}, { gasAvailable: 999_999n }, 'osaka', 'block-gas-limit'],
    ['used nonce', { nonce: 0n, from: hexToBytes(STRANGER) }, {}, 'osaka', 'nonce-too-low'],
    ['nonce ahead', { nonce: 1n }, {}, 'osaka', 'nonce-too-high'],
    ['nonce ahead in a simulation', { nonce: 1n }, { leniency: { nonce: 'future' } }, 'osaka', 'accepted'],
    ['price below the base fee', { gasPrice: 6n }, {}, 'osaka', 'gas-price'],
    [
      'priority fee above the fee cap',
      { gasPrice: undefined, maxFeePerGas: 8n, maxPriorityFeePerGas: 9n },
      {},
      'osaka',
      'gas-price',
    ],
    ['value out of reach', { value: ETHER }, {}, 'osaka', 'INSUFFICIENT_FUNDS'],
    [
      'affordable value when gas need not be paid',
      { value: ETHER },
      { leniency: { unfunded: true } },
      'osaka',
      'accepted',
    ],
    [
      'unaffordable value when gas need not be paid',
      { value: ETHER + 1n },
      { leniency: { unfunded: true } },
      'osaka',
      'INSUFFICIENT_FUNDS',
    ],
    ['contract as sender (EIP-3607)', { from: hexToBytes(CONTRACT), nonce: 1n, gasPrice: 7n }, {}, 'osaka', 'sender'],
    [
      'large init code',
      { to: undefined, data: new Uint8Array(49_153), gasLimit: 5_000_000n },
      {},
      'osaka',
      'init-code',
    ],
  ];

  it.each(cases)('%s', async (_, overrides, options, hardfork, answer) => {
    const alloc = { ...allocWith('0x00'), [STRANGER]: { nonce: '0x1', balance: '0xffffffff' } } as Alloc;
    const machine = await openMachine(alloc, hardfork);
    expect(await rejection(runTransaction(machine, message(overrides), options))).toBe(answer);
    if (answer !== 'accepted') expect(await machine.state.changes()).toEqual([]);
  });
});
