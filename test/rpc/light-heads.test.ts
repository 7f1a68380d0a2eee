import { describe, expect, test } from 'vitest';
import { headerHash } from '../../src/ethereum/header.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { readHeader } from '../../src/proof/headers.js';
import { accountAt, stranger } from '../support/dev-node.js';
import { type LightScene, lightScene } from '../support/light-node.js';
import type { MockOptions, SeenCall } from '../support/mock-chain.js';

type Tamper = NonNullable<MockOptions['tamper']>;
type BlockJson = Record<string, unknown> & { number: Hex; hash: Hex };

/** Changes what an endpoint says its newest block is. */
const onHead =
  (change: (block: BlockJson) => unknown): Tamper =>
  (call, result) =>
    isHead(call) ? change(result as BlockJson) : result;
const isHead = ({ method, params }: SeenCall) => method === 'eth_getBlockByNumber' && params[0] === 'latest';
/** A block that was never made, with the hash its fields have. */
const invented = (block: BlockJson, fields: object): BlockJson => {
  const changed = { ...block, ...fields };
  return { ...changed, hash: bytesToHex(headerHash(readHeader(changed))) };
};
const liar: MockOptions = { tamper: onHead((block) => invented(block, { stateRoot: `0x${'11'.repeat(32)}` })) };

/** Answers with this status, the first so many times. */
const failing = (status: number, times = Number.POSITIVE_INFINITY): MockOptions => ({
  intercept(response) {
    if (times-- <= 0) return false;
    response.writeHead(status).end();
    return true;
  },
});

const blockNumber = (scene: LightScene) => scene.ask('eth_blockNumber');
async function mine({ dev }: LightScene, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await dev.ask('evm_mine');
}

