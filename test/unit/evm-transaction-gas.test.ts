import { eoaCode7702SignAuthorization, privateToAddress } from '@ethereumjs/util';
import { describe, expect, it } from 'vitest';
import type { Alloc } from '../../conformance/alloc-state.js';
import { runTransaction, simulateTransaction } from '../../src/evm/transaction.js';
import type { TransactionMessage } from '../../src/evm/transaction-message.js';
import type { Hardfork } from '../../src/networks/network.js';
import { bigIntToBytes, bytesToBigInt } from '../../src/primitives/bytes.js';
import type { Authorization } from '../../src/primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { allocWith, CONTRACT, message, openMachine, SLOT_0, STRANGER } from '../support/evm.js';
import { gasOf, word } from '../support/transaction-gas.js';

describe('gas of a transaction', () => {
  const plain = allocWith('0x');

  it.each<[string, Partial<TransactionMessage>, Hardfork, bigint]>([
    ['transfer', { to: hexToBytes(STRANGER), value: 1n }, 'osaka', 21_000n],
    [
      'data floor of EIP-7623: 10 zero bytes, 10 others',
      { data: hexToBytes(`0x${'0011'.repeat(10)}`) },
      'osaka',
      21_500n,
    ],
    ['before Prague 4 and 16 per byte', { data: hexToBytes(`0x${'0011'.repeat(10)}`) }, 'cancun', 21_200n],
    [
      'access list: 2400 an address, 1900 a key',
      {
        accessList: [{ address: hexToBytes(STRANGER), storageKeys: [new Uint8Array(32), new Uint8Array(32).fill(1)] }],
      },
      'osaka',
      27_200n,
    ],
    ['creation', { to: undefined }, 'osaka', 53_000n],
    ['init code word of EIP-3860', { to: undefined, data: hexToBytes('0x00') }, 'cancun', 53_006n],
    ['no init code word before Shanghai', { to: undefined, data: hexToBytes('0x00') }, 'london', 53_004n],
  ])('%s', async (_, overrides, hardfork, gas) => {
    expect(await gasOf(plain, overrides, hardfork)).toBe(gas);
  });

  it('has the coinbase warm from Shanghai on, and sender, target and precompiles always', async () => {
    const balanceOfCoinbase = allocWith('0x413100');
    expect(await gasOf(balanceOfCoinbase, {}, 'shanghai')).toBe(21_000n + 2n + 100n);
    expect(await gasOf(balanceOfCoinbase, {}, 'london')).toBe(21_000n + 2n + 2600n);
    for (const code of ['0x333100', '0x303100'] as const) expect(await gasOf(allocWith(code))).toBe(21_102n);
    expect(await gasOf(allocWith('0x60013100'))).toBe(21_103n);
    expect(await gasOf(allocWith('0x61ffff3100'))).toBe(23_603n);
  });

  it('charges the warm price for a listed slot', async () => {
    const accessList = [{ address: hexToBytes(CONTRACT), storageKeys: [new Uint8Array(32)] }];
    expect(await gasOf(allocWith('0x5f5400'))).toBe(21_000n + 2n + 2100n);
    expect(await gasOf(allocWith('0x5f5400'), { accessList })).toBe(21_000n + 4300n + 2n + 100n);
  });

  it('gives each transaction its own original values, warm set and transient storage', async () => {
    const machine = await openMachine(allocWith('0x60003560005500'));
    const write = (value: bigint, nonce: bigint) =>
      runTransaction(machine, message({ nonce, data: value === 0n ? new Uint8Array(0) : bigIntToBytes(value, 32) }));
    // 21000 + 31 * 4 + 16 of data, 9 of the three other instructions, 22100 of a cold slot that was empty.
    expect((await write(5n, 0n)).gasUsed).toBe(43_249n);
    // 21000 + 9 + 5000 of a cold slot that was not; 4800 come back.
    expect(await write(0n, 1n)).toMatchObject({ gasUsed: 21_209n, gasUsedBeforeRefund: 26_009n });

    const transient = await openMachine(allocWith('0x5f5c5f5560015f5d00'));
    await runTransaction(transient, message());
    await runTransaction(transient, message({ nonce: 1n }));
    expect(bytesToHex(await transient.state.slot(hexToBytes(CONTRACT), new Uint8Array(32)))).toBe(SLOT_0);
  });

  it('refunds at most one fifth', async () => {
    const clear = '0x5f5f55600060015560006002555f6003555f600455'.concat('00') as Hex;
    const storage = Object.fromEntries([0n, 1n, 2n, 3n, 4n].map((slot) => [word(slot), word(9n)])) as Record<Hex, Hex>;
    const machine = await openMachine(allocWith(clear, storage));
    const { gasUsed, gasUsedBeforeRefund } = await runTransaction(machine, message());
    expect(gasUsed).toBe(gasUsedBeforeRefund - gasUsedBeforeRefund / 5n);
  });

  it('gives the same result in every run', async () => {
    const machine = await openMachine(allocWith('0x5f545f5260206000f3', { [SLOT_0]: word(7n) }));
    const first = await simulateTransaction(machine, message());
    for (let i = 0; i < 3; i++) expect(await simulateTransaction(machine, message())).toEqual(first);
    expect(await machine.state.changes()).toEqual([]);
  });
});

