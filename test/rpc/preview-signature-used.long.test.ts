import { keccak_256 } from '@noble/hashes/sha3.js';
import { expect, test } from 'vitest';
import type { SignaturePreview } from '../../src/index.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { type Argument, type Contracts, callData, contracts } from '../support/contracts.js';
import { devNode, word } from '../support/dev-node.js';
import { seededRandom } from '../support/random.js';
import { DOMAINS, PERMIT2, SIGNER, TAKER, TOKEN, type TypedData, typed } from '../support/signatures.js';

/*
 * Signatures that are previewed, then given, then used. `PLUMBLINE_SEED=N` before the command gives others.
 */

const COUNT = 300;
const SEED = Number(process.env.PLUMBLINE_SEED ?? 39);
const KINDS = ['permit', 'transfer', 'permitSingle', 'permitTransfer', 'permitWitness'] as const;
/** What happens between the first preview and the use. */
const BETWEEN = ['nothing', 'nothing', 'nothing', 'nonce', 'deadline', 'balance'] as const;
const GAS = '0x7a1200';

/** A signature to give, and the call that uses it. */
interface Case {
  readonly data: TypedData;
  readonly deadline: bigint;
  readonly use: (signature: Hex) => { readonly to: Hex; readonly data: Hex };
}

test(`what ${COUNT} previews said is what happens, and a second look finds what changed in between`, async () => {
  const compiled = await contracts();
  const { node, ask } = await devNode();
  await ask('anvil_setBlockTimestampInterval', 2);
  await ask('anvil_setCode', TOKEN, compiled.SignedToken!.runtimeCode);
  await ask('anvil_setCode', PERMIT2, compiled.Permits!.runtimeCode);
  const random = seededRandom(SEED);
  const send = async (from: Hex, call: { readonly to: Hex; readonly data: Hex }) => {
    const hash = await ask('eth_sendTransaction', { from, ...call, gas: GAS });
    return (await ask<{ status: Hex }>('eth_getTransactionReceipt', hash)).status === '0x1';
  };
  const token = (signature: string, ...args: Argument[]) => ({
    to: TOKEN,
    data: callData(compiled.SignedToken, signature, ...args),
  });
  const read = async (to: Hex, data: Hex) => (await ask<Hex>('eth_call', { to, data }, 'latest')) as Hex;
  const balanceOf = async (who: Hex) => BigInt(await read(TOKEN, token('balanceOf(address)', who).data));
  const state = async (): Promise<State> => ({
    signer: await balanceOf(SIGNER),
    taker: await balanceOf(TAKER),
    allowance: BigInt(await read(TOKEN, token('allowance(address,address)', SIGNER, TAKER).data)),
    permit2: await read(
      PERMIT2,
      callData(compiled.Permits, 'allowance(address,address,address)', SIGNER, TOKEN, TAKER),
    ),
  });
  await send(SIGNER, token('mint(address,uint256)', SIGNER, 10n ** 30n));
  await send(SIGNER, token('approve(address,uint256)', PERMIT2, 10n ** 24n));

  const ways = new Map<string, number>();
  for (let i = 0; i < COUNT; i++) {
    const name = `seed ${SEED}, case ${i}`;
    const made = await makeCase(compiled, random, {
      balance: await balanceOf(SIGNER),
      read,
      now: await now(),
      nonce: BigInt(i),
    });
    const first = await node.previewSignature({ typedData: made.data as never }, { account: SIGNER });
    const signature = await ask<Hex>('eth_signTypedData_v4', SIGNER, made.data);
    const call = made.use(signature);
    const between = BETWEEN[random(BETWEEN.length)]!;
    if (between === 'nonce') await send(TAKER, call);
    if (between === 'deadline')
      await ask('evm_setNextBlockTimestamp', Number(made.deadline) + 1).then(
        () => ask('evm_mine'),
        () => undefined,
      );
    if (between === 'balance') await send(SIGNER, token('transferFrom(address,address,uint256)', SIGNER, SIGNER, 0n));
    if (between === 'balance') await send(SIGNER, token('mint(address,uint256)', SIGNER, 12_345n));
    const look =
      between === 'nothing'
        ? first
        : await node.previewSignature({ typedData: made.data as never }, { account: SIGNER });
    if (between === 'nonce' && first.effects!.calls[0]!.status === 'success')
      expect(look.findings, name).toContainEqual(expect.objectContaining({ code: 'used-nonce' }));
    if (between === 'deadline')
      expect(
        look.findings.map(({ code }) => code),
        name,
      ).toContain('expired');
    const before = await state();
    const isSent = await send(TAKER, call);
    const after = await state();
    ways.set(`${between} ${isSent}`, (ways.get(`${between} ${isSent}`) ?? 0) + 1);
    expect(look.effects!.calls[0]!.status === 'success', name).toBe(isSent);
    expect(said(look, before), name).toEqual(after);
  }
  // Each way has come about: used and refused.
  for (const way of ['nothing true', 'nothing false', 'nonce false', 'deadline false', 'balance true'])
    expect(ways.get(way), way).toBeGreaterThan(0);

  async function now(): Promise<bigint> {
    return BigInt((await ask<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false)).timestamp);
  }
});

/** What of the state signatures change. */
interface State {
  readonly signer: bigint;
  readonly taker: bigint;
  readonly allowance: bigint;
  /** The answer of Permit2: amount, expiration, nonce. */
  readonly permit2: Hex;
}

