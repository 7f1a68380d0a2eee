import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createTxFromRLP } from '@ethereumjs/tx';
import { describe, expect, test } from 'vitest';
import { TEST_TOKEN, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import { DEV_TOKENS } from '../../src/chain/devnet/state/genesis.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { accountAt, devNode, KeptStore, proved, stranger, word } from '../support/dev-node.js';
import { authorization, transferCalldata } from '../support/sign.js';

const ETHER = `0x${(10n ** 18n).toString(16)}`;
const balanceSlot = (address: Hex) => bytesToHex(tokenBalanceSlot(hexToBytes(address)));

describe('a transaction of type 4', () => {
  test('is sent, signed and run unsigned with its authorizations', async () => {
    const { ask } = await devNode();
    const [from, authority, target] = [accountAt(0), accountAt(1), TEST_TOKEN];
    const delegated = async () => (await ask<Hex>('eth_getCode', authority, 'latest')).toLowerCase();
    const authorized = (nonce: number, address: Hex) => authorization(1, address, nonce);
    const call = { from, to: from, authorizationList: [authorized(0, target)] };
    const hash = await ask<Hex>('eth_sendTransaction', call);
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', type: '0x4' });
    expect(await delegated()).toBe(`0xef0100${target.slice(2).toLowerCase()}`);
    expect(await ask('eth_getTransactionByHash', hash)).toMatchObject({ from, authorizationList: [{ nonce: '0x0' }] });

    const raw = await ask<Hex>('eth_signTransaction', { ...call, authorizationList: [authorized(1, stranger('dd'))] });
    expect(raw).toMatch(/^0x04/);
    await ask('eth_sendRawTransaction', raw);
    expect(await delegated()).toBe(`0xef0100${'dd'.repeat(20)}`);

    await ask('anvil_setBalance', stranger('66'), '0xde0b6b3a7640000');
    const unsigned = { ...call, from: stranger('66'), authorizationList: [authorized(2, target)] };
    const sent = await ask<Hex>('eth_sendUnsignedTransaction', unsigned);
    expect(await ask('eth_getTransactionReceipt', sent)).toMatchObject({ from: stranger('66'), type: '0x4' });
    expect(await delegated()).toBe(`0xef0100${target.slice(2).toLowerCase()}`);
    // Of geth 1.17.10: what an authorization of an account that is there earns (EIP-7702) stands at each instruction.
    const traced = await ask<Hex>('eth_sendUnsignedTransaction', {
      ...unsigned,
      to: authority,
      data: transferCalldata(stranger('11'), 0n),
      authorizationList: [authorized(3, target)],
    });
    const { structLogs } = await ask<{ structLogs: { refund?: number }[] }>('debug_traceTransaction', traced);
    expect(structLogs.length).toBeGreaterThan(10);
    expect(new Set(structLogs.map(({ refund }) => refund))).toEqual(new Set([12_500]));
    const priced = ask('eth_sendTransaction', { ...call, gasPrice: '0x3b9aca00' });
    await expect(priced).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('gasPrice') });
  });
});

test('a balance that does not suffice is -32004, with and without a gas limit; the same in a block already is -32001', async () => {
  const { ask } = await devNode();
  const call = { from: accountAt(0), to: stranger('11'), value: `0x${(10n ** 30n).toString(16)}` };
  const poor = { code: -32004, message: expect.stringContaining('exceeds transaction sender account balance') };
  await expect(ask('eth_sendTransaction', call)).rejects.toMatchObject(poor);
  await expect(ask('eth_sendTransaction', { ...call, gas: '0x5208' })).rejects.toMatchObject(poor);
  const raw = await ask<Hex>('eth_signTransaction', { ...call, value: '0x1' });
  await ask('eth_sendRawTransaction', raw);
  const again = { code: -32001, message: 'Nonce too low' };
  await expect(ask('eth_sendRawTransaction', raw)).rejects.toMatchObject(again);
  await expect(ask('eth_sendRawTransactionSync', raw)).rejects.toMatchObject(again);
});