describe('EIP-7702', () => {
  const key = new Uint8Array(32).fill(1);
  const authority = bytesToHex(privateToAddress(key));

  function authorize(nonce: bigint, chainId: bigint, delegate: Hex = CONTRACT): Authorization {
    const int = (value: bigint) => (value === 0n ? new Uint8Array(0) : bigIntToBytes(value, 1));
    const signed = eoaCode7702SignAuthorization([int(chainId), hexToBytes(delegate), int(nonce)], key);
    const [yParity, r, s] = [signed[3], signed[4], signed[5]].map((bytes) => bytesToBigInt(bytes!));
    return { chainId, nonce, address: hexToBytes(delegate), yParity: yParity!, r: r!, s: s! };
  }

  /** The other signature of the same message by the same key, which EIP-2 rules out. */
  function malleated(authorization: Authorization): Authorization {
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    return { ...authorization, s: order - authorization.s, yParity: 1n - authorization.yParity };
  }

  // Returns its own address, so that the delegated account shows.
  const alloc = { ...allocWith('0x305f5260205ff3'), [authority]: { balance: '0x1' } } as Alloc;

  it('sets the code of the authority, runs it there and refunds an account that existed', async () => {
    const machine = await openMachine(alloc);
    const to = hexToBytes(authority as Hex);
    const outcome = await runTransaction(machine, message({ to, authorizationList: [authorize(0n, 1n)] }));
    expect(outcome.succeeded).toBe(true);
    expect(bytesToBigInt(outcome.returnData)).toBe(BigInt(authority));
    const change = (await machine.state.changes()).find(({ address }) => bytesToHex(address) === authority)!;
    expect(bytesToHex(change.code!)).toBe(`0xef0100${CONTRACT.slice(2)}`);
    expect(change.after!.nonce).toBe(1n);
    // Taken away again by the zero address.
    const clear = [authorize(1n, 0n, `0x${'00'.repeat(20)}`)];
    await runTransaction(machine, message({ to: hexToBytes(STRANGER), nonce: 1n, authorizationList: clear }));
    const cleared = (await machine.state.changes()).find(({ address }) => bytesToHex(address) === authority)!;
    expect([cleared.code, cleared.after!.nonce]).toEqual([undefined, 2n]);
  });

  it.each<[string, Alloc, Authorization, bigint]>([
    ['existing authority: 46000 less a fifth', alloc, authorize(0n, 0n), 36_800n],
    ['new authority', allocWith('0x00'), authorize(0n, 1n), 46_000n],
    ['other chain', alloc, authorize(0n, 2n), 46_000n],
    ['other nonce', alloc, authorize(3n, 1n), 46_000n],
    ['the twin of the signature with s in the upper half', alloc, malleated(authorize(0n, 1n)), 46_000n],
  ])('%s', async (_, state, authorization, gas) => {
    expect(await gasOf(state, { to: hexToBytes(STRANGER), authorizationList: [authorization] })).toBe(gas);
  });
});
