import { generateAddress } from '@ethereumjs/util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const FROM = DEV_ACCOUNTS[0]!.address;
const at = (number: number): Hex => `0xc0de${number.toString(16).padStart(36, '0')}`;
const word = (value: bigint | number) => `0x${value.toString(16).padStart(64, '0')}`;
/** Returns what the opcodes leave on the stack. */
const returning = (opcodes: string): Hex => `0x${opcodes}5f5260205ff3`;

/** The contract that the first creation of `at(1)` makes, by another implementation. */
const CREATED = bytesToHex(generateAddress(hexToBytes(at(1)), Uint8Array.of(1)));
/** Runs CREATE with this init code, of up to 32 bytes. */
const creating = (code: string) => {
  const length = code.length / 2;
  return `${(0x5f + length).toString(16)}${code}5f5260${word(length).slice(-2)}60${word(32 - length).slice(-2)}5ff0`;
};
/** Applies opcodes to the address of that contract. */
const createdCheck = (opcodes: string) => `73${CREATED.slice(2)}${opcodes}50`;

const IDENTITY: Hex = `0x${'4'.padStart(40, '0')}`;
const alloc = {
  [at(1)]: { code: '0x00' as Hex },
  // Adds slot 1 to slot 0 and hashes nothing, then asks for the balance of a stranger.
  [at(2)]: { nonce: 1n, code: `0x5f546001540160025573${'99'.repeat(20)}315000` as Hex },
  [at(3)]: { nonce: 1n, code: '0x6001545f5ffd' as Hex },
};

interface AccessList {
  accessList: { address: Hex; storageKeys: Hex[] }[];
  gasUsed: Hex;
  error?: string;
}