describe('eth_sendTransaction by a dev account', () => {
  test('is signed by the devnet: another library recovers the sender from the signature', async () => {
    const { ask } = await devNode();
    const accounts = await ask<Hex[]>('eth_accounts');
    expect(accounts).toHaveLength(10);
    const hash = await ask<Hex>('eth_sendTransaction', { from: accounts[3], to: stranger('11'), value: '0x5' });
    const shown = await ask<Record<string, Hex>>('eth_getTransactionByHash', hash);
    expect(shown).toMatchObject({ from: accounts[3], nonce: '0x0', type: '0x2', blockNumber: '0x1' });
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', gasUsed: '0x5208' });
    expect(await ask('eth_getBalance', stranger('11'), 'latest')).toBe('0x5');
    const common = new Common({ chain: { ...Mainnet, chainId: 59_139 }, hardfork: Hardfork.Prague });
    const { createFeeMarket1559Tx } = await import('@ethereumjs/tx');
    const rebuilt = createFeeMarket1559Tx(
      {
        chainId: shown.chainId!,
        nonce: shown.nonce!,
        to: shown.to!,
        value: shown.value!,
        gasLimit: shown.gas!,
        maxFeePerGas: shown.maxFeePerGas!,
        maxPriorityFeePerGas: shown.maxPriorityFeePerGas!,
        v: shown.yParity!,
        r: shown.r!,
        s: shown.s!,
      },
      { common },
    );
    expect(rebuilt.getSenderAddress().toString()).toBe(accounts[3]);
    expect(bytesToHex(rebuilt.hash())).toBe(hash);
    expect(createTxFromRLP(rebuilt.serialize(), { common }).type).toBe(2);
  });

  test('deploys and calls a contract, with consecutive nonces and given prices', async () => {
    const { ask } = await devNode({ chain: { kind: 'devnet', mining: 'manual' } });
    const from = accountAt(0);
    // Copies the ten bytes behind itself and returns them: PUSH1 10, PUSH1 12, PUSH1 0, CODECOPY, PUSH1 10, PUSH1 0, RETURN.
    const data = `0x600a600c600039600a6000f3${'602a60005260206000f3'}`;
    const sent = await Promise.all([
      ask<Hex>('eth_sendTransaction', { from, data }),
      ask<Hex>('eth_sendTransaction', { from, to: stranger('11'), gas: '0x5208', gasPrice: '0x3b9aca00' }),
      ask<Hex>('eth_sendTransaction', {
        from,
        to: stranger('12'),
        gas: '0x7530',
        gasPrice: '0x3b9aca00',
        accessList: [],
      }),
    ]);
    await ask('evm_mine');
    const receipts = await Promise.all(sent.map((hash) => ask<Record<string, Hex>>('eth_getTransactionReceipt', hash)));
    expect(receipts.map(({ status }) => status)).toEqual(['0x1', '0x1', '0x1']);
    expect(receipts.map(({ type }) => type).sort()).toEqual(['0x0', '0x1', '0x2']);
    const deployed = receipts.find(({ contractAddress }) => contractAddress !== null)!.contractAddress;
    expect(await ask('eth_call', { to: deployed }, 'latest')).toBe(word(42n));
    expect(await ask('eth_getTransactionCount', from, 'latest')).toBe('0x3');
  });

  test('no sender, another chain id, an unknown account and a reverting call are refused', async () => {
    const { ask } = await devNode();
    const from = accountAt(0);
    await expect(ask('eth_sendTransaction', { to: from })).rejects.toMatchObject({ code: -32602 });
    await expect(ask('eth_sendTransaction', { from, chainId: '0x1' })).rejects.toMatchObject({
      message: 'Wrong chainId',
    });
    await expect(ask('eth_sendTransaction', { from: stranger('66'), to: from, gas: '0x5208' })).rejects.toMatchObject({
      code: -32007,
      data: expect.stringMatching(/eth_accounts lists .* anvil_impersonateAccount \["0x66/),
    });
    await expect(
      ask('eth_sendTransaction', { from, to: TEST_TOKEN, data: transferCalldata(from, 2n ** 200n) }),
    ).rejects.toMatchObject({ code: 3 });
  });
});

describe.each(['anvil', 'hardhat'])('impersonation with the method names of %s', (tool) => {
  test('a contract sends a transaction: block, receipt and proof agree, and the chain can be reopened', async () => {
    const store = new KeptStore();
    const dev = await devNode({ store });
    const { ask } = dev;
    // The token contract itself, which has code and no key.
    const from = TEST_TOKEN;
    const call = { from, to: TEST_TOKEN, data: transferCalldata(stranger('42'), 7n) };
    await ask(`${tool}_setStorageAt`, TEST_TOKEN, balanceSlot(from), word(10n));
    await ask(`${tool}_setBalance`, from, ETHER);
    await expect(ask('eth_sendTransaction', call)).rejects.toMatchObject({ code: -32007 });
    await ask(`${tool}_impersonateAccount`, from);
    const hash = await ask<Hex>('eth_sendTransaction', call);
    const receipt = await ask<Record<string, unknown>>('eth_getTransactionReceipt', hash);
    expect(receipt).toMatchObject({ from, status: '0x1', transactionHash: hash, blockNumber: '0x1' });
    const shown = await ask('eth_getTransactionByHash', hash);
    expect(shown).toMatchObject({ hash, from, to: TEST_TOKEN, nonce: '0x1' });
    const block = await ask<{ transactions: Hex[]; hash: Hex }>('eth_getBlockByNumber', '0x1', false);
    expect(block.transactions).toEqual([hash]);
    await ask(`${tool}_stopImpersonatingAccount`, from);
    await expect(ask('eth_sendTransaction', call)).rejects.toMatchObject({ code: -32007 });

    await ask('evm_mine', { blocks: 2 });
    const { slots } = await proved(dev, TEST_TOKEN, [balanceSlot(from), balanceSlot(stranger('42'))] as Hex[]);
    expect(slots.map(({ value }) => BigInt(bytesToHex(value)))).toEqual([3n, 7n]);
    await dev.node.close();
    const again = await devNode({ store });
    expect(await again.ask('eth_getTransactionReceipt', hash)).toEqual(receipt);
    expect(await again.ask('eth_getTransactionByHash', hash)).toEqual(shown);
    expect(await again.ask('eth_getBlockByNumber', '0x1', false)).toEqual(block);
    await again.ask('evm_mine');
    await proved(again, TEST_TOKEN, [balanceSlot(from)] as Hex[]);
  });
});

test('every account is impersonated while auto-impersonation is on, and hashes differ by sender', async () => {
  const { ask } = await devNode();
  const senders = [stranger('61'), stranger('62')];
  for (const from of senders) await ask('anvil_setBalance', from, ETHER);
  await ask('anvil_autoImpersonateAccount', true);
  const call = { to: stranger('11'), value: '0x1', gas: '0x5208', nonce: '0x0' };
  const hashes = await Promise.all(senders.map((from) => ask<Hex>('eth_sendTransaction', { ...call, from })));
  expect(new Set(hashes).size).toBe(2);
  expect(await ask('eth_getBalance', stranger('11'), 'latest')).toBe('0x2');
  await ask('anvil_autoImpersonateAccount', false);
  await expect(ask('eth_sendTransaction', { ...call, from: senders[0] })).rejects.toMatchObject({ code: -32007 });
  const unsigned = await ask('eth_sendUnsignedTransaction', { ...call, from: senders[0], nonce: '0x1' });
  expect(await ask('eth_getTransactionReceipt', unsigned)).toMatchObject({ status: '0x1', from: senders[0] });
  expect(DEV_TOKENS).toBeGreaterThan(0n);
});
