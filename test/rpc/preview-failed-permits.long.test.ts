import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { type Argument, type Contracts, callData, contracts } from '../support/contracts.js';
import { type DevNode, devNode, stranger } from '../support/dev-node.js';
import { DOMAINS, PERMIT2, SAFE, SIGNER, TAKER, TOKEN, type TypedData, typed } from '../support/signatures.js';

const DAI = stranger('da');
/** Calls what the input begins with, with the rest, and takes all of it back. */
const REVERTER = stranger('fe');
// CALLDATACOPY of all after 20 bytes, to 0; CALL the address of the first 20; REVERT.
const REVERTER_CODE = '0x60143603601460003760006000601436036000600060003560601c5af15060006000fd';
const FAR = 4_000_000_000n;
const MOST = (1n << 256n) - 1n;
const GAS = '0x7a1200';

let compiled: Contracts;
beforeAll(async () => {
  compiled = await contracts();
});

let dev: DevNode;
beforeEach(async () => {
  dev = await devNode();
  const place = (address: Hex, name: string) => dev.ask('anvil_setCode', address, compiled[name]!.runtimeCode);
  await place(TOKEN, 'SignedToken');
  await place(DAI, 'DaiLike');
  await place(PERMIT2, 'Permits');
  await dev.ask('anvil_setCode', REVERTER, REVERTER_CODE);
});

interface Call {
  readonly to: Hex;
  readonly data: Hex;
}
const rpc = <T>(method: string, ...params: unknown[]) => dev.ask<T>(method, ...params);

async function parts(data: TypedData, by: Hex) {
  const signature = await rpc<Hex>('eth_signTypedData_v4', by, data);
  const [r, s] = [signature.slice(2, 66), signature.slice(66, 130)].map((one) => `0x${one}` as Hex);
  return { signature, rest: [BigInt(`0x${signature.slice(130)}`), r!, s!] satisfies Argument[] };
}

/** ERC-2612. */
async function permit(
  nonce: bigint,
  { deadline = FAR, by = SIGNER }: { deadline?: bigint; by?: Hex } = {},
): Promise<Call> {
  const fields = { owner: SIGNER, spender: TAKER, value: 77n, nonce, deadline };
  const { rest } = await parts(typed('permit', DOMAINS.token, fields), by);
  const signature = 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)';
  return { to: TOKEN, data: callData(compiled.SignedToken, signature, SIGNER, TAKER, 77n, deadline, ...rest) };
}

async function daiPermit(nonce: bigint): Promise<Call> {
  const fields = { holder: SIGNER, spender: TAKER, nonce, expiry: 0n, allowed: true };
  const domain = { ...DOMAINS.token, verifyingContract: DAI };
  const { rest } = await parts(typed('daiPermit', domain, fields), SIGNER);
  const signature = 'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)';
  return { to: DAI, data: callData(compiled.DaiLike, signature, SIGNER, TAKER, nonce, 0n, 1n, ...rest) };
}

async function permit2(nonce: bigint): Promise<Call> {
  const details = { token: TOKEN, amount: 55n, expiration: FAR, nonce };
  const { signature } = await parts(
    typed('permitSingle', DOMAINS.permit2, { details, spender: TAKER, sigDeadline: FAR }),
    SIGNER,
  );
  const name = 'permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)';
  const args = [SIGNER, TOKEN, 55n, FAR, nonce, TAKER, FAR, { bytes: signature }] satisfies Argument[];
  return { to: PERMIT2, data: callData(compiled.Permits, name, ...args) };
}

/** The same call inside one that fails. */
const takenBack = ({ to, data }: Call): Call => ({ to: REVERTER, data: `0x${to.slice(2)}${data.slice(2)}` });

async function rightsOf(call: Call) {
  const { calls, warnings } = await dev.node.previewTransaction({ from: SIGNER, ...call, gas: GAS });
  expect(calls[0]!.status).toBe('reverted');
  return {
    rights: calls[0]!.approvals,
    granted: warnings.filter(({ code }) => code === 'right-granted').map(({ severity }) => severity),
  };
}

/** Sends it as the spender. @returns whether it took effect */
async function use(call: Call): Promise<boolean> {
  const hash = await rpc<Hex>('eth_sendTransaction', { from: TAKER, ...call, gas: GAS });
  return (await rpc<{ status: Hex }>('eth_getTransactionReceipt', hash)).status === '0x1';
}

const allowance = async (token: Hex) =>
  BigInt(
    await rpc<Hex>('eth_call', {
      to: token,
      data: callData(compiled.SignedToken, 'allowance(address,address)', SIGNER, TAKER),
    }),
  );
