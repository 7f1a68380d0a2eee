import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { GenesisJson } from '../../src/chain/devnet/state/genesis-json.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { PreviewCall } from '../../src/rpc/schema/transaction-preview.js';
import { accountAt, type DevNode, devNode, PRICE, stranger, word } from '../support/dev-node.js';
import { fixtureJson } from '../support/fixtures.js';
import { type MockOptions, serveMock } from '../support/mock-chain.js';
import { ROUND_TRIPS } from '../support/round-trips.js';
import { signTransaction } from '../support/sign.js';

const receiver = stranger('77');
const transferData = (amount: bigint) => `0xa9059cbb${word(BigInt(receiver)).slice(2)}${word(amount).slice(2)}` as Hex;
const erc20Transfer = { from: accountAt(0), to: TEST_TOKEN, data: transferData(5n) };

async function lightOf(dev: DevNode, options: MockOptions = {}) {
  const mock = await serveMock(dev.node, options);
  onTestFinished(() => mock.close());
  const node = await createInlineNode({ chain: { kind: 'light', network: devnet(), endpoints: [mock.url] } });
  onTestFinished(() => node.close());
  return { node, mock };
}

describe('a preview', () => {
  test('says what a token transfer changes, and what it costs', async () => {
    const { node, ask } = await devNode();
    const preview = await node.previewTransaction(erc20Transfer);
    const asset = { kind: 'erc20', address: TEST_TOKEN };
    const [call] = preview.calls;
    expect(call).toMatchObject({
      status: 'success',
      transfers: [{ asset, from: accountAt(0), to: receiver, amount: '0x5', cause: 'event' }],
      approvals: [],
      contracts: [],
    });
    const balance = (await ask('eth_call', {
      to: TEST_TOKEN,
      data: `0x70a08231${word(BigInt(accountAt(0))).slice(2)}`,
    })) as Hex;
    expect(preview.balances).toContainEqual({
      account: accountAt(0),
      asset,
      before: `0x${BigInt(balance).toString(16)}`,
      after: `0x${(BigInt(balance) - 5n).toString(16)}`,
      told: '-5',
      change: '-5',
    });
    const estimate = (await ask('linea_estimateGas', erc20Transfer)) as Record<string, Hex>;
    const total = BigInt(estimate.gasLimit!) * (BigInt(estimate.baseFeePerGas!) + BigInt(estimate.priorityFeePerGas!));
    expect(call!.fee).toEqual({ ...estimate, total: `0x${total.toString(16)}` });
    expect(preview.tokens).toEqual({ [TEST_TOKEN]: { symbol: 'PLUMB', decimals: 18 } });
    // The receiver was never used.
    expect(preview.warnings).toEqual([{ code: 'new-recipient', severity: 'note', address: receiver }]);
    const { hash } = await ask<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false);
    expect(preview.trust).toEqual({ level: 'held', block: { number: 0, hash }, accessLists: false, overridden: [] });
    // Nothing was kept.
    expect(await ask('eth_getTransactionCount', accountAt(0), 'latest')).toBe('0x0');
  });

  test('is what happens when the calls are sent', async () => {
    const { node, ask } = await devNode();
    const calls = [erc20Transfer, { from: accountAt(0), to: receiver, value: '0xde0b6b3a7640000' }] as const;
    const preview = await node.previewTransaction(calls);
    for (const [i, call] of calls.entries()) {
      const { fee } = preview.calls[i]!;
      const prices = {
        maxFeePerGas: `0x${(BigInt(fee!.baseFeePerGas) + BigInt(fee!.priorityFeePerGas)).toString(16)}`,
      };
      const sent = { ...call, ...prices, maxPriorityFeePerGas: fee!.priorityFeePerGas, gas: fee!.gasLimit };
      const hash = await ask('eth_sendTransaction', sent);
      expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({
        status: '0x1',
        gasUsed: preview.calls[i]!.gasUsed,
      });
    }
    const native = preview.balances.find(
      (one) => 'account' in one && one.account === receiver && one.asset.kind === 'native',
    );
    expect(native).toMatchObject({ before: '0x0', after: await ask('eth_getBalance', receiver, 'latest') });
  });

  test('of signed bytes runs what is signed, and is what happens when they are sent', async () => {
    const { node, ask } = await devNode();
    const fields = { to: TEST_TOKEN, data: transferData(5n), nonce: 0, gasLimit: 90_000n };
    for (const prices of [PRICE, { gasPrice: 10n ** 9n }]) {
      const raw = signTransaction(0, { ...fields, ...prices });
      const preview = await node.previewTransaction(raw);
      const estimated = (await node.previewTransaction(erc20Transfer)).calls[0]!;
      expect(preview.calls[0]).toMatchObject({ status: 'success', transfers: estimated.transfers });
      expect(preview.calls[0]!.tree).toMatchObject({ from: accountAt(0), gas: '0x15f90', input: fields.data });
      expect(preview.users).toEqual([accountAt(0)]);
      const snapshot = await ask('evm_snapshot');
      const before = BigInt((await ask('eth_getBalance', accountAt(0), 'latest')) as Hex);
      const hash = await ask('eth_sendRawTransaction', raw);
      expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ gasUsed: preview.calls[0]!.gasUsed });
      const paid = before - BigInt((await ask('eth_getBalance', accountAt(0), 'latest')) as Hex);
      expect(preview.fees).toEqual({ [accountAt(0)]: `0x${paid.toString(16)}` });
      await ask('evm_revert', snapshot);
    }
    // One after the other, a call among them.
    const list = [signTransaction(0, { ...fields, ...PRICE }), erc20Transfer];
    expect((await node.previewTransaction(list)).calls.map(({ status }) => status)).toEqual(['success', 'success']);
  });

  test('costs at most what the call names for gas limit and price', async () => {
    const { node } = await devNode();
    const named = { ...erc20Transfer, gas: '0x15f90', gasPrice: '0x3b9aca00' } as const;
    const preview = await node.previewTransaction([named, { ...erc20Transfer, maxFeePerGas: '0x77359400' }]);
    const [first, second] = preview.calls;
    expect(BigInt(first!.fee!.total)).toBe(90_000n * 10n ** 9n);
    expect(BigInt(second!.fee!.total)).toBe(BigInt(second!.fee!.gasLimit) * 2n * 10n ** 9n);
    // The sender cannot pay more than that.
    const total = preview.calls.reduce((sum, { fee }) => sum + BigInt(fee!.total), 0n);
    expect(BigInt(preview.fees[accountAt(0)]!)).toBeLessThanOrEqual(total);
  });

  test('of signed bytes that could not be sent is an error', async () => {
    const { node } = await devNode();
    const fields = { to: receiver, value: 1n, gasLimit: 21_000n, nonce: 0, ...PRICE };
    const cases: [unknown, number, RegExp][] = [
      [signTransaction(0, { ...fields, chainId: 5 }), -32000, /is for chain 5/],
      [signTransaction(0, { ...fields, nonce: 7 }), -32006, /nonce/i],
      ['0x02c0', -32602, /Invalid transaction params/],
      ['0x0', -32602, /calls\[0\]/],
    ];
    for (const [raw, code, message] of cases)
      await expect(node.previewTransaction(raw as Hex), String(message)).rejects.toMatchObject({ code, message });
  });

  test('of a call that reverts is a result with its reason', async () => {
    const { node } = await devNode();
    const { calls } = await node.previewTransaction({ ...erc20Transfer, data: transferData(1n << 200n) });
    expect(calls[0]).toMatchObject({ status: 'reverted', transfers: [] });
    expect(calls[0]).not.toHaveProperty('fee');
    // PUSH4 selector, PUSH0, MSTORE, then a revert with it and a word: error TooLittle(uint256).
    const code = '0x63d7ef3a6d60e01b5f5260076004526024 5ffd'.replace(' ', '');
    const stateOverrides = { [receiver]: { code } };
    const custom = await node.previewTransaction({ from: accountAt(0), to: receiver }, { stateOverrides });
    expect(custom.calls[0]!.revert).toMatchObject({ kind: 'custom', selector: '0xd7ef3a6d' });
    expect(custom.trust.overridden).toEqual(['state']);
  });

  test('knows an error by its signature, with and without names of its parameters, and by its ABI', async () => {
    const { node } = await devNode();
    // Reverts with what it is called with.
    const stateOverrides = { [receiver]: { code: '0x365f5f37365ffd' } };
    const reasonOf = async (error: string | object, data: Hex) => {
      const options = { stateOverrides, errors: [error as string] };
      return (await node.previewTransaction({ from: accountAt(0), to: receiver, data }, options)).calls[0]!.revert;
    };
    // As in swap-too-little of the tracing fixtures.
    const tooLittle: Hex = `0x618bc7c9${word(7n).slice(2)}${word(9n).slice(2)}`;
    for (const form of [
      'TooLittle(uint256,uint256)',
      'error TooLittle(uint256 got, uint256 wanted);',
      ' TooLittle( uint got , uint )',
      { type: 'error', name: 'TooLittle', inputs: [{ type: 'uint256' }, { type: 'uint256' }] },
    ])
      expect(await reasonOf(form, tooLittle), String(form)).toMatchObject({
        signature: 'TooLittle(uint256,uint256)',
        args: ['7', '9'],
      });
    // As @noble/hashes has it: Closed((uint256,address)[],address).
    const closed = 'error Closed((uint256 a, address b)[] list, address payable who)';
    expect(await reasonOf(closed, '0x81d35d8c')).toMatchObject({ signature: 'Closed((uint256,address)[],address)' });
  });

  test('has the answers of contracts, also where an approval ends or is held in another way than its event says', async () => {
    const genesis = fixtureJson<GenesisJson>('tracing/scenarios/genesis.json');
    const { NFT, PERMIT2, USDC } = fixtureJson<Record<string, Hex>>('tracing/scenarios/names.json');
    const { node } = await devNode({ chain: { kind: 'devnet', genesis, mining: 'manual' } });
    const [from, spender] = [accountAt(0), stranger('5e')];
    const data = (selector: string, ...words: (Hex | bigint)[]): Hex =>
      `0x${selector}${words.map((one) => word(BigInt(one)).slice(2)).join('')}`;
    const nobody: Hex = `0x${'0'.repeat(40)}`;
    const time = 0x6553ff00n;
    const previewed = async (...calls: [Hex, Hex][]) => {
      const list = calls.map(([to, input]) => ({ from, to, data: input }));
      return node.previewTransaction(list, { blockOverrides: { time: `0x${time.toString(16)}` } });
    };

    const approveNft = (to: Hex): [Hex, Hex] => [NFT!, data('095ea7b3', to, 1n)];
    const given = await previewed(approveNft(spender));
    expect(given.calls[0]!.approvals).toMatchObject([{ kind: 'erc721', spender, after: spender }]);
    const takenBack = await previewed(approveNft(spender), approveNft(nobody));
    expect(takenBack.calls[1]!.approvals).toMatchObject([{ kind: 'erc721', spender: nobody, after: nobody }]);
    expect(takenBack.warnings).toEqual([]);

    // Permit2: approve(token, spender, amount, expiration); it holds an expiration of 0 as the time of the block.
    const approve = (amount: bigint, until: bigint): [Hex, Hex] => [
      PERMIT2!,
      data('87517c45', USDC!, spender, amount, until),
    ];
    const now = await previewed(approve(7n, 0n));
    expect(now.calls[0]!.approvals).toMatchObject([
      { kind: 'permit2', after: '0x7', expiration: `0x${time.toString(16)}` },
    ]);
    // lockdown((address,address)[]) takes the amount back and leaves the expiration.
    const lockdown: [Hex, Hex] = [PERMIT2!, data('cc53287f', 32n, 1n, USDC!, spender)];
    const locked = await previewed(approve(7n, 0x77359400n), lockdown);
    const held = { kind: 'permit2', before: '0x0', after: '0x0', expiration: '0x77359400' };
    expect(locked.calls.map(({ approvals }) => approvals)).toMatchObject([
      [{ ...held, told: '0x7' }],
      [{ ...held, told: '0x0' }],
    ]);
    // What has the event of Permit2 and not its function has no answer.
    const event: Hex = '0xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b';
    // PUSH 9, MSTORE at 0; PUSH 8, MSTORE at 32; LOG4 of 64 bytes: spender, token, owner.
    const topic = (of: Hex) => `73${of.slice(2)}`;
    const code = `0x60095f526008602052${topic(spender)}${topic(USDC!)}${topic(from)}7f${event.slice(2)}60405fa4`;
    const like = await node.previewTransaction({ from, to: spender }, { stateOverrides: { [spender]: { code } } });
    expect(like.calls[0]!.approvals).toMatchObject([{ told: '0x9', after: null, expiration: null }]);
  });

  test('warns of tokens and addresses that look like those of the caller, and of no others', async () => {
    const { node } = await devNode();
    const asset = { kind: 'erc20', address: TEST_TOKEN };
    const other = stranger('ce');
    const found = async (known: object) =>
      (await node.previewTransaction(erc20Transfer, { known })).warnings.filter(({ code }) => code !== 'new-recipient');
    const alike = { code: 'look-alike', severity: 'warning', asset, with: other };
    const unverified = { code: 'unverified-token', severity: 'note', asset };
    expect(await found({ tokens: [{ address: other, symbol: 'PLUMB' }] })).toEqual([alike, unverified]);
    // Its first letter is Cyrillic.
    expect(await found({ tokens: [{ address: other, symbol: '\u0420LUMB' }] })).toEqual([alike, unverified]);
    expect(await found({ tokens: [{ address: other, symbol: 'GOLD' }] })).toEqual([unverified]);
    expect(await found({ tokens: [{ address: TEST_TOKEN, symbol: 'PLUMB' }] })).toEqual([]);
    const ends: Hex = `0x7777${'ab'.repeat(16)}7777`;
    const near: Hex = `0x7777${'ab'.repeat(16)}7778`;
    expect(await found({ addresses: [ends] })).toEqual([
      { code: 'look-alike', severity: 'warning', address: receiver, with: ends },
    ]);
    expect(await found({ addresses: [near] })).toEqual([]);
    expect(await found({ addresses: [ends, receiver] })).toEqual([]);
  });

  test('warns of data for a contract where there is none', async () => {
    const { node } = await devNode();
    const from = accountAt(0);
    const data = transferData(5n);
    const noCode = { code: 'no-code', severity: 'warning', address: receiver };
    const sha256: Hex = `0x${'2'.padStart(40, '0')}`;
    const stateOverrides = { [sha256]: { movePrecompileToAddress: receiver } };
    // Creates a contract with one byte of code: MSTORE8 and RETURN.
    const creation = { from, data: '0x60005f5360015ff3' } as const;
    const { contracts } = (await node.previewTransaction(creation)).calls[0]!;
    const created = (contracts[0] as { address: Hex }).address;
    const cases: [PreviewCall | PreviewCall[], object, object[]][] = [
      [{ from, to: receiver, data }, {}, [noCode]],
      [{ from, to: receiver, data: '0xa9059cbb', value: '0x1' }, {}, [noCode]],
      [{ from, to: receiver, data: '0xa9059c', value: '0x1' }, {}, []],
      [{ from, to: receiver, value: '0x1' }, {}, []],
      [{ from, to: sha256, data }, {}, []],
      [{ from, to: receiver, data }, { stateOverrides }, []],
      [{ from, to: receiver, data }, { stateOverrides: { [receiver]: { code: '0x00' } } }, []],
      [{ from, to: created, data }, {}, [{ code: 'no-code', severity: 'warning', address: created }]],
      [[creation, { from, to: created, data }], {}, []],
    ];
    for (const [calls, options, warnings] of cases) {
      const preview = await node.previewTransaction(calls, options);
      const found = preview.warnings.filter(({ code }) => code === 'no-code');
      expect(found, JSON.stringify([calls, options])).toEqual(warnings);
    }
  });

  test('of a sender that cannot pay is an error, and is never topped up', async () => {
    const { node } = await devNode();
    const poor = node.previewTransaction({ from: stranger('55'), to: receiver, value: '0x1' });
    await expect(poor).rejects.toMatchObject({ code: -32000 });
  });

  test('names options and calls that cannot be used', async () => {
    const { node } = await devNode();
    const cases: [unknown, object, RegExp][] = [
      [[], {}, /must be 1 to 32 calls, got 0/],
      [erc20Transfer, { bock: 'latest' }, /options.bock: is not an option/],
      [erc20Transfer, { block: 'pending' }, /options.block/],
      [erc20Transfer, { watch: ['0x12'] }, /options.watch\[0\]/],
      [erc20Transfer, { errors: ['no signature'] }, /options.errors\[0\]/],
    ];
    for (const [calls, options, reason] of cases)
      await expect(node.previewTransaction(calls as never, options), String(reason)).rejects.toMatchObject({
        code: -32602,
        message: reason,
      });
  });
});

