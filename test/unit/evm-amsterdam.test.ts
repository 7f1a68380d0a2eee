import { describe, expect, it } from 'vitest';
import type { Alloc } from '../../conformance/alloc-state.js';
import {
  BlockAccesses,
  blockAccessListHash,
  encodeBlockAccessList,
  type StepAccess,
} from '../../src/ethereum/block-access-list.js';
import { runTransaction } from '../../src/evm/transaction.js';
import type { RunOptions, TransactionMessage } from '../../src/evm/transaction-message.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { allocWith, COINBASE, CONTRACT, ETHER, message, openMachine, SENDER, STRANGER } from '../support/evm.js';
import { gasOf, word } from '../support/transaction-gas.js';

/** Expected values are those of docs/spec/amsterdam.md. */
const CAP = 2n ** 24n;
const NEW_ACCOUNT = 183_600n;
const NEW_SLOT = 97_920n;
const TRANSFER = hexToBytes('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef');
const toStranger = { to: hexToBytes(STRANGER), value: 1n };

async function run(alloc: Alloc, overrides: Partial<TransactionMessage> = {}, options: RunOptions = {}) {
  return runTransaction(await openMachine(alloc, 'amsterdam', { slotNumber: 77n }), message(overrides), options);
}

/** The word that code returns; the code leaves it on the stack. */
async function returnedBy(code: Hex): Promise<bigint> {
  const { returnData } = await run(allocWith(`${code}5f5260205ff3` as Hex));
  return BigInt(bytesToHex(returnData));
}

describe('a transaction under Amsterdam', () => {
  it.each<[string, Alloc, Partial<TransactionMessage>, bigint]>([
    ['to oneself', allocWith('0x'), { to: hexToBytes(SENDER), value: 1n }, 12_000n],
    ['without value', allocWith('0x'), {}, 15_000n],
    ['with value', allocWith('0x'), { value: 1n }, 21_000n],
    ['to a new account', allocWith('0x'), toStranger, 204_600n],
    ['creation at an address with a balance', funded(), { to: undefined }, 24_000n],
    ['creation', allocWith('0x'), { to: undefined }, 24_000n + NEW_ACCOUNT],
    ['data floor of 64 a byte', allocWith('0x'), { data: new Uint8Array(100) }, 21_400n],
    [
      'access list',
      allocWith('0x'),
      { accessList: [{ address: hexToBytes(STRANGER), storageKeys: [new Uint8Array(32)] }] },
      15_000n + 4_180n + 4_048n,
    ],
    ['a slot that is new', allocWith('0x60015f5500'), {}, 15_000n + 5n + 2_100n + 10_000n + NEW_SLOT],
  ])('costs what its resources cost: %s', async (_, alloc, overrides, gas) => {
    expect(await gasOf(alloc, overrides, 'amsterdam')).toBe(gas);
  });

  /** The account that the sender creates first, with a balance. */
  function funded(): Alloc {
    return { ...allocWith('0x'), '0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d': { balance: '0x1' } };
  }

  it('counts both kinds of gas apart', async () => {
    expect(await run(allocWith('0x'), toStranger)).toMatchObject({ executionGas: 21_000n, stateGas: NEW_ACCOUNT });
  });

  it('fails without an instruction where the new account cannot be paid', async () => {
    const outcome = await run(allocWith('0x'), { ...toStranger, gasLimit: 204_599n });
    expect(outcome).toMatchObject({ succeeded: false, exception: 'out of gas', gasUsed: 204_599n, stateGas: 0n });
    expect(outcome.logs).toEqual([]);
  });

  it('takes state gas from what the limit has above the cap', async () => {
    // The code uses up all execution gas.
    const burn = allocWith('0x60015f555b600656');
    const gasLimit = CAP + 1_000_000n;
    expect(await run(burn, { gasLimit })).toMatchObject({ succeeded: false, gasUsed: CAP, stateGas: 0n });
    const write = allocWith('0x60015f555a5f5260205ff3');
    const left = async (limit: bigint) => BigInt(bytesToHex((await run(write, { gasLimit: limit })).returnData));
    const execution = 15_000n + 5n + 12_100n + 2n;
    expect(await left(gasLimit)).toBe(CAP - execution);
    expect(await left(CAP)).toBe(CAP - execution - NEW_SLOT);
    expect(await left(CAP + 90_000n)).toBe(CAP - execution - NEW_SLOT + 90_000n);
  });

  it('gives the state gas of a slot back that is empty again, beyond the limit of refunds', async () => {
    const outcome = await run(allocWith('0x60015f555f5f5500'));
    // 15 000, four instructions, a cold write, a warm one; 10 000 come back, but at most a fifth.
    expect(outcome).toMatchObject({ gasUsedBeforeRefund: 27_209n, gasUsed: 27_209n - 5_441n, stateGas: 0n });
  });

  it('knows the least limit where a call gives its state gas back', async () => {
    const [caller, writer] = [`0x5f5f5f5f5f73${STRANGER.slice(2)}5af15000`, '0x60015f555f5ffd'] as Hex[];
    const alloc = { ...allocWith(caller!), [STRANGER]: { nonce: '0x1', code: writer! } } as Alloc;
    const { spareGas, gasUsed } = await run(alloc);
    const least = 1_000_000n - spareGas!;
    expect(least).toBeGreaterThan(gasUsed + NEW_SLOT);
    expect((await run(alloc, { gasLimit: least })).gasUsed).toBe(gasUsed);
    expect((await run(alloc, { gasLimit: least - 1n })).gasUsed).toBeGreaterThan(gasUsed);
    // With a reservoir, state gas comes from elsewhere with another limit.
    expect((await run(alloc, { gasLimit: CAP + 1n })).spareGas).toBeUndefined();
  });

  it.each<[string, Partial<TransactionMessage>, RunOptions, string]>([
    ['gas of 2^32', { gasLimit: 2n ** 32n }, {}, 'gas-limit'],
    ['execution gas that the block lacks', { gasLimit: 30_000n }, { gasAvailable: 29_999n }, 'block-gas-limit'],
    ['the same, above the cap', { gasLimit: CAP + 1n }, { gasAvailable: CAP - 1n }, 'block-gas-limit'],
    [
      'state gas that the block lacks',
      { gasLimit: 30_000n },
      { gasAvailable: CAP, stateGasAvailable: 29_999n },
      'block-gas-limit',
    ],
    ['less than the intrinsic gas', { gasLimit: 14_999n }, {}, 'intrinsic-gas'],
    ['a floor above the cap', { gasLimit: CAP + 100n, data: new Uint8Array(261_910) }, {}, 'gas-limit'],
    ['init code of 131 073 bytes', { to: undefined, data: new Uint8Array(131_073) }, {}, 'init-code'],
  ])('is refused for %s', async (_, overrides, options, rule) => {
    await expect(run(allocWith('0x'), overrides, options)).rejects.toMatchObject({ details: { rule } });
  });

  it('is not refused where only its reservoir is above what the block has of execution gas', async () => {
    const outcome = await run(
      allocWith('0x'),
      { gasLimit: CAP + 1n },
      { gasAvailable: CAP, stateGasAvailable: CAP + 1n },
    );
    expect(outcome.succeeded).toBe(true);
  });

  it('logs ether that moves between two accounts', async () => {
    const { logs } = await run(allocWith('0x'), toStranger);
    const topics = [TRANSFER, hexToBytes(`0x${SENDER.slice(2).padStart(64, '0')}`), hexToBytes(word(BigInt(STRANGER)))];
    const address = hexToBytes('0xfffffffffffffffffffffffffffffffffffffffe');
    expect(logs).toEqual([{ address, topics, data: hexToBytes(word(1n)) }]);
    expect((await run(allocWith('0x'), { to: hexToBytes(SENDER), value: 1n })).logs).toEqual([]);
  });
});

