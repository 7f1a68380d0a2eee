import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { GAS_SEARCHES } from '../../src/networks/gas-searches.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { contracts, word } from '../support/contracts.js';
import { estimateScene } from '../support/estimate-scene.js';

const compiled = await contracts();
const scene = estimateScene(compiled);
const { faults } = scene;
const FROM = DEV_ACCOUNTS[0]!.address;
const POOR: Hex = `0x${'77'.repeat(20)}`;
const PRECOMPILES: Hex = `0x${'78'.repeat(20)}`;
const alloc = { ...scene.alloc, [PRECOMPILES]: { nonce: 1n, code: compiled.Precompiles!.runtimeCode } };

const hash = (text: string): Hex => bytesToHex(keccak_256(new TextEncoder().encode(text)));
const selector = (signature: string): Hex => hash(signature).slice(0, 10) as Hex;
const fault = (signature: string, argument = ''): object => ({
  from: FROM,
  to: faults,
  data: `${selector(signature)}${argument}`,
});

/** Largest gas limit of a transaction since Osaka (EIP-7825), where the searches begin. */
const CAP = 2 ** 24;
const OUT_OF_GAS = { code: -32000, message: expect.stringMatching(/out of gas/i) };
const ALLOWANCE = { code: -32000, message: `gas required exceeds allowance (${CAP})` };