describe('on a light node', () => {
  test(
    'is that of the devnet, with few round trips, and the calls are not sent to an endpoint',
    ROUND_TRIPS,
    async () => {
      const dev = await devNode();
      const { node, mock } = await lightOf(dev);
      const calls = [erc20Transfer, { ...erc20Transfer, data: transferData(7n) }];
      await node.request({ method: 'eth_blockNumber' });
      const before = mock.seen.length;
      const preview = await node.previewTransaction(calls);
      // The accounts that the calls name; then all that the calls and the questions to the token read.
      expect(mock.seen.length - before).toBeLessThanOrEqual(3);
      const { trust: _, seen: __, ...expected } = await dev.node.previewTransaction(calls);
      expect(preview).toMatchObject(expected);
      const methods = [...new Set(mock.seen.slice(before).flatMap((batch) => batch.map(({ method }) => method)))];
      expect(methods.sort()).toEqual(['eth_getCode', 'eth_getProof']);
      expect(JSON.stringify(mock.seen)).not.toContain(erc20Transfer.data.slice(2, 10));

      const asked = mock.seen.slice(before).flat();
      const [seen, ...others] = preview.seen;
      expect(others).toEqual([]);
      expect(seen!.calls).toBe(false);
      const proofs = asked
        .filter(({ method }) => method === 'eth_getProof')
        .map(({ params }) => params as [Hex, Hex[]]);
      expect(new Set(seen!.accounts.map(({ address }) => address))).toEqual(
        new Set(proofs.map(([address]) => address)),
      );
      for (const { address, slots } of seen!.accounts) {
        const wanted = proofs.filter(([one]) => one === address).flatMap(([, keys]) => keys);
        expect(new Set(slots), address).toEqual(new Set(wanted));
      }
    },
  );

  test('sends the calls to an endpoint only when it may', async () => {
    const dev = await devNode();
    const { node, mock } = await lightOf(dev);
    const preview = await node.previewTransaction(erc20Transfer, { accessLists: true });
    expect(mock.seen.flat().some(({ method }) => method === 'eth_createAccessList')).toBe(true);
    expect(preview.seen.map(({ calls }) => calls)).toEqual([true]);
    expect(preview.trust.accessLists).toBe(true);
  });

  test('of a state that is forged is refused, and beside an honest endpoint it is the honest one', async () => {
    const dev = await devNode();
    const forge: MockOptions['tamper'] = ({ method }, result) => {
      if (method !== 'eth_getProof') return result;
      const { storageProof, ...rest } = result as { storageProof: { value: Hex }[] };
      return { ...rest, storageProof: storageProof.map((slot) => ({ ...slot, value: '0xffff' })) };
    };
    const { node } = await lightOf(dev, { tamper: forge });
    await expect(node.previewTransaction(erc20Transfer)).rejects.toMatchObject({ message: /refused|proof/i });
    const [liar, honest] = [await serveMock(dev.node, { tamper: forge }), await serveMock(dev.node)];
    onTestFinished(() => Promise.all([liar.close(), honest.close()]).then(() => {}));
    const endpoints = [liar.url, honest.url];
    const both = await createInlineNode({ chain: { kind: 'light', network: devnet(), endpoints } });
    onTestFinished(() => both.close());
    const { trust: _, seen: __, ...expected } = await dev.node.previewTransaction(erc20Transfer);
    const preview = await both.previewTransaction(erc20Transfer);
    expect(preview).toMatchObject(expected);
    expect(preview.seen).toHaveLength(2);
  });
});