/** The state after the use, by the preview. */
function said({ effects }: SignaturePreview, before: State): State {
  const balance = (account: Hex, otherwise: bigint) => {
    const found = effects!.balances.find(
      (one) => 'account' in one && one.account === account && one.asset.kind === 'erc20' && one.asset.address === TOKEN,
    );
    return found !== undefined && 'account' in found ? BigInt(found.after!) : otherwise;
  };
  const approvals = effects!.calls[0]!.approvals;
  const [allowance] = approvals.filter(({ kind }) => kind === 'erc20');
  const [permit2] = approvals.filter(({ kind }) => kind === 'permit2');
  const nonce = BigInt(`0x${before.permit2.slice(130)}`);
  return {
    signer: balance(SIGNER, before.signer),
    taker: balance(TAKER, before.taker),
    allowance: allowance?.kind === 'erc20' ? BigInt(allowance.after!) : before.allowance,
    permit2:
      permit2?.kind === 'permit2'
        ? `0x${word(BigInt(permit2.after!)).slice(2)}${word(BigInt(permit2.expiration!)).slice(2)}${word(nonce + 1n).slice(2)}`
        : before.permit2,
  };
}

interface Ground {
  readonly balance: bigint;
  readonly now: bigint;
  /** One that was never used. */
  readonly nonce: bigint;
  readonly read: (to: Hex, data: Hex) => Promise<Hex>;
}

async function makeCase(compiled: Contracts, random: (bound: number) => number, ground: Ground): Promise<Case> {
  const { balance, now, read } = ground;
  const kind = KINDS[random(KINDS.length)]!;
  const amount = [0n, 1n, balance / 1_000n, balance / 7n, balance, balance + 1n, (1n << 128n) - 1n][random(7)]!;
  const deadline = random(8) === 0 ? now - 10n : now + 1_000n + BigInt(random(1_000_000));
  const isOther = random(8) === 0;
  const parts = (signature: Hex): readonly [bigint, Hex, Hex] => [
    BigInt(`0x${signature.slice(130)}`),
    signature.slice(0, 66) as Hex,
    `0x${signature.slice(66, 130)}`,
  ];
  const permits = (signature: string, ...args: Argument[]) => ({
    to: PERMIT2,
    // A struct of words stands in its place: the words of its members.
    data: callData(compiled.Permits, signature, ...args),
  });
  switch (kind) {
    case 'permit': {
      const nonce =
        BigInt(await read(TOKEN, callData(compiled.SignedToken, 'nonces(address)', SIGNER))) + (isOther ? 1n : 0n);
      const message = { owner: SIGNER, spender: TAKER, value: amount, nonce, deadline };
      return {
        data: typed('permit', DOMAINS.token, message),
        deadline,
        use: (signature) => ({
          to: TOKEN,
          data: callData(
            compiled.SignedToken,
            'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
            ...[SIGNER, TAKER, amount, deadline, ...parts(signature)],
          ),
        }),
      };
    }
    case 'transfer': {
      const nonce = word(ground.nonce);
      const validAfter = isOther ? now + 500n : 0n;
      const fields = [SIGNER, TAKER, amount, validAfter, deadline, nonce] as const;
      const message = { from: SIGNER, to: TAKER, value: amount, validAfter, validBefore: deadline, nonce };
      return {
        data: typed('transfer', DOMAINS.token, message),
        deadline,
        use: (signature) => ({
          to: TOKEN,
          data: callData(
            compiled.SignedToken,
            'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
            ...[...fields, ...parts(signature)],
          ),
        }),
      };
    }
    case 'permitSingle': {
      const held = await read(
        PERMIT2,
        callData(compiled.Permits, 'allowance(address,address,address)', SIGNER, TOKEN, TAKER),
      );
      const nonce = BigInt(`0x${held.slice(130)}`) + (isOther ? 1n : 0n);
      const expiration = now + BigInt(10_000 + random(1_000));
      const details = { token: TOKEN, amount, expiration, nonce };
      return {
        data: typed('permitSingle', DOMAINS.permit2, { details, spender: TAKER, sigDeadline: deadline }),
        deadline,
        use: (signature) =>
          permits(
            'permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)',
            ...[SIGNER, TOKEN, amount, expiration, nonce, TAKER, deadline, { bytes: signature }],
          ),
      };
    }
    default: {
      const nonce = isOther ? 0n : ground.nonce + 1n;
      const allowance = BigInt(
        await read(TOKEN, callData(compiled.SignedToken, 'allowance(address,address)', SIGNER, PERMIT2)),
      );
      const taken = [balance, allowance].reduce((least, one) => (one < least ? one : least), amount);
      const words = [TOKEN, amount, nonce, deadline, TAKER, taken, SIGNER] as const;
      const base = { permitted: { token: TOKEN, amount }, spender: TAKER, nonce, deadline };
      if (kind === 'permitTransfer')
        return {
          data: typed('permitTransfer', DOMAINS.permit2, base),
          deadline,
          use: (signature) =>
            permits(
              'permitTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes)',
              ...[...words, { bytes: signature }],
            ),
        };
      const number = BigInt(random(1_000));
      const hash = (text: string) => keccak_256(new TextEncoder().encode(text));
      const witness = bytesToHex(
        keccak_256(Uint8Array.from([...hash('Note(uint256 number)'), ...Buffer.from(word(number).slice(2), 'hex')])),
      );
      const type = 'Note witness)Note(uint256 number)TokenPermissions(address token,uint256 amount)';
      return {
        data: typed('permitWitness', DOMAINS.permit2, { ...base, witness: { number } }),
        deadline,
        use: (signature) =>
          permits(
            'permitWitnessTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes32,string,bytes)',
            ...[...words, witness, { bytes: bytesToHex(new TextEncoder().encode(type)) }, { bytes: signature }],
          ),
      };
    }
  }
}
