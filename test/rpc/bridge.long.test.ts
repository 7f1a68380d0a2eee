import {
  createWalletClient,
  custom,
  defineChain,
  encodeFunctionData,
  parseAbi,
  parseEventLogs,
  publicActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { mainnet } from 'viem/chains';
import { describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { hashMessage, inboxClaimCalldata, rollingHash } from '../../src/proof/messages.js';
import { messageActions } from '../../src/viem.js';
import {
  claimOf,
  layerOneOf,
  messageFrom,
  REFUSES,
  ROLLUP,
  SERVICE,
  sendMessage,
  withdraw,
} from '../support/bridge.js';
import { accountAt, devNode, KeptStore, stranger, word } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';
import { FailingStore, full } from '../support/failing-store.js';
import { settledScene } from '../support/settled-scene.js';

const ETHER = 10n ** 18n;
const quantity = (value: bigint): Hex => `0x${value.toString(16)}`;
/** `lastAnchoredL1MessageNumber` of the message service. */
const LAST_ANCHORED = word(280n);
/** Errors of the contract by their selectors. @source docs/spec/messages.md 6, hashed */
const ERRORS = {
  MessageAlreadyClaimed: '0x335a4a90',
  IsPaused: '0xc0a71b58',
};

interface Receipt {
  readonly status: Hex;
  readonly logs: readonly { readonly topics: readonly Hex[] }[];
  readonly gasUsed: Hex;
  readonly blockNumber: Hex;
}

describe('a withdrawal', () => {
  test('is claimed on layer 1 once its block is final there', async () => {
    const dev = await devNode();
    const l1 = layerOneOf(dev);
    const [from, to] = [accountAt(0), stranger('c0')];
    const message = messageFrom(from, to, 3n * ETHER, 1n);
    const sent = await withdraw(dev, from, to, 3n * ETHER);
    expect(sent).toMatchObject({ status: '0x1', hash: bytesToHex(hashMessage(message)) });
    const claim = { from: accountAt(1), to: ROLLUP, data: claimOf(message) };
    // The contract has no such root yet.
    await expect(l1('eth_call', claim, 'latest')).rejects.toMatchObject({ code: 3 });
    await dev.ask('anvil_mine', '0x2');
    const gas = await l1('eth_estimateGas', claim);
    const before = BigInt(await l1('eth_getBalance', ROLLUP, 'latest'));
    const hash = await l1('eth_sendTransaction', { ...claim, gas });
    const receipt = await l1<Receipt>('eth_getTransactionReceipt', hash);
    expect(receipt.status).toBe('0x1');
    // MessageClaimed(hash).
    expect(receipt.logs.map(({ topics }) => topics)).toEqual([
      ['0xa4c827e719e911e8f19393ccdb85b5102f08f0910604d340ba38390b7ff2ab0e', sent.hash],
    ]);
    expect(await l1('eth_getBalance', to, 'latest')).toBe(quantity(3n * ETHER));
    expect(BigInt(await l1('eth_getBalance', ROLLUP, 'latest'))).toBe(before - 3n * ETHER);
    // isMessageClaimed(1)
    expect(await l1('eth_call', { to: ROLLUP, data: `0x9ee8b211${word(1n).slice(2)}` }, 'latest')).toBe(word(1n));
    await expect(l1('eth_call', claim, 'latest')).rejects.toMatchObject({
      data: `${ERRORS.MessageAlreadyClaimed}${word(1n).slice(2)}`,
    });
  });

  test('with a fee pays who claims it, at most what a plain transfer costs', async () => {
    const dev = await devNode();
    const l1 = layerOneOf(dev);
    const [from, to, claimer] = [accountAt(0), stranger('c0'), stranger('fe')];
    const message = messageFrom(from, to, 5n, 1n, ETHER);
    await withdraw(dev, from, to, 5n, { fee: ETHER });
    await dev.ask('anvil_mine', '0x2');
    const data = claimOf(message);
    // The fee recipient is the eighth member of the claim, behind the selector and the offset of the claim.
    const at = 10 + 64 * 8;
    const paid = `${data.slice(0, at)}${claimer.slice(2).padStart(64, '0')}${data.slice(at + 64)}`;
    // The gas is filled in: at a price of zero the claim would pay no fee, and need less.
    const claimed = await l1('eth_sendTransaction', { from: accountAt(1), to: ROLLUP, data: paid });
    expect(await l1<Receipt>('eth_getTransactionReceipt', claimed)).toMatchObject({ status: '0x1' });
    const [fee, rest] = [
      BigInt(await l1('eth_getBalance', claimer, 'latest')),
      BigInt(await l1('eth_getBalance', to, 'latest')),
    ];
    expect(fee).toBeGreaterThan(0n);
    expect(fee).toBeLessThan(ETHER / 100n);
    expect(fee + rest).toBe(ETHER + 5n);
  });

  test('of one of many is in the tree of its finalization; a paused contract refuses it', async () => {
    const dev = await devNode({ chain: { kind: 'devnet', mining: 'manual', finality: { delayBlocks: 0 } } });
    const l1 = layerOneOf(dev);
    const [from, to] = [accountAt(2), stranger('c1')];
    const all = Array.from({ length: 33 }, (_, i) => messageFrom(from, to, BigInt(i + 1), BigInt(i + 1)));
    for (const { value } of all)
      await dev.ask('eth_sendTransaction', { from, to: SERVICE, value: quantity(value), data: sendMessage(to) });
    await dev.ask('anvil_mine', '0x1');
    // L2MerkleRootAdded: two trees of depth 5.
    const topics = ['0x300e6f978eee6a4b0bba78dd8400dc64fd5652dbfc868a2258e16d0977be222b', null, word(5n)];
    expect(await l1('eth_getLogs', { fromBlock: '0x0', address: ROLLUP, topics })).toHaveLength(2);
    for (const at of [0, 31, 32]) {
      const claim = { from: accountAt(0), to: ROLLUP, data: claimOf(all[at]!, all) };
      // pauseByType(3), unPauseByType(3)
      await l1('eth_sendTransaction', { from: accountAt(0), to: ROLLUP, data: `0xe196fb5d${word(3n).slice(2)}` });
      await expect(l1('eth_call', claim, 'latest')).rejects.toMatchObject({
        data: `${ERRORS.IsPaused}${word(3n).slice(2)}`,
      });
      await l1('eth_sendTransaction', { from: accountAt(0), to: ROLLUP, data: `0x1065a399${word(3n).slice(2)}` });
      await l1('eth_sendTransaction', claim);
    }
    expect(await l1('eth_getBalance', to, 'latest')).toBe(quantity(1n + 32n + 33n));
  });
});

describe('a devnet itself', () => {
  test('lists messages and prepares their claims, whose execution says what they would do', async () => {
    const dev = await devNode();
    const l1 = layerOneOf(dev);
    const [from, to] = [accountAt(0), stranger('c0')];
    const sent = await withdraw(dev, from, to, 5n);
    const list = async () => {
      const toBlock = await dev.number();
      const { messages, proved, layerOne } = await dev.node.messages({ address: to, fromBlock: 0, toBlock });
      expect([proved, layerOne.level]).toEqual([{ from: 0, to: toBlock, level: 'held' }, 'held']);
      return messages.map(({ hash, state }) => [hash, state]);
    };
    expect(await list()).toEqual([[sent.hash, 'notFinal']]);
    expect(await dev.node.prepareClaim(sent.hash)).toMatchObject({ status: 'notFinal' });
    await dev.ask('anvil_mine', '0x2');
    expect(await list()).toEqual([[sent.hash, 'anchored']]);
    const claim = await dev.node.prepareClaim(sent.hash);
    expect(claim).toMatchObject({ status: 'anchored', slotsAllow: true, wouldPass: true, layerOne: { level: 'held' } });
    const proof = await dev.ask('linea_getMessageProof', sent.hash);
    expect(proof).toMatchObject({ status: 'anchored', wouldPass: true });
    if (claim.status !== 'anchored') throw new Error(claim.status);
    await l1('eth_sendTransaction', { from: accountAt(1), ...claim.transaction });
    expect(await l1('eth_getBalance', to, 'latest')).toBe('0x5');
    expect(await list()).toEqual([[sent.hash, 'claimed']]);
    expect(await dev.node.prepareClaim(sent.hash)).toMatchObject({ status: 'claimed' });
    expect(await dev.node.prepareClaim(`0x${'12'.repeat(32)}`)).toMatchObject({ status: 'notFound' });
  });
});

describe('a deposit', () => {
  test('arrives on layer 2, is claimed there, and its rolling hash is in the next finalization', async () => {
    const dev = await devNode();
    const l1 = layerOneOf(dev);
    const [from, to] = [accountAt(0), stranger('de')];
    const message = messageFrom(from, to, 7n * ETHER, 1n);
    const hash = await l1('eth_sendTransaction', {
      ...{ from, to: ROLLUP, value: quantity(7n * ETHER), data: sendMessage(to) },
    });
    expect(await l1<Receipt>('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' });
    await eventually(async () =>
      expect(await dev.ask('eth_getStorageAt', SERVICE, LAST_ANCHORED, 'latest')).toBe(word(1n)),
    );
    // claimMessage(from, to, fee, value, feeRecipient, data, nonce)
    const words = [from, to, word(0n), word(7n * ETHER), word(0n), word(7n * 32n), word(1n), word(0n)];
    const data = `0x491e0936${words.map((one) => one.slice(2).padStart(64, '0')).join('')}`;
    const claimed = await dev.ask<Hex>('eth_sendTransaction', { from: accountAt(1), to: SERVICE, data });
    expect(await dev.ask<Receipt>('eth_getTransactionReceipt', claimed)).toMatchObject({ status: '0x1' });
    expect(await dev.ask('eth_getBalance', to, 'latest')).toBe(quantity(7n * ETHER));
    await expect(dev.ask('eth_call', { from, to: SERVICE, data }, 'latest')).rejects.toMatchObject({ code: 3 });
    await dev.ask('anvil_mine', '0x2');
    // The contract refuses a finalization whose rolling hash is not its own: it has finalized since.
    const finalized = await dev.number('finalized');
    expect(Number(await l1('eth_call', { to: ROLLUP, data: '0x695378f5' }, 'latest'))).toBe(finalized);
    const rolling = rollingHash(new Uint8Array(32), hashMessage(message));
    // l1RollingHashes(1), rollingHashes(1)
    for (const read of [
      dev.ask('eth_call', { to: SERVICE, data: `0x7fe335d3${word(1n).slice(2)}` }, 'latest'),
      l1('eth_call', { to: ROLLUP, data: `0x914e57eb${word(1n).slice(2)}` }, 'latest'),
    ])
      expect(await read).toBe(bytesToHex(rolling));
  });

  test.each([
    ['anvil_rollback', 1, 2n],
    // A revert takes back the second one too, which layer 1 did not have yet.
    ['evm_revert', '0x1', 1n],
  ])('whose anchoring has left the chain by %s is anchored with the next block', async (method, parameter, last) => {
    const dev = await devNode({ chain: { kind: 'devnet', finality: { delayBlocks: 0 } } });
    const l1 = layerOneOf(dev);
    const anchored = () => dev.ask('eth_getStorageAt', SERVICE, LAST_ANCHORED, 'latest');
    await dev.ask('evm_setAutomine', false);
    await l1('eth_sendTransaction', {
      from: accountAt(0),
      to: ROLLUP,
      value: '0x7',
      data: sendMessage(stranger('de')),
    });
    await eventually(async () => expect(await dev.ask('eth_pendingTransactions')).toHaveLength(1));
    // The snapshot has a pool without it.
    const [{ hash }] = await dev.ask<[{ hash: Hex }]>('eth_pendingTransactions');
    await dev.ask('anvil_dropTransaction', hash);
    await dev.ask('evm_snapshot');
    await dev.ask('evm_setAutomine', true);
    await l1('eth_sendTransaction', {
      from: accountAt(0),
      to: ROLLUP,
      value: '0x7',
      data: sendMessage(stranger('de')),
    });
    await eventually(async () => expect(await anchored()).toBe(word(2n)));
    expect(await dev.number()).toBe(1);
    await dev.ask(method, parameter);
    await eventually(async () => expect(await dev.ask('eth_pendingTransactions')).toHaveLength(1));
    expect([await dev.number(), await anchored()]).toEqual([0, word(0n)]);
    await dev.ask('evm_mine');
    expect(await anchored()).toBe(word(last));
  });
});

test('the inbox of layer 2 says what has become of a deposit, to a devnet and to a light node', async () => {
  const { dev, clock, checkpoint, open } = await settledScene(1);
  const l1 = layerOneOf(dev);
  const [from, to] = [accountAt(0), stranger('de')];
  const hash = bytesToHex(hashMessage(messageFrom(from, to, 7n, 1n)));
  const root = await checkpoint();
  const { node } = await open({ checkpoint: { root } });
  const statuses = async () => {
    await dev.ask('anvil_mine', '0x2');
    clock.advance(10_000);
    const [own, light] = [await dev.node.depositStatus(hash), await node.depositStatus(hash)];
    const finalized = await dev.number('finalized');
    expect([own.level, light.level]).toEqual(['held', 'settled']);
    expect([own.zkBlock, light.zkBlock]).toEqual([finalized, finalized]);
    expect(light.status).toBe(own.status);
    return own.status;
  };
  expect(await statuses()).toBe('notReceived');
  await l1('eth_sendTransaction', { from, to: ROLLUP, value: '0x7', data: sendMessage(to) });
  await eventually(async () =>
    expect(await dev.ask('eth_getStorageAt', SERVICE, LAST_ANCHORED, 'latest')).toBe(word(1n)),
  );
  expect(await statuses()).toBe('received');
  const data = bytesToHex(inboxClaimCalldata({ message: messageFrom(from, to, 7n, 1n) }));
  await dev.ask('eth_sendTransaction', { from: accountAt(1), to: SERVICE, data });
  expect(await dev.ask('eth_getBalance', to, 'latest')).toBe('0x7');
  expect(await statuses()).toBe('claimed');
});

test('messages between the token bridges of the profile are decoded, and no others', async () => {
  const tokenBridge = { address: accountAt(4), layerOne: stranger('b1') };
  const { node, ask } = await devNode({ chain: { kind: 'devnet', network: { ...devnet(), tokenBridge } } });
  const abi = parseAbi(['function completeBridging(address, uint256, address, uint256, bytes)']);
  const args = [stranger('70'), 5n * ETHER, stranger('a1'), 1337n, '0xabcd'] as const;
  const data = encodeFunctionData({ abi, args });
  const bridged = await withdraw({ ask }, tokenBridge.address, tokenBridge.layerOne, 0n, { data });
  await withdraw({ ask }, accountAt(5), tokenBridge.layerOne, 0n, { data });
  await withdraw({ ask }, tokenBridge.address, stranger('b2'), 0n, { data });
  await withdraw({ ask }, tokenBridge.address, tokenBridge.layerOne, 0n, { data: data.slice(0, 100) as Hex });
  const lists = await Promise.all(
    [tokenBridge.layerOne, stranger('b2')].map((address) => node.messages({ address, fromBlock: 0, toBlock: 4 })),
  );
  const decoded = lists.flatMap(({ messages }) => messages).filter((one) => one.tokenTransfer !== undefined);
  expect(lists.map(({ messages }) => messages.length)).toEqual([3, 1]);
  expect(decoded.map(({ hash, tokenTransfer }) => ({ hash, ...tokenTransfer }))).toEqual([
    { hash: bridged.hash, token: args[0], amount: quantity(args[1]), recipient: args[2], chainId: '0x539' },
  ]);
});

describe('layer 1', () => {
  test('reverts with layer 2, transactions that were sent to it included', async () => {
    const dev = await devNode();
    const l1 = layerOneOf(dev);
    const to = stranger('aa');
    await dev.ask('anvil_mine', '0x4');
    await l1('eth_sendTransaction', { from: accountAt(0), to, value: '0x1' });
    const before = await l1<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false);
    const snapshot = await dev.ask('evm_snapshot');
    await dev.ask('anvil_mine', '0x3');
    await l1('eth_sendTransaction', { from: accountAt(0), to, value: '0x2' });
    expect(await l1('eth_getBalance', to, 'latest')).toBe('0x3');
    await dev.ask('evm_revert', snapshot);
    expect(await l1('eth_getBalance', to, 'latest')).toBe('0x1');
    expect(await l1('eth_getBlockByNumber', 'latest', false)).toEqual(before);
    await l1('eth_sendTransaction', { from: accountAt(0), to, value: '0x4' });
    expect(await l1('eth_getBalance', to, 'latest')).toBe('0x5');
  });

  test('of a stored devnet is the same when it is opened again, and goes on', async () => {
    const store = new KeptStore();
    const open = () => devNode({ store });
    const first = await open();
    const [from, to] = [accountAt(0), stranger('c0')];
    const message = messageFrom(from, to, 9n, 1n);
    await withdraw(first, from, to, 9n);
    await first.ask('anvil_mine', '0x3');
    const l1 = layerOneOf(first);
    await l1('eth_sendTransaction', { from: accountAt(1), to: ROLLUP, data: claimOf(message) });
    await first.ask('anvil_mine', '0x2');
    await l1('eth_sendTransaction', { from, to: ROLLUP, value: '0x5', data: sendMessage(to) });
    await eventually(async () =>
      expect(await first.ask('eth_getStorageAt', SERVICE, LAST_ANCHORED, 'latest')).toBe(word(1n)),
    );
    const head = await l1('eth_getBlockByNumber', 'latest', true);
    await first.node.close();

    const again = await open();
    const l1Again = layerOneOf(again);
    expect(await l1Again('eth_getBlockByNumber', 'latest', true)).toEqual(head);
    expect(await l1Again('eth_getBalance', to, 'latest')).toBe('0x9');
    await again.ask('anvil_mine', '0x3');
    await l1Again('eth_sendTransaction', { from, to, value: '0x1' });
    expect(await l1Again('eth_getBalance', to, 'latest')).toBe('0xa');
  });

  test.each([
    ['sent to it', false],
    ['reverted', true],
  ])('of a stored devnet: what was %s while the store failed is so when it is opened again', async (_, isReverted) => {
    const store = new FailingStore();
    const first = await devNode({ store });
    const [from, to] = [accountAt(0), stranger('c1')];
    const l1 = layerOneOf(first);
    const deposit = { from, to: ROLLUP, value: '0x5', data: sendMessage(to) };
    const [kept, other] = [{ ...deposit }, { from, to, value: '0x1' }];
    const anchored = (count: bigint) =>
      eventually(async () =>
        expect(await first.ask('eth_getStorageAt', SERVICE, LAST_ANCHORED, 'latest')).toBe(word(count)),
      );
    await first.ask('anvil_mine', '0x4');
    await l1('eth_sendTransaction', kept);
    await anchored(1n);
    const snapshot = await first.ask('evm_snapshot');
    if (!isReverted) store.failure = full;
    await l1('eth_sendTransaction', deposit);
    await l1('eth_sendTransaction', other);
    await anchored(2n);
    store.failure = full;
    if (isReverted) await first.ask('evm_revert', snapshot);
    await first.ask('anvil_mine', '0x1');
    const head = await l1('eth_getBlockByNumber', 'latest', true);
    expect(await l1('eth_getBalance', to, 'latest')).toBe(isReverted ? '0x0' : '0x1');
    store.failure = undefined;
    await first.node.close();

    const again = await devNode({ store });
    expect(await layerOneOf(again)('eth_getBlockByNumber', 'latest', true)).toEqual(head);
    expect(await again.ask('eth_getStorageAt', SERVICE, LAST_ANCHORED, 'latest')).toBe(word(isReverted ? 1n : 2n));
    // Finalizations go on: layer 1 has the messages that layer 2 has anchored.
    await again.ask('anvil_mine', '0x3');
    await layerOneOf(again)('eth_getBlockByNumber', 'latest', true);
  });
});

describe('a light node of a devnet, by the consensus of its layer 1', () => {
  test('executes a claim on proved state: it passes, or the recipient refuses it', async () => {
    const { dev, clock, checkpoint, open, execution } = await settledScene(0);
    const l1 = layerOneOf(dev);
    // A contract on layer 1 that refuses: code that returns REFUSES, and that code.
    const length = (REFUSES.length / 2 - 1).toString(16).padStart(2, '0');
    const created = await l1('eth_sendTransaction', {
      from: accountAt(3),
      data: `0x60${length}600c60003960${length}6000f3${REFUSES.slice(2)}`,
    });
    const { contractAddress } = await l1<{ contractAddress: Hex }>('eth_getTransactionReceipt', created);
    const good = await withdraw(dev, accountAt(0), stranger('c0'), ETHER);
    const bad = await withdraw(dev, accountAt(0), contractAddress, ETHER);
    await dev.ask('anvil_mine', '0x3');
    const { node } = await open({ checkpoint: { root: await checkpoint() } });
    clock.advance(5_000);
    const claim = await node.prepareClaim(good.hash, { fromBlock: good.blockNumber });
    expect(claim).toMatchObject({ status: 'anchored', slotsAllow: true, wouldPass: true });
    expect(claim).not.toHaveProperty('revert');
    const refused = await node.prepareClaim(bad.hash, { fromBlock: bad.blockNumber });
    expect(refused).toMatchObject({
      ...{ status: 'anchored', slotsAllow: true, wouldPass: false, layerOne: { level: 'settled' } },
      revert: { reason: 'no' },
    });
    if (claim.status !== 'anchored' || refused.status !== 'anchored') throw new Error('not anchored');
    await expect(l1('eth_call', { from: accountAt(1), ...refused.transaction }, 'latest')).rejects.toMatchObject({
      message: expect.stringContaining('no'),
    });
    await l1('eth_sendTransaction', { from: accountAt(1), ...claim.transaction });
    expect(await l1('eth_getBalance', stranger('c0'), 'latest')).toBe(quantity(ETHER));
    clock.advance(10_000);
    const again = await node.prepareClaim(good.hash, { fromBlock: good.blockNumber });
    expect(again).toMatchObject({ status: 'claimed', slotsAllow: false, refusal: 'MessageAlreadyClaimed' });
    expect(again).not.toHaveProperty('wouldPass');
    // Without consensus nothing is executed.
    const { node: believing } = await open({}, { layerOne: [execution.url] });
    const told = await believing.prepareClaim(bad.hash, { fromBlock: bad.blockNumber });
    expect(told).toMatchObject({ status: 'anchored', slotsAllow: true, layerOne: { level: 'finalized' } });
    expect(told).not.toHaveProperty('wouldPass');
  });
});

test('viem: sent by a wallet of layer 2, claimed by one of layer 1, with messageActions', async () => {
  const { node, ask } = await devNode();
  const account = privateKeyToAccount(DEV_ACCOUNTS[6]!.privateKey);
  const chainOf = (id: number) =>
    defineChain({ id, name: `${id}`, nativeCurrency: mainnet.nativeCurrency, rpcUrls: mainnet.rpcUrls });
  const l2 = createWalletClient({ account, chain: chainOf(59_139), transport: custom(node) })
    .extend(publicActions)
    .extend(messageActions(node));
  const l1 = createWalletClient({ account, chain: chainOf(1337), transport: custom(node.l1) }).extend(publicActions);
  const to = stranger('c0');
  const abi = parseAbi([
    'function sendMessage(address to, uint256 fee, bytes data) payable',
    'event MessageSent(address indexed from, address indexed to, uint256 fee, uint256 value, uint256 nonce, bytes data, bytes32 indexed hash)',
    'event MessageClaimed(bytes32 indexed hash)',
  ]);
  const sent = await l2.writeContract({
    ...{ address: SERVICE, abi, functionName: 'sendMessage', args: [to, 0n, '0x'], value: ETHER },
  });
  const { logs, blockNumber } = await l2.waitForTransactionReceipt({ hash: sent });
  const [hash] = parseEventLogs({ abi, logs, eventName: 'MessageSent' }).map(({ args }) => args.hash);
  await ask('anvil_mine', '0x2');
  const { messages } = await l2.getMessages({ fromBlock: 0n, toBlock: blockNumber });
  expect(messages.map(({ hash, state }) => [hash, state])).toEqual([[hash, 'anchored']]);
  const claim = await l2.prepareClaim({ hash: hash!, fromBlock: blockNumber });
  if (claim.status !== 'anchored') throw new Error(claim.status);
  const claimed = await l1.sendTransaction(claim.transaction);
  const receipt = await l1.waitForTransactionReceipt({ hash: claimed });
  const events = parseEventLogs({ abi, logs: receipt.logs, eventName: 'MessageClaimed' });
  expect(events.map((event) => event.args.hash)).toEqual([hash]);
  expect(await l1.getBalance({ address: to })).toBe(ETHER);
  expect(await l2.getDepositStatus({ hash: hash! })).toMatchObject({ status: 'notReceived' });
});
