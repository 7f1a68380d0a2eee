import { describe, expect, test } from 'vitest';
import type { TransactionDiagnosis } from '../../src/diagnosis/diagnosis.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, type DevNode, devNode, PRICE, stranger } from '../support/dev-node.js';
import { failing } from '../support/diagnoses.js';
import { signTransaction, type Unsigned } from '../support/sign.js';

/** Each writes 1 to this many slots that are zero: PUSH1, PUSH2, SSTORE. */
const slots = (count: number): Hex =>
  `0x${Array.from({ length: count }, (_, slot) => `600161${slot.toString(16).padStart(4, '0')}55`).join('')}`;
const FIVE = stranger('f5');
const MANY = stranger('f6');
const CALLER = stranger('f7');
const READER = stranger('f8');
const BURNER = stranger('f9');
const alloc = {
  [FIVE]: { nonce: 1n, code: slots(5) },
  [MANY]: { nonce: 1n, code: slots(200) },
  // CALL(GAS, FIVE, 0, …), and REVERT with nothing if it fails
  [CALLER]: { nonce: 1n, code: `0x5f5f5f5f5f73${FIVE.slice(2)}5af16022575f5ffd5b00` as Hex },
  // SLOAD of 20 slots: PUSH1, SLOAD, POP
  [READER]: {
    nonce: 1n,
    code: `0x${Array.from({ length: 20 }, (_, slot) => `60${slot.toString(16).padStart(2, '0')}5450`).join('')}` as Hex,
  },
  [BURNER]: { nonce: 1n, code: '0xfe' as Hex },
};
const network = devnet({ hardfork: 'amsterdam' });
const chain = { kind: 'devnet', network, mining: 'manual', alloc } as const;
const open = () => devNode({ chain });

const sign = (fields: Partial<Unsigned>): Hex =>
  signTransaction(0, { to: FIVE, value: 0n, gasLimit: 100_000n, nonce: 0, ...PRICE, ...fields });
const stateGas = ({ checks }: TransactionDiagnosis) => checks.find(({ check }) => check === 'state-gas');

/** Status and gas of the transaction in the next block; the chain is then as before. */
async function mined({ ask }: DevNode, raw: Hex) {
  const snapshot = await ask('evm_snapshot');
  const hash = await ask<Hex>('eth_sendRawTransaction', raw);
  await ask('evm_mine');
  const { status, gasUsed } = await ask<{ status: Hex; gasUsed: Hex }>('eth_getTransactionReceipt', hash);
  await ask('evm_revert', snapshot);
  return { status, gasUsed: Number(gasUsed) };
}

describe('out of state gas is a finding of its own', () => {
  // Figures of docs/spec/amsterdam.md 1, 3 and 6: a call takes 15 000, two pushes and SSTORE 6 + 2 100 + 10 000 and 97 920 of state gas.
  test.each<[string, Partial<Unsigned>, number, number, number]>([
    ['five new slots', { gasLimit: 565_129n }, 75_530, 489_600, 565_130],
    ['five new slots, far too little', { gasLimit: 80_000n }, 75_530, 489_600, 565_130],
    ['a transfer to a new account', { to: stranger('55'), value: 1n, gasLimit: 21_000n }, 21_000, 183_600, 204_600],
    // 24 000, 4 bytes 64, a word 2; PUSH1, PUSH0 and memory 8; a new account, and 32 bytes of code at 1 530, hashed for 6.
    // The floor of 24 000 and 256 is above its 24 080 of execution gas.
    ['a creation', { to: '0x', data: '0x60205ff3', gasLimit: 100_000n }, 24_256, 232_560, 256_640],
    ['two hundred new slots, above 2^24', { to: MANY, gasLimit: 20_000_000n }, 2_436_200, 19_584_000, 22_020_200],
  ])('%s', async (_, fields, executionGas, used, needed) => {
    const node = await open();
    const raw = sign(fields);
    const answer = await node.node.diagnoseTransaction(raw);
    expect([answer.verdict, failing(answer)]).toEqual(['will-be-included', ['state-gas', 'execution']]);
    const finding = stateGas(answer)!;
    expect(finding).toMatchObject({ basis: 'execution', unit: 'gas', rule: 'at least', failure: 'none' });
    expect(Number(finding.found)).toBe(Number(fields.gasLimit));
    expect(Number(finding.needed)).toBe(needed);
    expect([finding.used!.executionGas, finding.used!.stateGas].map(Number)).toEqual([executionGas, used]);
    expect(answer.nextStep).toMatch(/runs out of state gas/);
    expect(answer.nextStep).toContain(`Its gas limit is ${fields.gasLimit}, and ${needed} is enough`);

    expect((await mined(node, raw)).status).toBe('0x0');
    const gasLimit = BigInt(finding.needed!);
    expect((await mined(node, sign({ ...fields, gasLimit: gasLimit - 1n }))).status).toBe('0x0');
    const enough = sign({ ...fields, gasLimit });
    expect(await mined(node, enough)).toEqual({ status: '0x1', gasUsed: needed });
    const again = await node.node.diagnoseTransaction(enough);
    expect([again.verdict, failing(again)]).toEqual(['will-be-included', []]);
    expect(stateGas(again)).toMatchObject({ outcome: 'ok', used: finding.used });
  });

  test('a caller that reverts where the called contract ran out of it', async () => {
    const node = await open();
    const fields = { to: CALLER, gasLimit: 500_000n };
    const answer = await node.node.diagnoseTransaction(sign(fields));
    expect(failing(answer)).toEqual(['state-gas', 'execution']);
    expect(answer.checks.find(({ check }) => check === 'execution')!.reason).toBe('execution reverted');
    const gasLimit = BigInt(stateGas(answer)!.needed!);
    expect((await mined(node, sign({ ...fields, gasLimit: gasLimit - 1n }))).status).toBe('0x0');
    expect((await mined(node, sign({ ...fields, gasLimit }))).status).toBe('0x1');
  });

  test('a call that names its gas', async () => {
    const { node } = await open();
    const answer = await node.diagnoseTransaction({ from: accountAt(0), to: FIVE, gas: '0x186a0' });
    expect(failing(answer)).toEqual(['state-gas', 'execution']);
    expect(Number(stateGas(answer)!.needed)).toBe(565_130);
    const filled = await node.diagnoseTransaction({ from: accountAt(0), to: FIVE });
    expect([filled.verdict, failing(filled)]).toEqual(['will-be-included', []]);
  });
});