const right = (token: Hex, amount: bigint, validity: string) => ({
  ...{ kind: 'right', right: 'permit', token, owner: SIGNER, spender: TAKER, evidence: 'state', validity },
  ...{ told: `0x${amount.toString(16)}`, before: null, after: null },
});

describe('a permit that failed is still a right', () => {
  test('of ERC-2612, taken back with the call around it', async () => {
    const signed = await permit(0n);
    expect(await rightsOf(takenBack(signed))).toEqual({ rights: [right(TOKEN, 77n, 'now')], granted: ['danger'] });
    expect(await use(signed)).toBe(true);
    expect(await allowance(TOKEN)).toBe(77n);
  });

  test('of ERC-2612, with a nonce that comes later', async () => {
    const [first, second] = [await permit(0n), await permit(1n)];
    expect(await rightsOf(second)).toEqual({ rights: [right(TOKEN, 77n, 'later')], granted: ['danger'] });
    expect([await use(second), await use(first), await use(second)]).toEqual([false, true, true]);
    // Used once: nothing is left of the first.
    expect(await rightsOf(first)).toEqual({ rights: [], granted: [] });
  });

  test('of Dai, whose call names the nonce', async () => {
    const signed = await daiPermit(0n);
    expect(await rightsOf(takenBack(signed))).toEqual({ rights: [right(DAI, MOST, 'now')], granted: ['danger'] });
    expect(await use(signed)).toBe(true);
    expect(await allowance(DAI)).toBe(MOST);
    expect(await rightsOf(signed)).toEqual({ rights: [right(DAI, MOST, 'past')], granted: [] });
    expect(await use(signed)).toBe(false);
  });

  test('of Permit2', async () => {
    const [signed, next] = [await permit2(0n), await permit2(1n)];
    expect(await rightsOf(takenBack(signed))).toEqual({ rights: [right(TOKEN, 55n, 'now')], granted: ['danger'] });
    expect(await rightsOf(next)).toEqual({ rights: [right(TOKEN, 55n, 'later')], granted: ['danger'] });
    expect([await use(signed), await use(next)]).toEqual([true, true]);
    expect(await rightsOf(signed)).toEqual({ rights: [right(TOKEN, 55n, 'past')], granted: [] });
  });

  test('but not after its deadline, and not if somebody else signed it', async () => {
    expect(await rightsOf(await permit(0n, { deadline: 1n }))).toEqual({
      rights: [right(TOKEN, 77n, 'past')],
      granted: [],
    });
    const forged = await permit(0n, { by: TAKER });
    expect(await use(forged)).toBe(false);
    expect(await rightsOf(forged)).toEqual({ rights: [], granted: [] });
  });
});

test('a Safe that needs fewer owners than before is a danger, one that needs more is not', async () => {
  // getThreshold() answers slot 0; with another input, the word of the input is stored, and ChangedThreshold told.
  const topic = '610f7ff2b304ae8903c3de74c60c6ab1f7d6226b3f52c5161905bb5ad4039c93';
  // PUSH0 CALLDATALOAD, PUSH1 224 SHR, PUSH4 getThreshold() EQ, JUMPI 63; else MSTORE and SSTORE the word, LOG1.
  const code = `0x5f3560e01c63e75235b814603f5760003580600055600052${`7f${topic}`}60206000a1005b60005460005260206000f3`;
  const safe = { code, stateDiff: { [`0x${'0'.repeat(64)}`]: `0x${'3'.padStart(64, '0')}` } } as const;
  const change = (threshold: bigint) =>
    dev.node.previewTransaction(
      { from: SIGNER, to: SAFE, data: `0x${threshold.toString(16).padStart(64, '0')}` },
      { stateOverrides: { [SAFE]: safe } },
    );
  const fewer = await change(1n);
  const told = { kind: 'right', right: 'safe-threshold', token: SAFE, owner: SAFE, before: '0x3' };
  expect(fewer.calls[0]!.approvals).toMatchObject([{ ...told, told: '0x1', after: '0x1' }]);
  expect(fewer.warnings).toContainEqual(
    expect.objectContaining({
      code: 'right-granted',
      severity: 'danger',
      right: 'safe-threshold',
      owner: SAFE,
      amount: '0x1',
    }),
  );
  const more = await change(4n);
  expect(more.calls[0]!.approvals).toMatchObject([{ ...told, told: '0x4', after: '0x4' }]);
  expect(more.warnings.map(({ code: found }) => found)).not.toContain('right-granted');
});
