import { RLP } from '@ethereumjs/rlp';
import { afterEach, describe, expect, it } from 'vitest';
import { shomeiRoots } from '../../src/chain/replica/sources.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import {
  contentOf,
  type GeneratedChain,
  generatedChains,
  type ShomeiContent,
  shomeiHandler,
} from '../support/mock-shomei.js';
import { dump, openShomeiScene, type ShomeiScene, type ShomeiSceneOptions } from '../support/mock-shomei-scene.js';
import { openMockUpstream } from '../support/mock-upstream.js';

const scenes: Pick<ShomeiScene, 'close'>[] = [];

async function sceneOf(chain: GeneratedChain, options?: ShomeiSceneOptions): Promise<ShomeiScene> {
  const scene = await openShomeiScene(chain, options);
  scenes.push(scene);
  return scene;
}

afterEach(async () => {
  await Promise.all(scenes.splice(0).map((scene) => scene.close()));
});

/** Makes part of one log that of another one, or another text. */
function replace({ logs }: ShomeiContent, at: number, by: Partial<ShomeiContent['logs'][number]> | undefined): void {
  logs[at] = { ...logs[at]!, ...by };
}

type Item = Uint8Array | Item[];

/** A log in which the account before the block is another one: the first that existed has one wei more. */
function withOtherPrior(trieLog: string): string {
  const log = RLP.decode(hexToBytes(trieLog)) as Item[];
  for (const entry of log) {
    if (!Array.isArray(entry)) continue;
    const account = entry[2]!;
    const prior = Array.isArray(account) ? account[0]! : account;
    if (!Array.isArray(prior)) continue;
    const balance = BigInt(`0x0${bytesToHex(prior[1] as Uint8Array).slice(2)}`) + 1n;
    const hex = balance.toString(16);
    prior[1] = hexToBytes(`0x${hex.padStart(hex.length + (hex.length % 2), '0')}`);
    return bytesToHex(RLP.encode(log));
  }
  throw new Error('no account existed before this block');
}

/** A log in which a slot before the block is another one. */
function withOtherSlot(trieLog: string): string | undefined {
  const log = RLP.decode(hexToBytes(trieLog)) as Item[];
  for (const entry of log) {
    if (!Array.isArray(entry)) continue;
    const [, , account, storage] = entry;
    if (!Array.isArray(account) || !Array.isArray(storage) || !Array.isArray(account[0])) continue;
    const isCleared = (account[2] as Uint8Array).length > 0;
    const slot = storage.find((each) => Array.isArray(each) && each.length > 4);
    if (isCleared || !Array.isArray(slot)) continue;
    slot[1] = Uint8Array.of(0x77, 0x01);
    return bytesToHex(RLP.encode(log));
  }
  return undefined;
}

/** What stops a replica that is fed this chain, spoilt; the stored state has to be the one of block `kept`, and no other. */
async function refusal(
  chain: GeneratedChain,
  kept: number | undefined,
  spoil: (content: ShomeiContent, scene: ShomeiScene) => void,
  settings: Parameters<ShomeiScene['open']>[0] = {},
) {
  const ends = kept === undefined ? [] : [kept];
  const good = await sceneOf(chain, { ends });
  await (await good.open()).follow();
  const scene = await sceneOf(chain, { ends: [...ends, chain.blocks.length - 1] });
  spoil(scene.content, scene);
  const follower = await scene.open({ rangeBlocks: 2, commitBlocks: 1, ...settings });
  const error = await follower.follow().then(
    () => undefined,
    (thrown: { code: string; details: object }) => ({ code: thrown.code, ...thrown.details }),
  );
  return {
    error,
    follower,
    scene,
    async expectKept() {
      expect(follower.confirmed).toBe(kept);
      expect(await dump(scene.store)).toEqual(await dump(good.store));
      const asked = scene.content.asked.length;
      await expect(follower.follow()).rejects.toMatchObject({ code: 'REPLICA_DIVERGED' });
      expect(scene.content.asked.length).toBe(asked);
    },
  };
}