describe('a head has to be vouched for', () => {
  test('two endpoints that name different blocks are no head', async () => {
    const scene = await lightScene({ endpoints: [{}, liar] });
    await expect(blockNumber(scene)).rejects.toMatchObject({ code: -32000, message: /trust level linked/ });
  });

  test('two of three agree', async () => {
    const scene = await lightScene({ endpoints: [liar, {}, {}] });
    await mine(scene, 2);
    expect(await blockNumber(scene)).toBe('0x2');
    expect(await scene.ask('eth_getBalance', accountAt(0), 'latest')).toBe(
      await scene.dev.ask('eth_getBalance', accountAt(0), 'latest'),
    );
  });

  test('one of three that limits its rate, without a time, is asked once', async () => {
    const scene = await lightScene({ endpoints: [failing(429), {}, {}] });
    await mine(scene, 2);
    expect(await blockNumber(scene)).toBe('0x2');
    expect(scene.endpoints.map(({ seen }) => seen.length)).toEqual([1, 1, 1]);
  });

  test('it is asked again if the others are not enough', async () => {
    const scene = await lightScene({ endpoints: [failing(429, 1), {}, failing(503)] });
    await mine(scene, 2);
    expect(await blockNumber(scene)).toBe('0x2');
    expect(scene.endpoints[0]!.seen.length).toBeGreaterThan(1);
  });

  test('one of three that is far ahead of the others', async () => {
    const ahead: MockOptions = { tamper: onHead((block) => invented(block, { number: '0x3e8' })) };
    const scene = await lightScene({ endpoints: [ahead, {}, {}] });
    await mine(scene, 2);
    expect(await blockNumber(scene)).toBe('0x2');
  });

  test('a header that does not have its hash is not taken from anybody', async () => {
    const changed: MockOptions = { tamper: onHead((block) => ({ ...block, gasUsed: '0x1' })) };
    const scene = await lightScene({ endpoints: [changed] });
    await expect(blockNumber(scene)).rejects.toMatchObject({ message: /header.*HASH_MISMATCH/ });
    const other = await lightScene({ endpoints: [changed, {}, {}] });
    expect(await blockNumber(other)).toBe('0x0');
  });

  test('an endpoint of another chain is not asked further', async () => {
    const foreign: MockOptions = { tamper: ({ method }, result) => (method === 'eth_chainId' ? '0x1' : result) };
    const scene = await lightScene({ endpoints: [foreign] });
    await expect(blockNumber(scene)).rejects.toMatchObject({ message: / serves chain 1, not 59139 / });
  });

  test('an endpoint one block behind: the block that both have', async () => {
    let behind: unknown;
    const late: MockOptions = { tamper: onHead(() => behind) };
    const scene = await lightScene({ endpoints: [{}, late] });
    await mine(scene, 3);
    behind = await scene.dev.ask('eth_getBlockByNumber', 'latest', false);
    await mine(scene, 1);
    expect(await blockNumber(scene)).toBe('0x3');
  });

  test('an endpoint several blocks behind, and one too far behind', async () => {
    let behind: unknown;
    const late: MockOptions = { tamper: onHead(() => behind) };
    const scene = await lightScene({ endpoints: [{}, late], chain: { maxLagBlocks: 4 } });
    await mine(scene, 1);
    behind = await scene.dev.ask('eth_getBlockByNumber', 'latest', false);
    await mine(scene, 4);
    expect(await blockNumber(scene)).toBe('0x1');
    await mine(scene, 1);
    scene.clock.advance(5_000);
    await expect(blockNumber(scene)).rejects.toMatchObject({ message: /trust level linked/ });
  });

  test('a head that goes back is not followed', async () => {
    let old: unknown;
    const tamper = onHead((block) => old ?? block);
    const scene = await lightScene({ endpoints: [{ tamper }, { tamper }] });
    const genesis = await scene.dev.ask('eth_getBlockByNumber', 'latest', false);
    await mine(scene, 2);
    // Linked down to the genesis block by asking for it.
    expect(await scene.ask('eth_getBlockByNumber', '0x0', false)).toEqual(genesis);
    old = genesis;
    scene.clock.advance(5_000);
    expect(await blockNumber(scene)).toBe('0x2');
  });

  test('a clock that is set back does not make an old head a fresh one', async () => {
    const scene = await lightScene();
    await mine(scene, 2);
    expect(await blockNumber(scene)).toBe('0x2');
    scene.clock.advance(-3_600_000);
    await mine(scene, 1);
    expect(await blockNumber(scene)).toBe('0x3');
  });

  test('levels of tags: what is not reached is an error', async () => {
    const scene = await lightScene({ chain: { required: { latest: 'sealed' } } });
    await expect(blockNumber(scene)).rejects.toMatchObject({ message: /trust level sealed/ });
    expect(await scene.ask('eth_getBlockByNumber', '0x0', false)).toMatchObject({ number: '0x0' });
  });

  test('levels of tags: so is what is executed in the pending block, named or not', async () => {
    const scene = await lightScene({ chain: { required: { pending: 'sealed' } } });
    const call = { from: accountAt(0), to: accountAt(1), value: '0x1' };
    const refused = { message: /trust level sealed/ };
    await expect(scene.ask('eth_call', call, 'pending')).rejects.toMatchObject(refused);
    await expect(scene.ask('eth_estimateGas', call)).rejects.toMatchObject(refused);
    await expect(scene.ask('linea_estimateGas', call)).rejects.toMatchObject(refused);
    await expect(scene.ask('eth_getBalance', accountAt(0), 'pending')).rejects.toMatchObject(refused);
    expect(await scene.ask('eth_call', call, 'latest')).toBe('0x');
    expect(await scene.ask('eth_getBalance', accountAt(0), 'latest')).toMatch(/^0x/);
  });

  test.each([
    ['level', { level: 'finalized' }],
    ['level', { level: 'seald' }],
    ['required', { required: { lattest: 'sealed' } }],
    ['required', { required: { latest: 'seald' } }],
    ['required', { required: { latest: 1 } }],
    // Levels of what a devnet holds and of zk proofs: no header of a light node has one.
    ['required', { required: { latest: 'held' } }],
    ['required', { required: { finalized: 'finalized' } }],
  ])('a %s that is none does not open: %o', async (parameter, options) => {
    const scene = await lightScene();
    await expect(scene.open(options as object)).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
      details: { parameter: expect.stringContaining(parameter) },
    });
  });

  test('too few origins for the level do not open', async () => {
    const scene = await lightScene();
    await expect(scene.open({ agreeing: 3 })).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
    await expect(scene.open({ endpoints: [scene.endpoints[0]!.url], level: 'linked' })).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
    });
  });
});

