import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, devNode, PRICE, stranger, word } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';

interface Account {
  readonly balance?: Hex;
  readonly nonce?: Hex;
  readonly storage?: Readonly<Record<Hex, Hex>>;
}

interface Answer {
  readonly transactions: readonly {
    readonly return: Hex;
    readonly error?: string;
    readonly callTrace?: {
      readonly error?: string;
      readonly output?: Hex;
      readonly logs?: readonly { address: Hex }[];
    };
    readonly gasUsed?: Hex;
    readonly gasLimit?: Hex;
    readonly gasCost?: number;
    readonly stateDiff?: Readonly<Record<'pre' | 'post', Readonly<Record<Hex, Account>>>>;
  }[];
  readonly sponsorship: unknown;
}

const METHOD = 'infura_simulateTransactions';
const receiver = stranger('77');
const transfer = {
  from: accountAt(0),
  to: TEST_TOKEN,
  data: `0xa9059cbb${word(BigInt(receiver)).slice(2)}${word(5n).slice(2)}` as Hex,
};
const balanceOf = (account: Hex) => ({
  from: account,
  to: TEST_TOKEN,
  data: `0x70a08231${word(BigInt(account)).slice(2)}` as Hex,
});

describe(METHOD, () => {
  test('is what happens when the transactions are sent', async () => {
    const { ask } = await devNode();
    const prices = { maxFeePerGas: `0x${PRICE.maxFeePerGas.toString(16)}` as Hex, maxPriorityFeePerGas: '0x5f5e100' };
    const payment = { from: accountAt(0), to: receiver, value: '0x7b', ...prices };
    const { transactions, sponsorship } = await ask<Answer>(METHOD, {
      transactions: [balanceOf(receiver), { ...transfer, ...prices }, payment, balanceOf(receiver)],
      withCallTrace: true,
      withLogs: true,
      withGas: true,
    });
    expect(sponsorship).toEqual({ isSponsored: false, error: null });
    const [before, sent, paid, after] = transactions;
    expect([before!.return, after!.return]).toEqual([word(0n), word(5n)]);
    const balances = async () => [
      await ask<Hex>('eth_getBalance', accountAt(0)),
      await ask<Hex>('eth_getBalance', receiver),
    ];
    for (const [simulated, call] of [
      [sent!, transfer],
      [paid!, { from: payment.from, to: payment.to, value: payment.value }],
    ] as const) {
      const [own, others] = await balances();
      const hash = await ask<Hex>('eth_sendTransaction', { ...call, ...prices, gas: simulated.gasLimit });
      const receipt = await ask<{ status: Hex; gasUsed: Hex; effectiveGasPrice: Hex; logs: { address: Hex }[] }>(
        'eth_getTransactionReceipt',
        hash,
      );
      expect(receipt.status).toBe('0x1');
      expect(simulated.gasUsed).toBe(receipt.gasUsed);
      expect(simulated.gasCost).toBe(Number(receipt.gasUsed) * Number(receipt.effectiveGasPrice));
      expect(simulated.callTrace?.logs?.map(({ address }) => address) ?? []).toEqual(
        receipt.logs.map(({ address }) => address),
      );
      const { pre, post } = simulated.stateDiff!;
      const [ownNow, othersNow] = await balances();
      expect([pre[accountAt(0)]!.balance, post[accountAt(0)]!.balance]).toEqual([own, ownNow]);
      // geth shows an account that was empty before in `post` alone.
      if (others !== othersNow) expect(post[receiver]!.balance).toBe(othersNow);
      expect(Number(post[accountAt(0)]!.nonce)).toBe(Number(await ask('eth_getTransactionCount', accountAt(0))));
    }
  });

  test('without withGas nothing is paid for gas; what is not asked for is left out', async () => {
    const { ask } = await devNode();
    const { transactions } = await ask<Answer>(METHOD, { transactions: [{ ...transfer, maxFeePerGas: '0x3b9aca00' }] });
    const [only] = transactions;
    expect(only!.stateDiff!.post[accountAt(0)]!.balance).toBeUndefined();
    expect([only!.gasCost, only!.callTrace]).toEqual([undefined, undefined]);
    expect(only!.gasLimit).toBe(await ask('eth_estimateGas', transfer));
  });

  test('a cost that no number holds exactly is not paid, and not told', async () => {
    const { ask } = await devNode();
    const dear = { from: accountAt(0), to: receiver, value: '0x7b', gas: '0x186a0', maxFeePerGas: '0xe8d4a51000' };
    expect(100_000 * 1e12).toBeGreaterThan(Number.MAX_SAFE_INTEGER);
    const { transactions } = await ask<Answer>(METHOD, { transactions: [dear], withGas: true });
    const { pre, post } = transactions[0]!.stateDiff!;
    const balance = (accounts: typeof pre) => BigInt(accounts[accountAt(0)]!.balance!);
    expect([balance(pre) - balance(post), transactions[0]!.gasCost]).toEqual([123n, undefined]);
  });

  test('a call that reverts, one that cannot be paid, and the next ones on what was left', async () => {
    const { ask } = await devNode();
    const poor = stranger('99');
    const { transactions } = await ask<Answer>(METHOD, {
      transactions: [
        { ...transfer, from: poor },
        { from: poor, to: receiver, value: '0x1', gas: '0x5208', maxFeePerGas: '0x3b9aca00' },
        transfer,
        balanceOf(receiver),
      ],
      withCallTrace: true,
      withGas: true,
    });
    // The words by which the controller knows a revert.
    expect(transactions[0]).toMatchObject({ error: 'execution reverted', callTrace: { error: 'execution reverted' } });
    expect(transactions[1]!.error).toMatch(/insufficient funds|balance/i);
    expect(transactions[3]!.return).toBe(word(5n));
  });

  test('overrides of the state and the time', async () => {
    const { ask } = await devNode();
    // TIMESTAMP, and the balance of the sender.
    const code = '0x4260005233316020526040 6000f3'.replace(' ', '') as Hex;
    const { transactions } = await ask<Answer>(METHOD, {
      transactions: [{ from: receiver, to: stranger('55') }],
      overrides: { [stranger('55')]: { code }, [receiver]: { balance: '0x1234' } },
      blockOverrides: { time: '0x7fffffff' },
    });
    expect(transactions[0]!.return).toBe(`${word(0x7fffffffn)}${word(0x1234n).slice(2)}`);
  });

  test('an unsigned authorization has the effect and the cost of the signed one', async () => {
    const { ask } = await devNode();
    // Returns its own address.
    const code = '0x3060005260206000f3';
    await ask('anvil_setCode', stranger('55'), code);
    const call = {
      from: accountAt(0),
      to: accountAt(0),
      authorizationList: [{ address: stranger('55'), from: accountAt(0) }],
    };
    const { transactions } = await ask<Answer>(METHOD, {
      transactions: [call, { from: accountAt(1), to: accountAt(0) }],
    });
    expect(transactions.map((one) => one.return)).toEqual(Array(2).fill(word(BigInt(accountAt(0)))));
    // EIP-7702: 25 000 gas for each authorization, of which half is given back for an account that exists, up to a fifth of all.
    expect(Number(transactions[0]!.gasLimit) - Number(transactions[1]!.gasLimit)).toBeGreaterThanOrEqual(25_000);
    expect(Number(transactions[0]!.stateDiff!.post[accountAt(0)]!.nonce)).toBe(2);
  });

  test('a request that is wrong names the member', async () => {
    const { ask } = await devNode();
    for (const [request, message] of [
      [{}, /transactions/],
      [{ transactions: [] }, /transactions: is empty/],
      [{ transactions: [{ to: '0x1' }] }, /to/],
      [{ transactions: [transfer], withLogs: 1 }, /withLogs/],
      [{ transactions: [{ ...transfer, authorizationList: [{ address: '0x' }] }] }, /authorizationList\[0\]\.address/],
    ] as const) {
      await expect(ask(METHOD, request)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringMatching(message),
      });
    }
  });

  test('a light node gives the answer of the devnet, from proofs', async () => {
    const { ask, dev } = await lightScene();
    for (let nonce = 0; nonce < 2; nonce++) await dev.transfer(0, { nonce });
    const request = {
      transactions: [balanceOf(receiver), transfer, balanceOf(receiver)],
      withCallTrace: true,
      withLogs: true,
    };
    expect(await ask(METHOD, request)).toEqual(await dev.ask(METHOD, request));
  });
});
