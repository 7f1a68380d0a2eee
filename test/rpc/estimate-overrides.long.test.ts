import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { GAS_SEARCHES } from '../../src/networks/gas-searches.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { contracts, word } from '../support/contracts.js';
import { transferCalldata } from '../support/sign.js';

const RICH = DEV_ACCOUNTS[0]!.address;
const POOR: Hex = `0x${'77'.repeat(20)}`;
const RECEIVER: Hex = `0x${'88'.repeat(20)}`;
const CLEARER: Hex = `0x${'99'.repeat(20)}`;
/** What the overrides pretend, really there: an estimate with them has to be the estimate of this. */
const FILLED: Hex = `0x${'9a'.repeat(20)}`;
const FUNDED: Hex = `0x${'66'.repeat(20)}`;
const TWIN_TOKEN: Hex = `0x${'67'.repeat(20)}`;
const NO_CODE_YET: Hex = `0x${'aa'.repeat(20)}`;
const ETHER: Hex = '0xde0b6b3a7640000';

const { SlotClearer, TestToken } = await contracts();
const clear: Hex = `0x${SlotClearer!.methodIdentifiers['clear()']}`;
const fill: Hex = `0x${SlotClearer!.methodIdentifiers['fill()']}`;

const hexWord = (value: bigint | number): Hex => `0x${word(value)}`;
const slotOf = (owner: Hex): Hex => bytesToHex(tokenBalanceSlot(hexToBytes(owner)));
const cells = Object.fromEntries(Array.from({ length: 24 }, (_, i) => [hexWord(i), hexWord(i + 1)]));

describe.each(GAS_SEARCHES)('overrides of an estimate by the %s search', (gasSearch) => {
  let node: PlumblineNode;
  const ask = <T>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;
  const linea = async (call: object, ...rest: unknown[]) =>
    (await ask<{ gasLimit: Hex }>('linea_estimateGas', call, ...rest)).gasLimit;

  beforeAll(async () => {
    const alloc = {
      [CLEARER]: { nonce: 1n, code: SlotClearer!.runtimeCode },
      [FILLED]: { nonce: 1n, code: SlotClearer!.runtimeCode, storage: cells },
      [FUNDED]: { balance: BigInt(ETHER) },
      [TWIN_TOKEN]: { nonce: 1n, code: TestToken!.runtimeCode, storage: { [slotOf(FUNDED)]: hexWord(500) } },
    };
    node = await createInlineNode({ chain: { kind: 'devnet', network: devnet({ gasSearch }), alloc } });
  });
  afterAll(() => node.close());

  /** Both methods give the same limit with the overrides, and fail without them, before and after. */
  async function onlyWith(call: object, overrides: object, error: object): Promise<Hex> {
    await expect(linea(call)).rejects.toMatchObject(error);
    const gasLimit = await linea(call, overrides);
    await expect(linea(call)).rejects.toMatchObject(error);
    expect(await linea(call, 'latest', overrides)).toBe(gasLimit);
    expect(await linea(call, null, overrides)).toBe(gasLimit);
    expect(await ask('eth_estimateGas', call, 'pending', overrides)).toBe(gasLimit);
    await expect(linea(call)).rejects.toMatchObject(error);
    return gasLimit;
  }

  test('money for the sender', async () => {
    const call = { from: POOR, to: RECEIVER, value: '0x5' };
    const overrides = { [POOR]: { balance: ETHER } };
    expect(await onlyWith(call, overrides, { code: expect.any(Number) })).toBe('0x5208');
    expect(await ask('eth_getBalance', POOR, 'latest')).toBe('0x0');
    expect(await ask('eth_getBalance', RECEIVER, 'latest')).toBe('0x0');
  });

  test.each([{ gasPrice: '0x3b9aca00' }, { maxFeePerGas: '0x3b9aca00', maxPriorityFeePerGas: '0x1' }])(
    'money for the sender of a call with a price, %o',
    async (price) => {
      const call = { from: POOR, to: RECEIVER, value: '0x5', ...price };
      const gasLimit = await onlyWith(call, { [POOR]: { balance: ETHER } }, { code: expect.any(Number) });
      expect(gasLimit).toBe('0x5208');
      // Of a sender with some money, too: docs/spec/interface.md 2.5, rule 3.
      const dear = { from: FUNDED, to: RECEIVER, gasPrice: ETHER };
      const rich = { [FUNDED]: { balance: '0xd3c21bcecceda1000000' } };
      expect(await onlyWith(dear, rich, { code: expect.any(Number) })).toBe('0x5208');
    },
  );

  test('tokens for the sender, by stateDiff', async () => {
    const call = { from: POOR, to: TEST_TOKEN, data: transferCalldata(RECEIVER, 500n) };
    const stateDiff = { [slotOf(POOR)]: hexWord(500) };
    const overrides = { [POOR]: { balance: ETHER }, [TEST_TOKEN]: { stateDiff } };
    const gasLimit = await onlyWith(call, overrides, {
      code: 3,
      message: expect.stringMatching(/^Execution reverted/),
    });
    expect(await linea({ ...call, from: FUNDED, to: TWIN_TOKEN })).toBe(gasLimit);
    expect(await ask('eth_getStorageAt', TEST_TOKEN, slotOf(POOR), 'latest')).toBe(hexWord(0));
    expect(await ask('eth_getStorageAt', TEST_TOKEN, slotOf(RECEIVER), 'latest')).toBe(hexWord(0));
  });

  test('slots to clear, which change the answer and nothing else', async () => {
    const call = { from: RICH, to: CLEARER, data: clear };
    const before = await linea(call);
    const overrides = { [CLEARER]: { stateDiff: cells } };
    const during = await linea(call, overrides);
    expect(await linea(call)).toBe(before);
    expect(await ask('eth_estimateGas', call, 'latest', overrides)).toBe(during);
    expect(await linea(call, { [CLEARER]: { state: cells } })).toBe(during);
    expect(during).not.toBe(before);
    expect(during).toBe(await linea({ ...call, to: FILLED }));
    expect(await linea(call)).toBe(before);
    expect(await ask('eth_getStorageAt', CLEARER, '0x0', 'latest')).toBe(hexWord(0));
  });

  test('code where there is none', async () => {
    const call = { from: RICH, to: NO_CODE_YET, data: fill };
    const before = await linea(call);
    const during = await linea(call, { [NO_CODE_YET]: { code: SlotClearer!.runtimeCode } });
    expect(during).toBe(await linea({ from: RICH, to: CLEARER, data: fill }));
    expect(await linea(call)).toBe(before);
    expect(await ask('eth_getCode', NO_CODE_YET, 'latest')).toBe('0x');
  });

  test('a nonce', async () => {
    const overrides = { [RICH]: { nonce: '0x63' } };
    expect(await linea({ from: RICH, to: RECEIVER }, overrides)).toBe('0x5208');
    expect(await ask('eth_getTransactionCount', RICH, 'latest')).toBe('0x0');
  });
});
