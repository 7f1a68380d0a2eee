import { expect, onTestFinished, test } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { openInline } from '../../src/hosts/opening/open-inline.js';
import type { NodeOptions } from '../../src/hosts/options/options.js';
import type { NodeTransport } from '../../src/hosts/provider/transport.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, PRICE, stranger } from '../support/dev-node.js';
import { serveMock } from '../support/mock-chain.js';
import { signTransaction } from '../support/sign.js';
import { ask, askIn, sharingOf } from '../support/stub-node.js';
import { TestBrowser } from '../support/tabs.js';

const RECIPIENT = stranger('11');
const transfer = (nonce: number) =>
  signTransaction(0, { nonce, to: RECIPIENT, value: 5n, gasLimit: 21_000n, ...PRICE });

test('the next tab continues a devnet with its blocks, roots and pending edits', async () => {
  const browser = new TestBrowser();
  const [first, second] = [browser.tab(), browser.tab()];
  const one = await browser.open(first, openInline);
  const other = await browser.open(second, openInline);
  const heads: unknown[] = [];
  const session = other.openSession(({ result }) => heads.push((result as { number: Hex }).number));
  await askIn(session, 'eth_subscribe', ['newHeads']);

  const sent = [await ask<Hex>(one, 'eth_sendRawTransaction', [transfer(0)])];
  sent.push(await ask<Hex>(other, 'eth_sendRawTransaction', [transfer(1)]));
  await ask(other, 'anvil_setBalance', [stranger('22'), '0x7']);
  const before = await ask(other, 'eth_getBlockByNumber', ['latest', true]);
  const proofBefore = await ask(other, 'linea_getProof', [RECIPIENT, [], 'latest']);
  expect(await sharingOf(other)).toMatchObject({ role: 'follower' });
  await expect.poll(() => heads).toEqual(['0x1', '0x2']);

  first.kill();
  expect(await ask(other, 'eth_getBlockByNumber', ['latest', true])).toEqual(before);
  expect(await sharingOf(other)).toMatchObject({ role: 'writer' });
  expect(await ask(other, 'linea_getProof', [RECIPIENT, [], 'latest'])).toEqual(proofBefore);
  expect(await ask(other, 'eth_getBalance', [stranger('22'), 'pending'])).toBe('0x7');
  sent.push(await ask<Hex>(other, 'eth_sendRawTransaction', [transfer(2)]));
  expect(await ask(other, 'eth_getBalance', [RECIPIENT, 'latest'])).toBe('0xf');
  for (const [i, hash] of sent.entries()) {
    expect(await ask(other, 'eth_getTransactionReceipt', [hash])).toMatchObject({ blockNumber: `0x${i + 1}` });
  }
  await expect.poll(() => heads).toEqual(['0x1', '0x2', '0x3']);
});

test('only the writer of several light nodes sends upstream requests; a follower takes over with its own endpoints', async () => {
  const dev = await createInlineNode();
  const ownUpstream = await serveMock(dev);
  const otherUpstream = await serveMock(dev);
  onTestFinished(async () => {
    await Promise.all([ownUpstream.close(), otherUpstream.close()]);
    await dev.close();
  });
  await dev.request({ method: 'evm_mine' });
  const optionsOf = (url: string): NodeOptions => ({ chain: { kind: 'light', network: devnet(), endpoints: [url] } });
  const browser = new TestBrowser();
  const [first, second] = [browser.tab(), browser.tab()];
  const one = await browser.open(first, openInline, { options: optionsOf(`${ownUpstream.url}/key-of-one`) });
  const other = await browser.open(second, openInline, { options: optionsOf(`${otherUpstream.url}/key-of-other`) });
  const balance = await dev.request({ method: 'eth_getBalance', params: [accountAt(0), 'latest'] });
  expect(await ask(one, 'eth_getBalance', [accountAt(0), 'latest'])).toBe(balance);
  expect(await ask(other, 'eth_getBalance', [accountAt(0), 'latest'])).toBe(balance);
  expect(otherUpstream.seen).toEqual([]);
  first.kill();
  expect(await ask(other, 'eth_getBalance', [accountAt(0), 'latest'])).toBe(balance);
  expect(otherUpstream.seen.length).toBeGreaterThan(0);
});

test('what is asked while the next writer takes over is answered on the chain that the session chose', async () => {
  const browser = new TestBrowser();
  const chainOf = (chainId: number) =>
    ({ kind: 'light', network: { ...devnet(), chainId }, endpoints: ['http://[::1]:1/'] }) as const;
  const options = { chains: [chainOf(59_139), chainOf(59_140)] } as const satisfies NodeOptions;
  const [first, second] = [browser.tab(), browser.tab()];
  await browser.open(first, openInline, { options });
  const other = await browser.open(second, openInline, { options });
  const session = other.openSession(() => {});
  const id = await askIn<Hex>(session, 'eth_chainId', []);
  expect(id).toBe('0xe703');
  await askIn(session, 'wallet_switchEthereumChain', [{ chainId: '0xe704' }]);
  first.kill();
  const answers = await Promise.all(Array.from({ length: 8 }, () => askIn(session, 'eth_chainId', [])));
  expect(answers).toEqual(Array(8).fill('0xe704'));
});

test('without Web Locks, two tabs whose store does not open have one writer, which stays', async () => {
  const browser = new TestBrowser(false);
  const network = devnet();
  const options = { chain: { kind: 'light', network, endpoints: ['http://[::1]:1/'] } } as const satisfies NodeOptions;
  let opened = 0;
  const open: typeof openInline = (...args) => {
    opened++;
    return openInline(...args);
  };
  const tabs = [browser.tab(), browser.tab()];
  const nodes: NodeTransport[] = [];
  for (const tab of tabs) {
    const openStore = async () => {
      throw new PlumblineError('STORE_TOO_NEW', 'newer', { version: 9, supported: 4 });
    };
    nodes.push(await browser.open(tab, open, { options, sharing: { environment: { ...tab.environment, openStore } } }));
  }
  await expect
    .poll(async () => (await Promise.all(nodes.map(sharingOf))).map(({ role }) => role).sort(), { timeout: 30_000 })
    .toEqual(['follower', 'writer']);
  const before = opened;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(opened).toBe(before);
  for (const node of nodes) expect(await ask(node, 'eth_chainId', [])).toBe('0xe703');
});

test('a node without a store name shares nothing', async () => {
  const node = await createInlineNode();
  expect(await node.sharing()).toEqual({ role: 'alone' });
  await node.close();
});