describe('re-organizations', () => {
  /** Three blocks of which the light node knows, then as many others in their place. */
  async function reorganized(depth: number, maxReorgDepth: number): Promise<LightScene> {
    const scene = await lightScene({ chain: { maxReorgDepth } });
    await mine(scene, 2);
    const before = await scene.dev.ask('evm_snapshot');
    for (let nonce = 0; nonce < depth; nonce++) await scene.dev.transfer(0, { nonce, to: stranger('aa'), value: 7n });
    expect(await scene.ask('eth_getBalance', stranger('aa'), 'latest')).toBe(`0x${(7 * depth).toString(16)}`);
    // The headers below the head are linked once somebody wants one of them.
    await scene.ask('eth_getBlockByNumber', '0x1', false);
    await scene.dev.ask('evm_revert', before);
    for (let nonce = 0; nonce < depth; nonce++) await scene.dev.transfer(0, { nonce, to: stranger('aa'), value: 5n });
    scene.clock.advance(5_000);
    return scene;
  }

  test('of three blocks: state, blocks and hashes are of the new ones', async () => {
    const scene = await reorganized(3, 8);
    expect(await scene.ask('eth_getBalance', stranger('aa'), 'latest')).toBe('0xf');
    for (const number of ['0x1', '0x3', '0x4', '0x5'] as const) {
      expect(await scene.ask('eth_getBlockByNumber', number, true)).toEqual(
        await scene.dev.ask('eth_getBlockByNumber', number, true),
      );
    }
  });

  test('a block that has left the chain is none, though endpoints still have it by its hash', async () => {
    const scene = await lightScene({ chain: { maxReorgDepth: 8 } });
    const snapshot = await scene.dev.ask('evm_snapshot');
    await mine(scene, 2);
    const left = await scene.dev.ask<BlockJson>('eth_getBlockByNumber', '0x2', false);
    expect(await scene.ask('eth_getBlockByHash', left.hash, false)).toEqual(left);
    await scene.dev.ask('evm_revert', snapshot);
    for (let nonce = 0; nonce < 3; nonce++) await scene.dev.transfer(0, { nonce, to: stranger('aa'), value: 5n });
    for (const { options } of scene.endpoints)
      options.tamper = ({ method, params }, result) =>
        method === 'eth_getBlockByHash' && params[0] === left.hash ? left : result;
    scene.clock.advance(5_000);
    expect(await blockNumber(scene)).toBe('0x3');
    expect(await scene.ask('eth_getBlockByHash', left.hash, false)).toBeNull();
  });

  test('deeper than allowed: refused, and not taken', async () => {
    const scene = await reorganized(3, 2);
    await expect(blockNumber(scene)).rejects.toMatchObject({ message: /more than 2 blocks/ });
  });

  test('listeners hear of each new block, and again of heights that have another', async () => {
    const scene = await lightScene({ chain: { network: { ...devnet(), slotSeconds: 1 } } });
    const seen: string[] = [];
    scene.light.on('message', (message) => {
      const { result } = (message as { data: { result: { number: string; hash: string } } }).data;
      seen.push(`${result.number} ${result.hash}`);
    });
    await blockNumber(scene);
    await scene.ask('eth_subscribe', 'newHeads');
    await mine(scene, 3);
    await expect.poll(() => seen.length).toBe(3);
    const expected = await Promise.all(
      ['0x1', '0x2', '0x3'].map(async (number) => {
        const block = await scene.dev.ask<BlockJson>('eth_getBlockByNumber', number, false);
        return `${number} ${block.hash}`;
      }),
    );
    expect(seen).toEqual(expected);
  });
});
