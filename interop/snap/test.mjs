// examples/snap, built as its README says, in the simulator that MetaMask publishes for Snaps.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { installSnap } from '@metamask/snaps-simulation';
import { createInlineNode } from 'plumbline-l2/inline';
import { serve } from 'plumbline-l2-cli';
import { atEnd, check, main } from '../lib.mjs';

const here = import.meta.dirname;
const TOKEN = '0x7e57c0de00000000000000000000000000007e57';
const OTHER = `0x${'77'.repeat(20)}`;
const word = (value) => value.replace(/^0x/, '').padStart(64, '0');

/** All texts of an interface, in order. */
function textsOf(element) {
  if (typeof element === 'string') return [element];
  if (Array.isArray(element)) return element.flatMap(textsOf);
  const { title, value, children } = element?.props ?? {};
  return [title, value].filter((text) => text !== undefined).concat(children === undefined ? [] : textsOf(children));
}

main(async () => {
  const node = await createInlineNode();
  atEnd(() => node.close());
  const ask = (method, ...params) => node.request({ method, params });
  for (let at = 0; at < 6; at++) await ask('evm_mine');
  const server = await serve(node, { port: 0 });
  atEnd(() => server.close());
  const url = `http://127.0.0.1:${server.port}`;
  // Beside the packages, which it finds by this place.
  const folder = mkdtempSync(join(here, 'node_modules/.interop-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(here, '../../examples/snap'), folder, { recursive: true });
  const config = { 1337: { network: 'devnet', endpoints: [url], layerOne: [`${url}/l1`] } };
  writeFileSync(join(folder, 'src/config.js'), `export const ENDPOINTS = ${JSON.stringify(config)};\n`);
  await check('the example builds, with a manifest that MetaMask’s own check accepts', () => {
    execFileSync(process.execPath, ['build.mjs'], { cwd: folder });
  });
  const files = createServer((request, response) => {
    try {
      response.end(readFileSync(join(folder, new URL(request.url, url).pathname)));
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => files.once('listening', resolve));
  atEnd(() => files.close());
  const snap = await installSnap(`local:http://localhost:${files.address().port}`);
  atEnd(() => snap.close());
  const [from] = await ask('eth_accounts');
  const prices = { maxFeePerGas: '0x3b9aca00', maxPriorityFeePerGas: '0x5f5e100', gasLimit: '0x186a0', nonce: '0x0' };
  const insight = async (transaction, chainId = 'eip155:1337') => {
    const { response } = await snap.onTransaction({
      origin: 'https://dapp.example',
      chainId,
      from,
      value: '0x0',
      data: '0x',
      ...prices,
      ...transaction,
    });
    assert.equal(response.error, undefined, JSON.stringify(response));
    const { content, severity } = response.result;
    return { texts: textsOf(content), severity };
  };
  const balances = async () => [
    BigInt(await ask('eth_getBalance', from)),
    BigInt(await ask('eth_call', { to: TOKEN, data: `0x70a08231${word(from)}` }, 'latest')),
  ];
  await check('a token transfer: the losses that it shows are those that it causes', async () => {
    const transfer = { to: TOKEN, data: `0xa9059cbb${word(OTHER)}${word((10n ** 18n).toString(16))}` };
    const { texts, severity } = await insight(transfer);
    const [ether, tokens] = await balances();
    const hash = await ask('eth_sendTransaction', {
      from,
      ...transfer,
      gas: prices.gasLimit,
      ...prices,
      gasLimit: undefined,
    });
    assert.equal((await ask('eth_getTransactionReceipt', hash)).status, '0x1');
    const [etherNow, tokensNow] = await balances();
    assert.equal(tokens - tokensNow, 10n ** 18n);
    assert(texts.includes('You lose 1 PLUMB'), texts.join('; '));
    const fee = `0.${(ether - etherNow).toString().padStart(18, '0').replace(/0+$/, '')}`;
    assert(texts.includes(`You lose ${fee} ETH`), `${texts.join('; ')}; it lost ${fee}`);
    assert.equal(severity, undefined);
  });
  await check('an approval of all tokens is a warning beside the transaction', async () => {
    const { texts } = await insight({ to: TOKEN, data: `0x095ea7b3${word(OTHER)}${'f'.repeat(64)}` });
    assert(texts.includes('unlimited-approval'), texts.join('; '));
  });
  const signed = async (data, signatureMethod) => {
    const { response } = await snap.onSignature({ origin: 'https://dapp.example', from, data, signatureMethod });
    assert.equal(response.error, undefined, JSON.stringify(response));
    return { texts: textsOf(response.result.content), severity: response.result.severity };
  };
  await check('a hash to sign is a danger', async () => {
    const { texts, severity } = await signed(`0x${'ab'.repeat(32)}`, 'personal_sign');
    assert(texts.includes('opaque-hash'), texts.join('; '));
    assert.equal(severity, 'critical');
  });
  await check('typed data of no known kind is called so', async () => {
    const data = {
      types: { EIP712Domain: [{ name: 'chainId', type: 'uint256' }], Vote: [{ name: 'choice', type: 'uint8' }] },
      primaryType: 'Vote',
      domain: { chainId: 1337 },
      message: { choice: 1 },
    };
    const { texts } = await signed(data, 'eth_signTypedData_v4');
    assert(texts.includes('What this allows is not known.'), texts.join('; '));
  });
  await check('a chain without an endpoint says so', async () => {
    const { texts } = await insight({ to: OTHER }, 'eip155:5');
    assert.match(texts.join(' '), /no endpoint for chain/);
  });
});