describe.each(GAS_SEARCHES)('errors of an estimate by the %s search', (gasSearch) => {
  let node: PlumblineNode;
  const ask = (method: string, ...params: unknown[]) => node.request<UntypedMethod>({ method, params });

  beforeAll(async () => {
    node = await createInlineNode({ chain: { kind: 'devnet', network: devnet({ gasSearch }), alloc } });
  });
  afterAll(() => node.close());

  /** Both methods answer the error, and the next request is answered. */
  async function refusesBoth(call: object, error: object): Promise<void> {
    await expect(ask('linea_estimateGas', call)).rejects.toMatchObject(error);
    await expect(ask('eth_estimateGas', call)).rejects.toMatchObject(error);
    await stillAnswers();
  }

  async function stillAnswers(): Promise<void> {
    expect(await ask('linea_estimateGas', { from: FROM, to: POOR })).toMatchObject({ gasLimit: '0x5208' });
  }

  test('a custom error comes back as its data', async () => {
    const data = `${selector('Refused(address,uint256)')}${word(FROM)}${word(44)}`;
    await refusesBoth(fault('refuse(uint256)', word(44)), { code: 3, message: 'Execution reverted', data });
  });

  test('a reason comes back as text and as data', async () => {
    const text = bytesToHex(new TextEncoder().encode('not today')).slice(2);
    const data = `${selector('Error(string)')}${word(32)}${word(9)}${text.padEnd(64, '0')}`;
    const message = expect.stringMatching(/^Execution reverted.*not today/);
    await refusesBoth(fault('refuseWithText()'), { code: 3, message, data });
  });

  test('a panic comes back as its data, 0x12 for a division by zero', async () => {
    const data = `${selector('Panic(uint256)')}${word(0x12)}`;
    await refusesBoth(fault('divideByZero(uint256)', word(9)), { code: 3, data });
  });

  test('a revert without data', async () => {
    await refusesBoth(fault('refuseSilently()'), { code: 3, message: 'Execution reverted', data: '0x' });
  });

  test.each(['loopForEver()', 'fillForEver()'])('%s runs out of gas', async (signature) => {
    await refusesBoth(fault(signature), gasSearch === 'geth' ? ALLOWANCE : OUT_OF_GAS);
  });

  test('an invalid instruction', async () => {
    await refusesBoth(fault('stopBadly()'), { code: -32000, message: expect.stringMatching(/invalid opcode/i) });
  });

  test('a creation whose constructor reverts', async () => {
    // revert(0, 0)
    await refusesBoth({ from: FROM, data: '0x5f5ffd' }, { code: 3, data: '0x' });
  });

  test('one byte of calldata more than the network takes', async () => {
    const message = 'Calldata of transaction is greater than the allowed max of 60000';
    const call = { from: FROM, to: POOR, data: `0x${'00'.repeat(60_001)}` };
    await expect(ask('linea_estimateGas', call)).rejects.toMatchObject({ code: -32000, message });
    await stillAnswers();
    const largest = { ...call, data: `0x${'00'.repeat(60_000)}` };
    // EIP-7623: ten gas for each zero byte is the least.
    const { gasLimit } = (await ask('linea_estimateGas', largest)) as { gasLimit: Hex };
    expect(BigInt(gasLimit)).toBeGreaterThanOrEqual(621_000n);
  });

  test.each([
    ['an address of 19 bytes', { [`0x${'11'.repeat(19)}`]: { balance: '0x1' } }, '0x1111'],
    ['an address that is no hex', { nobody: { balance: '0x1' } }, 'nobody'],
    ['a slot of 31 bytes', { [POOR]: { stateDiff: { [`0x${'22'.repeat(31)}`]: `0x${word(1)}` } } }, '0x2222'],
    ['a value of 33 bytes', { [POOR]: { state: { [`0x${word(1)}`]: `0x${'33'.repeat(33)}` } } }, 'state'],
    ['a balance that is no quantity', { [POOR]: { balance: 'much' } }, 'balance'],
    ['an account that is no object', { [POOR]: 5 }, POOR],
    ['a list', [], 'stateOverride'],
  ])('an override with %s', async (_, overrides, named) => {
    const error = { code: -32602, message: expect.stringContaining(named) };
    await expect(ask('linea_estimateGas', { from: FROM, to: POOR }, overrides)).rejects.toMatchObject(error);
    const inThird = ask('eth_estimateGas', { from: FROM, to: POOR }, 'latest', overrides);
    await expect(inThird).rejects.toMatchObject({ code: -32602 });
    await stillAnswers();
  });

  test.each(['maxFeePerGas', 'maxPriorityFeePerGas', 'maxFeePerBlobGas'])(
    'gasPrice together with %s',
    async (member) => {
      const call = { from: FROM, to: POOR, gasPrice: '0x3b9aca00', [member]: '0x3b9aca00' };
      await refusesBoth(call, { code: -32602, message: expect.stringMatching(/^Invalid params/) });
    },
  );

  test('init code above the limit of EIP-3860', async () => {
    const message = 'init code of 49153 bytes is above the limit of 49152 (EIP-3860)';
    await refusesBoth({ from: FROM, data: `0x${'00'.repeat(49_153)}` }, { code: -32000, message });
  });

  test('a sender without funds, no price', async () => {
    // 21 000 gas at the base fee of 7 wei.
    const message = `transaction up-front cost 0x23e38 exceeds transaction sender account balance 0x0 for sender ${POOR}`;
    const call = { from: POOR, to: FROM };
    await expect(ask('linea_estimateGas', call)).rejects.toMatchObject({ code: -32000, message });
    await stillAnswers();
  });

  test('a sender without funds, and a price', async () => {
    const call = { from: POOR, to: FROM, maxFeePerGas: '0x3b9aca00' };
    const error =
      gasSearch === 'geth'
        ? { code: -32000, message: expect.stringMatching(/insufficient funds|up-front cost/) }
        : { code: -32004, message: 'Upfront cost exceeds account balance' };
    await refusesBoth(call, error);
  });

  test.each([
    ['RIPEMD-160 of two blocks', 'digestRipemd(bytes)', `${word(32)}${word(70)}${'9d'.repeat(70).padEnd(192, '0')}`, 2],
    ['BLAKE2f', 'blake()', '', 1],
  ])('%s, of which the prover takes none', async (_, signature, args, count) => {
    const call = { from: FROM, to: PRECOMPILES, data: `${selector(signature)}${args}` };
    const pattern = new RegExp(`^Transaction line count for module \\S+=${count} is above the limit 0$`);
    const error = { code: -32000, message: expect.stringMatching(pattern) };
    await expect(ask('linea_estimateGas', call)).rejects.toMatchObject(error);
    expect(BigInt((await ask('eth_estimateGas', call)) as Hex)).toBeGreaterThan(21_000n);
    await stillAnswers();
  });

  test('more gas than a transaction of the network may have', async () => {
    const call = { from: FROM, to: POOR, gas: '0x16e3601' };
    const error = { code: -32602, message: expect.stringMatching(/^Invalid params/) };
    await expect(ask('linea_estimateGas', call)).rejects.toMatchObject(error);
    expect(await ask('linea_estimateGas', { ...call, gas: '0x16e3600' })).toMatchObject({ gasLimit: '0x5208' });
  });
});