describe('a replica refuses', () => {
  const chains = generatedChains('poseidon2');
  const chain = chains[7]!;
  const last = 7;

  it.each([undefined, 0, 2, 4])('an account that was another one before the block, back to block %s', async (kept) => {
    const { error, expectKept } = await refusal(chain, kept, ({ logs }) => {
      logs[5]!.trieLog = withOtherPrior(logs[5]!.trieLog);
    });
    expect(error).toMatchObject({ code: 'REPLICA_DIVERGED', block: 5, what: 'changes' });
    expect(error).toMatchObject(kept === undefined ? {} : { kept });
    await expectKept();
  });

  it('a slot that was another one before the block, wherever one is named', async () => {
    let tried = 0;
    for (const each of chains) {
      for (const { blockNumber, trieLog } of each.blocks) {
        const other = withOtherSlot(trieLog);
        if (other === undefined || tried >= 10) continue;
        tried++;
        const kept = blockNumber - 1;
        const { error, expectKept } = await refusal(each, kept, ({ logs }) => {
          logs[blockNumber]!.trieLog = other;
        });
        expect(error).toMatchObject({ code: 'REPLICA_DIVERGED', block: blockNumber, what: 'changes', kept });
        await expectKept();
      }
    }
    expect(tried).toBe(10);
  });

  it.each(Array.from({ length: last }, (_, i) => i + 1))(
    'a root of layer 1 that differs at block %i',
    async (block) => {
      const { error, expectKept } = await refusal(chain, block - 1, (_content, { layerOne }) => {
        layerOne.roots.set(block, hexToBytes(chain.blocks[block - 1]!.root));
      });
      const expected = chain.blocks[block - 1]!.root;
      const actual = chain.blocks[block]!.root;
      const details = { block, what: 'layer-one-root', expected, actual, kept: block - 1 };
      expect(error).toEqual({ code: 'REPLICA_DIVERGED', ...details });
      await expectKept();
    },
  );

  it('a state manager that has another root', async () => {
    const scene = await sceneOf(chain, { ends: [3, 7] });
    scene.content.roots.set(5, scene.content.roots.get(4)!);
    const asking = await scene.open({ rangeBlocks: 2, stateManager: shomeiRoots(scene.group) });
    await expect(asking.follow()).rejects.toMatchObject({
      code: 'REPLICA_DIVERGED',
      details: { block: 5, what: 'state-manager-root', kept: 3 },
    });
  });

  it('is not stopped by a state manager that does not answer', async () => {
    const scene = await sceneOf(chain);
    scene.content.roots.clear();
    const follower = await scene.open({ stateManager: shomeiRoots(scene.group) });
    await follower.follow();
    expect(follower.confirmed).toBe(last);
  });

  it.each([0, 3, 6])('a log of another chain at block %i: by its hash, by its changes or by layer 1', async (block) => {
    const spoil = (content: ShomeiContent) => replace(content, block, contentOf(chains[3]!).logs[block]);
    const kept = block === 0 ? undefined : block - 1;
    const blockHash = async (number: number) => hexToBytes(chain.blocks[number]!.blockHash);
    const byHash = await refusal(chain, kept, spoil, { blockHash });
    expect(byHash.error).toMatchObject({ code: 'REPLICA_DIVERGED', block, what: 'block-hash' });
    await byHash.expectKept();
    const { error, expectKept } = await refusal(chain, kept, spoil);
    expect(error).toMatchObject({ code: 'REPLICA_DIVERGED' });
    await expectKept();
  });

  it('all of another chain, once layer 1 is asked', async () => {
    const { error, expectKept } = await refusal(chain, undefined, (content, { layerOne }) => {
      content.logs = contentOf(chains[3]!).logs;
      layerOne.roots.set(0, hexToBytes(chain.blocks[0]!.root));
    });
    expect(error).toMatchObject({ code: 'REPLICA_DIVERGED', block: 0, what: 'layer-one-root' });
    await expectKept();
  });

  it.each<[string, (content: ShomeiContent) => void, object]>([
    ['a gap', ({ logs }) => void logs.splice(2, 1), { code: 'TRIE_LOG_MISSING', block: 2 }],
    [
      'a block that is missing at the beginning',
      ({ logs }) => void logs.shift(),
      { code: 'TRIE_LOG_MISSING', block: 0 },
    ],
    ['a log that comes twice', ({ logs }) => void logs.splice(3, 0, logs[2]!), { code: 'TRIE_LOG_MALFORMED' }],
    ['logs out of order', ({ logs }) => void logs.splice(2, 2, logs[3]!, logs[2]!), { code: 'TRIE_LOG_MALFORMED' }],
    [
      'a log under another number',
      (content) => replace(content, 2, { trieLog: content.logs[3]!.trieLog }),
      { code: 'TRIE_LOG_MALFORMED' },
    ],
    [
      'a log under another hash',
      (content) => replace(content, 2, { blockHash: content.logs[3]!.blockHash }),
      { code: 'TRIE_LOG_MALFORMED' },
    ],
    [
      'a log that is cut off',
      (content) => replace(content, 2, { trieLog: content.logs[2]!.trieLog.slice(0, -2) }),
      { code: 'TRIE_LOG_MALFORMED' },
    ],
    ['a log that is none', (content) => replace(content, 2, { trieLog: 'none' }), { code: 'TRIE_LOG_MALFORMED' }],
  ])('%s, and goes on once it is right', async (_name, spoil, expected) => {
    const { error, follower, scene } = await refusal(chain, undefined, spoil);
    expect(error).toMatchObject(expected);
    scene.content.logs = contentOf(chain).logs;
    await follower.follow();
    expect(follower.confirmed).toBe(last);
  });

  it('blocks that are not asked for', async () => {
    const scene = await sceneOf(chain);
    const { logs } = scene.content;
    const honest = scene.mock.handler;
    scene.mock.handler = (method, params) => (method === 'shomei_getTrieLogsByRange' ? logs : honest(method, params));
    const follower = await scene.open({ rangeBlocks: 2 });
    await expect(follower.follow()).rejects.toMatchObject({ code: 'TRIE_LOG_MALFORMED' });
    scene.mock.handler = () => ({ logs });
    await expect(follower.follow()).rejects.toMatchObject({ code: 'TRIE_LOG_MALFORMED' });
    scene.mock.handler = honest;
    await follower.follow();
    expect(follower.confirmed).toBe(last);
  });

  it('takes what a node that lags has, and the rest when it is there', async () => {
    const scene = await sceneOf(chain, { ends: [last] });
    const all = [...scene.content.logs];
    scene.content.logs = all.slice(0, 5);
    const follower = await scene.open({ rangeBlocks: 4 });
    await expect(follower.follow()).rejects.toMatchObject({ code: 'TRIE_LOG_MISSING', details: { block: 5 } });
    expect(follower.head).toBe(4);
    scene.content.logs = all;
    await follower.follow();
    expect([follower.confirmed, scene.content.asked.at(-1)]).toEqual([last, [5, 8]]);
  });

  it('asks another node when one has a gap, and goes on with it', async () => {
    const content = contentOf(chain);
    const gapped = await openMockUpstream({ handler: shomeiHandler(content) });
    scenes.push(gapped);
    content.logs.splice(3, 1);
    const scene = await sceneOf(chain, { endpoints: (url) => [gapped.url, url] });
    const follower = await scene.open({ rangeBlocks: 2 });
    await follower.follow();
    expect(follower.confirmed).toBe(last);
    expect(content.asked).toContainEqual([2, 4]);
  });

  it('a stored state that layer 1 does not have, and leaves it alone', async () => {
    const scene = await sceneOf(chain, { ends: [4] });
    await (await scene.open()).follow();
    const stored = await dump(scene.store);
    const follower = await scene.open();
    scene.layerOne.roots.set(4, hexToBytes(chain.blocks[3]!.root));
    scene.layerOne.roots.set(7, hexToBytes(chain.blocks[7]!.root));
    await expect(follower.follow()).rejects.toMatchObject({ code: 'REPLICA_DIVERGED', details: { block: 4 } });
    expect(follower.confirmed).toBeUndefined();
    expect(await dump(scene.store)).toEqual(stored);
  });
});
