import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { beaconNetwork } from '../../src/networks/beacon-networks.js';
import { runBuilt, startUntil } from '../support/built-command.js';
import { eventually } from '../support/eventually.js';
import { savedFiles } from '../support/saved-files.js';

const { saved } = savedFiles();

const LISTENING = /http:\/\/127\.0\.0\.1:(\d+)\//;
const exitCode = async (...args: string[]) => (await runBuilt(args)).code;
const resultOf = async (url: string, method: string, ...params: unknown[]) => {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ id: 1, method, params }) });
  return ((await answer.json()) as { result?: unknown }).result;
};

describe('the built command', () => {
  test('has the exit codes its help speaks of', async () => {
    expect(await exitCode()).toBe(2);
    expect(await exitCode('--help')).toBe(0);
    expect(await exitCode('serve', '--help')).toBe(0);
    expect(await exitCode('frobnicate')).toBe(2);
    expect(await exitCode('size', '0x1234')).toBe(0);
    expect(await exitCode('size', 'oops')).toBe(2);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'serves a profile until %s, then answers what is under way',
    async (signal) => {
      const network = await saved('network.json', { name: 'mine', chainId: 4242, blockGasLimit: '30000000' });
      const { stop, match } = await startUntil(LISTENING, 'serve', '--port', '0', '--network', network);
      const url = `http://127.0.0.1:${match[1]}/`;
      const ask = (method: string, ...params: unknown[]) =>
        fetch(url, { method: 'POST', body: JSON.stringify({ id: 1, method, params }) });
      expect(await (await ask('eth_chainId')).json()).toMatchObject({ result: '0x1092' });
      expect(await (await ask('eth_getBlockByNumber', '0x0', false)).json()).toMatchObject({
        result: { gasLimit: '0x1c9c380' },
      });
      expect(await exitCode('serve', '--port', match[1]!)).toBe(1);
      const mining = ask('evm_mine', { blocks: 100 });
      await eventually(async () =>
        expect(await (await ask('eth_blockNumber')).json()).not.toMatchObject({ result: '0x0' }),
      );
      const ended = stop(signal);
      expect(await (await mining).json()).toMatchObject({ result: '0x0' });
      expect(await ended).toBe(0);
    },
  );

  test('serves a profile with a beacon chain as data, and names what is wrong in one', async () => {
    const simulated = beaconNetwork('simulated', { gloas: 1_000 });
    const network = await saved('beacon.json', { name: 'mine', chainId: 4242, layerOne: simulated });
    const { stop, match } = await startUntil(LISTENING, 'serve', '--port', '0', '--network', network);
    const beacon = `http://127.0.0.1:${match[1]}/l1/eth/v1`;
    // Gloas began long ago.
    expect(await (await fetch(`${beacon}/config/spec`)).json()).toMatchObject({ data: { GLOAS_FORK_EPOCH: '1000' } });
    expect(await (await fetch(`${beacon}/beacon/light_client/finality_update`)).json()).toMatchObject({
      version: 'gloas',
    });
    expect(await stop('SIGTERM')).toBe(0);
    const { genesisTime: _, ...missing } = simulated;
    for (const [layerOne, message] of [
      [missing, 'layerOne.genesisTime must be a Unix time in whole seconds'],
      [{ ...simulated, presett: 'minimal' }, 'layerOne.presett is not a member'],
      ['holesky', 'layerOne must be one of mainnet'],
    ] as const) {
      const wrong = await saved('wrong.json', { name: 'mine', chainId: 4242, layerOne });
      const { code, err } = await runBuilt(['serve', '--port', '0', '--network', wrong]);
      expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    }
  });

  test('takes its limits and the origins of pages', async () => {
    const limits = ['--max-answer', '1000', '--max-filters', '1', '--max-connections-per-client', '8'];
    const access = ['--allow-origin', 'https://app.example', '--allow-host', 'node.test'];
    const { stop, match } = await startUntil(LISTENING, 'serve', '--port', '0', ...limits, ...access);
    const ask = async (method: string, headers: Record<string, string> = {}, ...params: unknown[]) => {
      const body = JSON.stringify({ id: 1, method, params });
      const sent = request({ port: match[1], host: '127.0.0.1', method: 'POST', headers });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const text = (await response.toArray()).join('');
      return { status: response.statusCode, ...(JSON.parse(text) as { result?: unknown; error?: unknown }) };
    };
    const newest = await ask('eth_getBlockByNumber', {}, 'latest', true);
    expect(newest.error).toMatchObject({ code: -32003, message: 'Response too large (more than 1000 bytes)' });
    expect(await ask('eth_newBlockFilter')).toHaveProperty('result');
    expect((await ask('eth_newBlockFilter')).error).toMatchObject({
      code: -32005,
      message: 'Number of filters exceeds 1',
    });
    const statuses = [
      { origin: 'https://app.example' },
      { origin: 'http://node.test', host: 'node.test' },
      { host: 'localhost' },
      { origin: 'https://evil.example' },
      { host: 'evil.example' },
    ].map(async (headers) => (await ask('eth_chainId', headers as Record<string, string>)).status);
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 403, 403]);
    expect(await stop('SIGTERM')).toBe(0);
  });

  test('serves a feed, and limits its rate', async () => {
    const FEED = /feed {6}http:\/\/127\.0\.0\.1:(\d+)\/feed/;
    const { stop, match } = await startUntil(FEED, 'serve', '--port', '0', '--feed', '--feed-rate', '2');
    // A client has half of it, a request in a second.
    const asked = Array.from({ length: 20 }, () => fetch(`http://127.0.0.1:${match[1]}/feed/head/latest`));
    const statuses = new Set((await Promise.all(asked)).map(({ status }) => status));
    expect(statuses).toEqual(new Set([200, 429]));
    expect(await stop('SIGTERM')).toBe(0);
    const { code, err } = await runBuilt(['serve', '--port', '0', '--feed-rate', '2']);
    expect([code, err]).toEqual([2, expect.stringContaining('--feed-rate: is for a feed; give --feed too')]);
  });

  test('says in its first line that no endpoint answers rightly, and why', async () => {
    const network = await saved('down.json', { name: 'mine', chainId: 4242 });
    const light = ['serve', '--port', '0', '--network', network, '--upstream', 'http://127.0.0.1:1/v3/SECRET'];
    const { stop, match } = await startUntil(/^plumbline .*\n.*\n/, ...light);
    expect(match[0]).toMatch(
      /^plumbline mine, chain id 4242, kernels \w+: NOT READY, no endpoint of the network answers rightly\n {2}endpoint {2}l2 http:\/\/127\.0\.0\.1:1: DOES NOT ANSWER RIGHTLY: no connection/,
    );
    await stop('SIGTERM');
  });

  test('serves a fork of what another one serves, which does not change that', async () => {
    const network = await saved('network.json', { name: 'mine', chainId: 4242 });
    const dev = await startUntil(LISTENING, 'serve', '--port', '0', '--network', network);
    const below = `http://127.0.0.1:${dev.match[1]}/`;
    const fork = await startUntil(
      /^plumbline mine, chain id 4242, kernels \w+\n {2}fork {6}of block 0, (0x[0-9a-f]{64})\n[\s\S]*?:(\d+)\/ /,
      ...['serve', '--port', '0', '--fork', network, '--upstream', below, '--fork-block', '0', '--tool', 'anvil'],
    );
    const url = `http://127.0.0.1:${fork.match[2]}/`;
    expect(await resultOf(below, 'eth_getBlockByNumber', '0x0', false)).toMatchObject({ hash: fork.match[1] });
    const [from, to] = DEV_ACCOUNTS.map(({ address }) => address);
    const hash = await resultOf(url, 'eth_sendTransaction', { from, to, value: '0x5' });
    expect(await resultOf(url, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', blockNumber: '0x1' });
    expect(await resultOf(url, 'eth_getBalance', to, 'latest')).toBe('0x21e19e0c9bab2400005');
    expect(await resultOf(below, 'eth_getBalance', to, 'latest')).toBe('0x21e19e0c9bab2400000');
    for (const { stop } of [fork, dev]) expect(await stop('SIGTERM')).toBe(0);
  });

  test('serves as a light node what another one serves as a devnet', async () => {
    const network = await saved('network.json', { name: 'mine', chainId: 4242 });
    const serving = ['serve', '--port', '0', '--network', network];
    const dev = await startUntil(LISTENING, ...serving);
    const below = `http://127.0.0.1:${dev.match[1]}`;
    const upstreams = ['--upstream', `${below}/`, '--l1', `${below}/l1`];
    const light = await startUntil(
      /^plumbline mine, chain id 4242, kernels \w+\n[\s\S]*?:(\d+)\/ /,
      ...serving,
      ...upstreams,
    );
    expect(light.match[0]).toContain(`  endpoint  l2 ${below}: answers, chain id 4242, head 0\n`);
    expect(light.match[0]).toContain(`  endpoint  l1 ${below}: answers, chain id `);
    const [account] = DEV_ACCOUNTS;
    const url = `http://127.0.0.1:${light.match[1]}/`;
    expect(await resultOf(url, 'eth_getBalance', account!.address, 'latest')).toBe('0x21e19e0c9bab2400000');
    const call = { from: account!.address, to: account!.address, value: '0x1' };
    const estimate = await resultOf(`${below}/`, 'linea_estimateGas', call);
    expect(estimate).toMatchObject({ gasLimit: '0x5208' });
    expect(await resultOf(url, 'linea_estimateGas', call)).toEqual(estimate);
    expect(await resultOf(url, 'evm_mine')).toBeUndefined();
    for (const { stop } of [light, dev]) expect(await stop('SIGTERM')).toBe(0);
  });
});