describe('instructions of Amsterdam', () => {
  it('SLOTNUM is the slot of the block', async () => {
    expect(await returnedBy('0x4b')).toBe(77n);
  });

  it('DUPN, SWAPN and EXCHANGE reach items below the sixteenth', async () => {
    // 18 items, the lowest 1, then sixteen zeros, 7 on top.
    const stack = `6001${'5f'.repeat(16)}6007`;
    // Immediate 0x81 is 18 and 0x80 is 17: the lowest item is copied, or swapped with the top.
    expect(await returnedBy(`0x${stack}e681`)).toBe(1n);
    expect(await returnedBy(`0x${stack}e780`)).toBe(1n);
    // Immediate 0x8e is 1 and 2: items 2 and 3 change places, of 1, 2 and 3.
    expect(await returnedBy('0x600160026003e88e50')).toBe(1n);
  });

  it('an immediate byte that is a PUSH or a JUMPDEST halts', async () => {
    for (const op of ['e6', 'e7', 'e8']) {
      expect(await run(allocWith(`0x${'5f'.repeat(40)}${op}5b00`))).toMatchObject({ exception: 'invalid opcode' });
    }
  });
});

describe('the block access list', () => {
  it('of no access is the RLP of an empty list', () => {
    expect(bytesToHex(blockAccessListHash([]))).toBe(
      '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    );
  });

  it('has the coinbase without a tip, and a slot that is restored as a read', async () => {
    const list = new BlockAccesses();
    await run(allocWith('0x60015f555f5f555f54600255600160015500'), {}, { accesses: { of: list, index: 1 } });
    const entries = list.list().map((entry) => ({ ...entry, address: bytesToHex(entry.address) }));
    expect(entries.map(({ address }) => address)).toEqual([CONTRACT, SENDER, COINBASE].sort());
    const nothing = { storageChanges: [], storageReads: [], balanceChanges: [], nonceChanges: [], codeChanges: [] };
    expect(entries.find(({ address }) => address === COINBASE)).toMatchObject(nothing);
    const contract = entries.find(({ address }) => address === CONTRACT)!;
    expect(contract.storageReads.map(bytesToHex)).toEqual([word(0n), word(2n)]);
    expect(contract.storageChanges).toEqual([
      { key: hexToBytes(word(1n)), changes: [{ index: 1, value: hexToBytes(word(1n)) }] },
    ]);
  });

  it('keeps the value of each index, and a slot that changes once is no read', () => {
    const [address, key] = [hexToBytes(CONTRACT), hexToBytes(word(3n))];
    const step = (before: bigint, after: bigint): StepAccess => ({
      address,
      slots: [{ key, before: hexToBytes(word(before)), after: hexToBytes(word(after)) }],
    });
    const list = new BlockAccesses();
    list.add(0, [step(0n, 0n)]);
    list.add(1, [{ ...step(0n, 300n), balance: ETHER }]);
    list.add(3, [{ ...step(300n, 0n), nonce: 2n, code: new Uint8Array(0) }]);
    // Slot 3 is 300 from index 1 on and 0 from index 3 on; integers have no zeros in front.
    const encoded = bytesToHex(encodeBlockAccessList(list.list()));
    const values = [
      'cbca03c8c40182012cc20380',
      'c0',
      `cbca0188${ETHER.toString(16).padStart(16, '0')}`,
      'c3c20302',
      'c3c20380',
    ];
    expect(encoded).toContain(`94${CONTRACT.slice(2)}${values.join('')}`);
  });
});