test('plain out of gas, and other failures, are no lack of state gas', async () => {
  const node = await open();
  const poor = await node.node.diagnoseTransaction(sign({ to: READER, gasLimit: 30_000n }));
  expect(failing(poor)).toEqual(['execution']);
  expect(stateGas(poor)!.outcome).toBe('ok');
  // 15 000, and 20 times 3 + 2 100 + 2.
  expect(poor.nextStep).toContain('out of gas; with a gas limit of 57100 it succeeds');
  expect((await mined(node, sign({ to: READER, gasLimit: 57_099n }))).status).toBe('0x0');
  expect((await mined(node, sign({ to: READER, gasLimit: 57_100n }))).status).toBe('0x1');
  // Neither kind suffices.
  const both = await node.node.diagnoseTransaction(sign({ gasLimit: 20_000n }));
  expect(failing(both)).toEqual(['execution']);
  expect(stateGas(both)).toMatchObject({ outcome: 'unknown', reason: 'execution gas is missing too' });
  expect(both.nextStep).toContain('with a gas limit of 565130 it succeeds');
  const never = await node.node.diagnoseTransaction(sign({ to: BURNER }));
  expect(failing(never)).toEqual(['execution']);
  expect(stateGas(never)!.outcome).toBe('ok');
});

test('before Amsterdam there is no state gas', async () => {
  const { node } = await devNode({ chain: { ...chain, network: devnet({ hardfork: 'osaka' }) } });
  const answer = await node.diagnoseTransaction(sign({ gasLimit: 60_000n }));
  expect(failing(answer)).toEqual(['execution']);
  expect(stateGas(answer)).toBeUndefined();
});

describe('limits of the gas limit', () => {
  const above = { gasLimit: 2n ** 24n + 1n };

  test('above 2^24 it is refused under Osaka, and is state gas under Amsterdam', async () => {
    const osaka = await devNode({ chain: { ...chain, network: devnet({ hardfork: 'osaka' }) } });
    const refused = await osaka.node.diagnoseTransaction(sign(above));
    expect([refused.verdict, failing(refused)]).toEqual(['will-be-refused', ['gas-cap']]);
    expect(refused.nextStep).toBe('Lower the gas limit to 16777216 or less (EIP-7825); it is 16777217.');
    const node = await open();
    const taken = await node.node.diagnoseTransaction(sign(above));
    expect([taken.verdict, failing(taken)]).toEqual(['will-be-included', []]);
    expect((await mined(node, sign(above))).status).toBe('0x1');
  });

  /** The limits of the profile and of a block do not bind. */
  const wide = { ...network, txGasLimit: 2n ** 34n, blockGasLimit: 2n ** 34n, calldataLimit: 400_000 };
  const wideNode = () => devNode({ chain: { ...chain, network: wide } });

  test('2^32 - 1 is the most (check 2)', async () => {
    const { node, ask } = await wideNode();
    await ask('hardhat_setBalance', accountAt(0), '0xffffffffffffffffffff');
    const most = await node.diagnoseTransaction(sign({ gasLimit: 2n ** 32n - 1n }));
    expect([most.verdict, failing(most)]).toEqual(['will-be-included', []]);
    const raw = sign({ gasLimit: 2n ** 32n });
    const answer = await node.diagnoseTransaction(raw);
    expect([answer.verdict, failing(answer)]).toEqual(['will-be-refused', ['gas-cap']]);
    expect(answer.nextStep).toBe('Lower the gas limit to 4294967295 or less (EIP-8037); it is 4294967296.');
    await expect(ask('eth_sendRawTransaction', raw)).rejects.toThrow();
  });

  test('what bytes and type cost is execution gas, at most 2^24 (check 10)', async () => {
    const { node, ask } = await wideNode();
    await ask('hardhat_setBalance', accountAt(0), '0xffffffffffffffffffff');
    // 15 000 and 64 for each byte: 261 909 bytes cost 16 777 176, one more costs 16 777 240.
    const of = (bytes: number) => sign({ to: BURNER, data: `0x${'01'.repeat(bytes)}`, gasLimit: 20_000_000n });
    expect(failing(await node.diagnoseTransaction(of(261_909)))).not.toContain('intrinsic-cap');
    const answer = await node.diagnoseTransaction(of(261_910));
    expect([answer.verdict, failing(answer)]).toEqual(['will-be-refused', ['intrinsic-cap']]);
    const { found, needed } = answer.checks.find(({ check }) => check === 'intrinsic-cap')!;
    expect([found, needed].map(Number)).toEqual([16_777_240, 16_777_216]);
    await expect(ask('eth_sendRawTransaction', of(261_910))).rejects.toThrow(/16777240/);
    const call = { from: accountAt(0), to: BURNER, data: `0x${'01'.repeat(261_910)}` as Hex } as const;
    const filled = await node.diagnoseTransaction(call);
    expect([filled.verdict, failing(filled)]).toEqual(['will-be-refused', ['intrinsic-cap']]);
  });
});