describe.each(['besu', 'geth'] as const)('simulated calls on a network of %s', (gasSearch) => {
  let node: PlumblineNode;
  const ask = <T>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;
  const see = (opcodes: string, blockOverrides: object, call: object = {}) =>
    ask<Hex>('eth_call', { to: at(1), ...call }, 'latest', { [at(1)]: { code: returning(opcodes) } }, blockOverrides);

  beforeAll(async () => {
    node = await createInlineNode({ chain: { kind: 'devnet', network: devnet({ gasSearch }), alloc } });
    await node.request({ method: 'evm_mine' });
  });
  afterAll(() => node.close());

  test('a block override is what the call sees of its block', async () => {
    expect(await see('43', { number: '0x1234' })).toBe(word(0x1234));
    expect(await see('42', { time: '0x77359400' })).toBe(word(0x77359400));
    expect(await see('45', { gasLimit: '0xabcdef0' })).toBe(word(0xabcdef0));
    expect(await see('41', { feeRecipient: at(9) })).toBe(word(BigInt(at(9))));
    expect(await see('44', { prevRandao: word(55), difficulty: '0x7' })).toBe(word(55));
    expect(await see('4a', { blobBaseFee: '0x99' })).toBe(word(0x99));
    expect(await see('48', { baseFeePerGas: '0x9' }, { from: FROM, gasPrice: '0x10' })).toBe(word(9));
    // The base fee is zero where the call names no price, overridden or not.
    expect(await see('48', { baseFeePerGas: '0x9' })).toBe(word(0));
    // Blocks that are not there have the hash zero; the genesis keeps its own.
    expect(await see('606340', { number: '0x64' })).toBe(word(0));
    const { hash } = await ask<{ hash: Hex }>('eth_getBlockByNumber', '0x0', false);
    expect(await see('5f40', { number: '0x2' })).toBe(hash);
  });

  test('an estimate takes block overrides, and forgets them', async () => {
    // Reverts before the year 2033.
    const late = { [at(1)]: { code: '0x63773594004210600b57005b5f5ffd' } };
    const call = { from: FROM, to: at(1), data: '0x01' };
    const estimate = (blockOverrides?: object) => ask<Hex>('eth_estimateGas', call, 'latest', late, blockOverrides);
    expect(Number(await estimate({ time: '0x77359400' }))).toBeGreaterThan(21_000);
    await expect(estimate({ time: '0x773593ff' })).rejects.toMatchObject({ code: 3, data: '0x' });
    await expect(estimate()).rejects.toMatchObject({ code: 3, data: '0x' });
  });

  test.each([
    [{ beaconRoot: word(1) }, 'beaconRoot'],
    [{ withdrawals: [] }, 'withdrawals'],
    [{ feeRecipient: '0x12' }, 'feeRecipient'],
    [{ number: 5 }, 'number'],
    ['0x1', 'blockOverrides'],
  ])('the block override %o is refused', async (blockOverrides, named) => {
    const message = expect.stringContaining(named);
    for (const method of ['eth_call', 'eth_estimateGas', 'eth_createAccessList']) {
      const answer = ask(method, { to: at(1) }, 'latest', {}, blockOverrides);
      await expect(answer).rejects.toMatchObject({ code: -32602, message });
    }
  });

  test('both storage forms in one override are an error', async () => {
    const overrides = {
      [at(1)]: { code: returning('600154'), state: { [word(1)]: word(2) }, stateDiff: { [word(1)]: word(3) } },
    };
    const message = expect.stringContaining(`account ${at(1)} has both 'state' and 'stateDiff'`);
    for (const method of ['eth_call', 'eth_estimateGas', 'eth_createAccessList', 'debug_traceCall']) {
      const answer = method.startsWith('debug')
        ? ask(method, { to: at(1) }, 'latest', { stateOverrides: overrides })
        : ask(method, { to: at(1) }, 'latest', overrides);
      await expect(answer, method).rejects.toMatchObject({ code: -32602, message });
    }
    await expect(ask('linea_estimateGas', { to: at(1) }, overrides)).rejects.toMatchObject({ code: -32602, message });
  });

  test('RETURNDATACOPY past the end is said in calls, estimates, traces, simulations, previews and diagnoses', async () => {
    // PUSH1 1, PUSH0, PUSH0, RETURNDATACOPY; the words are geth's.
    const code = '0x60015f5f3e';
    const overrides = { [at(9)]: { code } };
    const call = { from: FROM, to: at(9) };
    const words = 'eturn data out of bounds';
    const message = expect.stringContaining(words);
    for (const method of ['eth_call', 'eth_estimateGas'])
      await expect(ask(method, call, 'latest', overrides), method).rejects.toMatchObject({ code: -32000, message });
    await expect(ask('linea_estimateGas', call, overrides)).rejects.toMatchObject({ message });
    const tracer = { tracer: 'callTracer', stateOverrides: overrides };
    expect(await ask('debug_traceCall', call, 'latest', tracer)).toMatchObject({ error: `r${words}` });
    const blockStateCalls = [{ stateOverrides: overrides, calls: [call] }];
    expect(await ask('eth_simulateV1', { blockStateCalls })).toMatchObject([{ calls: [{ error: { message } }] }]);
    const preview = await node.previewTransaction(call, { stateOverrides: { [at(9)]: { code } } });
    expect(preview.calls[0]).toMatchObject({ status: 'halted', tree: { error: `r${words}` } });
    const snapshot = await ask('evm_snapshot');
    await ask('anvil_setCode', at(9), code);
    const { nextStep } = await node.diagnoseTransaction({ ...call, gas: '0x186a0' });
    expect(nextStep).toContain(words);
    await ask('evm_revert', snapshot);
  });

  test('a call that names another chain is an error', async () => {
    const call = { from: FROM, to: at(1) };
    const chainId = await ask<Hex>('eth_chainId');
    const methods = [
      ...['eth_call', 'eth_estimateGas', 'linea_estimateGas', 'eth_createAccessList', 'debug_traceCall'],
      'eth_fillTransaction',
    ];
    for (const method of methods) {
      await ask(method, { ...call, chainId });
      for (const other of ['0x5', '0x0']) {
        const message = expect.stringContaining(`have=${Number(other)}, want=${Number(chainId)}`);
        const answer = ask(method, { ...call, chainId: other });
        await expect(answer, method).rejects.toMatchObject({ code: -32602, message });
      }
    }
    await node.previewTransaction({ ...call, chainId });
    const preview = node.previewTransaction({ ...call, chainId: '0x5' });
    await expect(preview).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('chainId') });
  });

  test('an access list drops sender, recipient and precompiles of the list that was given', async () => {
    // As geth 1.17.10 answers.
    const kept = { address: `0x${'d0'.repeat(20)}`, storageKeys: [word(0)] };
    const accessList = [
      { address: FROM, storageKeys: [word(1)] },
      { address: IDENTITY, storageKeys: [word(0)] },
      { address: at(1), storageKeys: [word(2)] },
      kept,
    ];
    const answer = await ask<AccessList>('eth_createAccessList', { from: FROM, to: at(1), accessList });
    expect(answer.accessList).toEqual([kept]);
  });

  test('an override at the address of a precompile: geth takes the precompile away', async () => {
    const answer = await ask('eth_call', { to: IDENTITY, data: '0x1234' }, 'latest', {
      [IDENTITY]: { code: returning('607b') },
    });
    expect(answer).toBe(gasSearch === 'geth' ? word(0x7b) : '0x1234');
  });

  test('a precompile moves; with geth not onto an account that is overridden', async () => {
    const move = { [IDENTITY]: { movePrecompileToAddress: at(5) } };
    const call = { to: at(5), data: '0x1234' };
    expect(await ask('eth_call', call, 'latest', move)).toBe('0x1234');
    const onto = ask('eth_call', call, 'latest', { ...move, [at(5)]: { balance: '0x1' } });
    if (gasSearch === 'besu') expect(await onto).toBe('0x1234');
    else await expect(onto).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('overridden') });
    const none = ask('eth_call', call, 'latest', { [at(1)]: { movePrecompileToAddress: at(5) } });
    await expect(none).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('not a precompile') });
  });

  test('the access list of a call has what it touches, in order, and no more', async () => {
    const { accessList } = await ask<AccessList>('eth_createAccessList', { from: FROM, to: at(2) });
    expect(accessList).toEqual([
      { address: `0x${'99'.repeat(20)}`, storageKeys: [] },
      { address: at(2), storageKeys: [word(0), word(1), word(2)] },
    ]);
  });

  test('a transfer touches nothing beside its ends (execution-apis: create-al-value-transfer)', async () => {
    const call = { from: FROM, to: `0x01${'00'.repeat(19)}`, value: '0xa', nonce: '0x0' };
    expect(await ask('eth_createAccessList', call, 'latest')).toEqual({ accessList: [], gasUsed: '0x5208' });
  });

  // A creation warms the new address for the rest of the transaction, also where it fails (EIP-2929).
  test.each([
    ['a creation', '5f5ff3', '', []],
    ['a creation that reverts', '5f5ffd', '', []],
    ['a creation that stops with an error', 'fe', '', []],
    ['a creation whose code asks for itself and reverts', '303b5f5ffd', '', []],
    ['a creation that reverts, its address then asked for', '303b5f5ffd', createdCheck('3b'), []],
    ['a creation, its address then called', '5f5ff3', createdCheck('5f5f5f5f5f945af1'), []],
    [
      'an address asked for and then created',
      '5f5ff3',
      '',
      [{ address: CREATED, storageKeys: [] }],
      createdCheck('31'),
    ],
    ['the same, where it reverts', '5f5ffd', '', [{ address: CREATED, storageKeys: [] }], createdCheck('31')],
  ])('the access list of %s', async (_, initCode, after, accessList, before = '') => {
    const code = `0x${before}${creating(initCode)}50${after}00`;
    const overrides = { [at(1)]: { code, nonce: '0x1' } };
    const call = { from: FROM, to: at(1), gas: '0x989680' };
    const found = await ask<AccessList>('eth_createAccessList', call, 'latest', overrides);
    expect(found.accessList).toEqual(accessList);
  });

  test('a call that fails has its list, and the failure beside it', async () => {
    const answer = await ask<AccessList>('eth_createAccessList', { from: FROM, to: at(3) });
    expect(answer).toMatchObject({
      accessList: [{ address: at(3), storageKeys: [word(1)] }],
      error: 'execution reverted',
    });
  });

  test('an access list takes overrides into account and keeps what the caller lists', async () => {
    const listed = [{ address: at(7), storageKeys: [word(8)] }];
    const overrides = { [at(1)]: { code: '0x6005545000' } };
    const { accessList } = await ask<AccessList>(
      'eth_createAccessList',
      { from: FROM, to: at(1), accessList: listed },
      'latest',
      overrides,
    );
    expect(accessList).toEqual([{ address: at(1), storageKeys: [word(5)] }, ...listed]);
    const without = await ask<AccessList>('eth_createAccessList', { from: FROM, to: at(1) });
    expect(without.accessList).toEqual([]);
  });

  test('a transaction with its list uses the gas that was told', async () => {
    const data = transferCalldata(`0x${'51'.repeat(20)}`, 5n);
    const call = { from: FROM, to: TEST_TOKEN, data };
    const { accessList, gasUsed } = await ask<AccessList>('eth_createAccessList', call);
    expect(accessList.flatMap(({ storageKeys }) => storageKeys).length).toBeGreaterThan(1);
    const fees = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
    const raw = signTransaction(0, { nonce: 0, to: TEST_TOKEN, data, gasLimit: 200_000n, ...fees, accessList });
    const hash = await ask<Hex>('eth_sendRawTransaction', raw);
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', gasUsed });
  });
});
