import { describe, expect, onTestFinished, test } from 'vitest';
import { headerHash } from '../../src/ethereum/header.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { readHeader } from '../../src/proof/headers.js';
import { amsterdamFetch } from '../support/amsterdam.js';
import { accountAt } from '../support/dev-node.js';
import { type LightScene, type LightSceneOptions, lightScene } from '../support/light-node.js';
import {
  type MaruMock,
  type MaruMockOptions,
  serveMaru,
  VALIDATOR_KEYS,
  VALIDATORS,
} from '../support/mock-chain-maru.js';

const network = { ...devnet(), sealing: { maru: { validators: VALIDATORS } } };

/** A chain of three sealed blocks, and a light node that takes only sealed ones. */
async function sealed(
  given: Partial<MaruMockOptions> = {},
  options: LightSceneOptions = {},
): Promise<LightScene & { maru: MaruMock }> {
  const scene = await lightScene({ ...options, chain: { network } });
  const maru = await serveMaru(scene.dev.node, given);
  onTestFinished(() => maru.close());
  for (let i = 0; i < 3; i++) await scene.dev.ask('evm_mine');
  const light = await scene.open({ network, maru: [maru.url], level: 'sealed' });
  const ask = <T>(method: string, ...params: unknown[]) =>
    light.request<UntypedMethod>({ method, params }) as Promise<T>;
  return { ...scene, light, ask, maru };
}

describe('level sealed', () => {
  test('the head is the sealed block, and the evidence says so', async () => {
    const { ask, light, maru } = await sealed();
    expect(await ask('eth_blockNumber')).toBe('0x3');
    expect(maru.seen).toHaveLength(2);
    const call = { from: accountAt(0), to: accountAt(1), value: '0x1' };
    expect((await light.explainEstimate([call])).evidence).toMatchObject({ trust: 'sealed', block: 3 });
  });

  test('a block that comes between the two answers of the head says nothing against the endpoint', async () => {
    const { ask, maru } = await sealed({ headBehind: 1 });
    expect(await ask('eth_blockNumber')).toBe('0x3');
    expect(maru.seen).toEqual([
      '/eth/v2/beacon/blocks/head',
      '/eth/v1/beacon/headers/head',
      '/eth/v1/beacon/headers/1003',
    ]);
  });

  test('blocks above the sealed one do not count; those below are linked to it', async () => {
    const { ask, dev } = await sealed({ behind: 1 });
    expect(await ask('eth_blockNumber')).toBe('0x2');
    expect(await ask('eth_getBlockByNumber', '0x1', true)).toEqual(await dev.ask('eth_getBlockByNumber', '0x1', true));
    expect(await ask('eth_getBlockByNumber', '0x3', true)).toBeNull();
  });

  test('two of three validators are enough', async () => {
    const { ask } = await sealed({ signers: VALIDATOR_KEYS.slice(1) });
    expect(await ask('eth_blockNumber')).toBe('0x3');
  });

  test.each([
    ['one of three validators', { signers: VALIDATOR_KEYS.slice(2) }, 'QUORUM_SHORT'],
    ['a stranger among them', { signers: [...VALIDATOR_KEYS, new Uint8Array(32).fill(9)] }, 'SEAL_BY_STRANGER'],
  ] as const)('%s: refused', async (_, given, check) => {
    const { ask } = await sealed(given);
    await expect(ask('eth_blockNumber')).rejects.toMatchObject({
      code: -32000,
      message: expect.stringContaining(check),
    });
  });

  test('a payload that says otherwise than the header it names is refused', async () => {
    const { ask } = await sealed({ payload: (payload) => ({ ...payload, gasUsed: 1n }) });
    await expect(ask('eth_blockNumber')).rejects.toMatchObject({ message: expect.stringContaining('FIELD_MISMATCH') });
  });

  test('endpoints that all invent the same block do not matter', async () => {
    const tamper: NonNullable<LightSceneOptions['endpoints']>[number]['tamper'] = ({ method, params }, result) => {
      if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return result;
      const changed = { ...(result as object), stateRoot: `0x${'11'.repeat(32)}` };
      return { ...changed, hash: bytesToHex(headerHash(readHeader(changed))) };
    };
    const { ask, dev } = await sealed({}, { endpoints: [{ tamper }, { tamper }] });
    expect(await ask('eth_getBalance', accountAt(0), 'latest')).toBe(
      await dev.ask('eth_getBalance', accountAt(0), 'latest'),
    );
  });

  test('without a source of seals nothing is sealed', async () => {
    const { open } = await sealed();
    const light = await open({ network, level: 'sealed' });
    await expect(light.request({ method: 'eth_blockNumber' })).rejects.toMatchObject({ message: /sealed block/ });
  });
});

describe('level sealed with headers of Amsterdam', () => {
  test('the seal is over the hash of all 23 members', async () => {
    const fetchNew = amsterdamFetch((block) => block >= 2);
    const scene = await lightScene({ chain: { network } });
    const { url } = scene.endpoints[0]!;
    const headers = { 'content-type': 'application/json' };
    const request = async (call: object) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call });
      const response = await fetchNew(url, { method: 'POST', headers, body });
      return ((await response.json()) as { result: unknown }).result;
    };
    const maru = await serveMaru({ request } as Parameters<typeof serveMaru>[0]);
    onTestFinished(() => maru.close());
    for (let i = 0; i < 3; i++) await scene.dev.ask('evm_mine');
    const chosen: typeof fetch = (input, init) =>
      String(input).startsWith(maru.url) ? fetch(input, init) : fetchNew(input, init);
    const light = await scene.open({ network, maru: [maru.url], level: 'sealed' }, { fetch: chosen });
    const blocks = [];
    for (const number of ['0x3', '0x2', '0x1'])
      blocks.push(await light.request<UntypedMethod>({ method: 'eth_getBlockByNumber', params: [number, false] }));
    expect(blocks.map((block) => 'blockAccessListHash' in (block as object))).toEqual([true, true, false]);
    const call = { from: accountAt(0), to: accountAt(1), value: '0x1' };
    expect((await light.explainEstimate([call])).evidence).toMatchObject({ trust: 'sealed', block: 3 });
  });
});
