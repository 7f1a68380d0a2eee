import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { OpenProgress } from '../../src/hosts/options/options.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, KeptStore } from '../support/dev-node.js';
import { type MockBeacon, serveBeacon } from '../support/mock-beacon.js';
import type { MockOptions } from '../support/mock-chain.js';
import { settledScene } from '../support/settled-scene.js';

interface BlockAnswer {
  readonly number: Hex;
  readonly hash: Hex;
}

async function otherBeacon(node: Pick<PlumblineNode, 'l1'>): Promise<MockBeacon> {
  const beacon = await serveBeacon(node);
  onTestFinished(() => beacon.close());
  return beacon;
}

describe('a light node that follows the consensus of layer 1', () => {
  test('finalized is the newest block whose hash the zk state on layer 1 holds, at level settled', async () => {
    const { dev, open, checkpoint } = await settledScene();
    const root = await checkpoint();
    const { ask, reports } = await open({ checkpoint: { root } });
    // Block 8 is the newest, 6 the newest finalized one, and its state holds the hashes of 5 and below.
    const block = await ask<BlockAnswer>('eth_getBlockByNumber', 'finalized', false);
    expect(block).toEqual(await dev.ask('eth_getBlockByNumber', '0x5', false));
    expect(reports.at(-1)).toMatchObject({
      class: 'proved',
      level: 'settled',
      layerOne: { checkpoint: { level: 'checkpoint', root } },
    });
    expect(await ask('eth_getBlockByNumber', 'safe', false)).toEqual(block);
    for (const number of ['0x0', '0x3']) {
      expect(await ask('eth_getBlockByNumber', number, false)).toEqual(
        await dev.ask('eth_getBlockByNumber', number, false),
      );
      expect(reports.at(-1)).toMatchObject({ level: 'settled' });
    }
    await ask('eth_getBlockByNumber', '0x7', false);
    expect(reports.at(-1)).toMatchObject({ level: 'plain' });
  });

  test('state, calls, logs and proofs at finalized have that level', async () => {
    const { dev, open, checkpoint } = await settledScene();
    const { ask, reports } = await open({ checkpoint: { root: await checkpoint() } });
    const balanceOf = `0x70a08231${accountAt(0).slice(2).padStart(64, '0')}`;
    const questions: [string, ...unknown[]][] = [
      ['eth_getBalance', accountAt(0), 'finalized'],
      ['eth_getCode', TEST_TOKEN, 'finalized'],
      ['eth_call', { to: TEST_TOKEN, data: balanceOf }, 'finalized'],
      ['eth_getLogs', { fromBlock: 'finalized', toBlock: 'finalized' }],
    ];
    for (const [method, ...params] of questions) {
      const there = JSON.parse(JSON.stringify(params).replaceAll('finalized', '0x5')) as unknown[];
      expect(await ask(method, ...params), method).toEqual(await dev.ask(method, ...there));
      expect(reports.at(-1), method).toMatchObject({ level: 'settled' });
    }
    const proof = await ask('linea_getProof', accountAt(0), [], 'finalized');
    expect(proof).toEqual(await dev.ask('linea_getProof', accountAt(0), [], '0x6'));
    expect(reports.at(-1)).toMatchObject({ level: 'settled', zkBlock: 6 });
  });
});

describe('where the trusted beacon block comes from', () => {
  test('without any, an error says what to give', async () => {
    const { open } = await settledScene(4);
    const { ask } = await open({});
    await expect(ask('eth_getBlockByNumber', 'finalized', false)).rejects.toMatchObject({
      message: /layerOne.checkpoint/,
    });
  });

  test('a block that is too old is refused, and its age is said', async () => {
    const { open, checkpoint, clock } = await settledScene(4);
    const root = await checkpoint();
    clock.advance(15 * 86_400_000);
    const { ask } = await open({ checkpoint: { root } });
    await expect(ask('eth_getBlockByNumber', 'finalized', false)).rejects.toMatchObject({
      message: /the checkpoint is 12\d{5} slots old, 1209600 are allowed/,
    });
  });

  test('servers have to agree on it', async () => {
    const { dev, beacon, open } = await settledScene(4);
    const other = await otherBeacon(dev.node);
    const servers = { checkpointServers: [beacon.url, other.url] };
    const { ask, reports } = await open(servers);
    await ask('eth_getBlockByNumber', 'finalized', false);
    expect(reports.at(-1)).toMatchObject({ level: 'settled', layerOne: { checkpoint: { level: 'servers' } } });

    other.tamper = (path, answer) => {
      if (!path.includes('/headers/')) return answer;
      const body = answer.body as { data: { header: { message: { body_root: Hex } } } };
      body.data.header.message.body_root = `0x${'11'.repeat(32)}`;
      return { ...answer, body };
    };
    const second = await open(servers);
    await expect(second.ask('eth_getBlockByNumber', 'finalized', false)).rejects.toMatchObject({ message: /agree/ });
  });

  test('a server that names a slot without a block does not decide for the others, who differ', async () => {
    const { dev, beacon, open } = await settledScene(4);
    const [behind, wrong] = [await otherBeacon(dev.node), await otherBeacon(dev.node)];
    interface Header {
      readonly data: { readonly header: { readonly message: { slot: string; readonly parent_root: Hex } } };
    }
    const read = (id: string) => fetch(`${beacon.url}/eth/v1/beacon/headers/${id}`);
    const newest = ((await (await read('finalized')).json()) as Header).data.header.message;
    const earlier = (await (await read(newest.parent_root)).json()) as Header;
    let empty = Number(earlier.data.header.message.slot) - 1;
    while (empty > 0 && (await read(String(empty))).ok) empty--;
    expect((await read(String(empty))).status).toBe(404);
    behind.tamper = (path, answer) => (path.endsWith('/headers/finalized') ? { ...answer, body: earlier } : answer);
    wrong.tamper = (path, answer) => {
      if (!path.endsWith('/headers/finalized')) return answer;
      const body = structuredClone(answer.body) as Header;
      body.data.header.message.slot = String(empty);
      return { ...answer, body };
    };
    const { ask, reports } = await open({ checkpointServers: [beacon.url, behind.url, wrong.url] });
    await ask('eth_getBlockByNumber', 'finalized', false);
    expect(reports.at(-1)).toMatchObject({ layerOne: { checkpoint: { level: 'servers' } } });
  });

  test('the state of an earlier session is used, and needs one update', async () => {
    const { beacon, open, checkpoint, clock, dev } = await settledScene(4);
    const store = new KeptStore();
    const first = await open({ checkpoint: { root: await checkpoint() } }, {}, { store });
    await first.ask('eth_getBlockByNumber', 'finalized', false);
    await first.node.close();
    clock.advance(20_000);
    await dev.ask('anvil_mine', '0x3');
    beacon.seen.length = 0;
    const { ask, reports } = await open({}, {}, { store });
    expect(await ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x4' });
    expect(reports.at(-1)).toMatchObject({ layerOne: { checkpoint: { level: 'stored' } } });
    // No bootstrap. One update more where a period of 64 seconds has ended meanwhile.
    expect(beacon.seen.filter((path) => !path.includes('/updates?'))).toEqual([
      '/eth/v1/beacon/light_client/finality_update',
    ]);
  });
});

describe('following', () => {
  test('periods in which nothing was asked are caught up, with progress', async () => {
    const { dev, beacon, open, checkpoint, clock } = await settledScene(4);
    const progress: number[] = [];
    const onProgress = ({ stage, fraction }: OpenProgress) => {
      if (stage === 'layer-one') progress.push(fraction);
    };
    const { ask } = await open({ checkpoint: { root: await checkpoint() } }, {}, { onProgress });
    expect(await ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x1' });
    // Five periods of 64 seconds.
    clock.advance(320_000);
    await dev.ask('anvil_mine', '0x3');
    beacon.seen.length = 0;
    expect(await ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x4' });
    expect(beacon.seen[0]).toMatch(/updates\?start_period=\d+&count=\d+$/);
    expect(progress.length).toBeGreaterThan(0);
  });

  test('an endpoint that lies, alone or beside an honest one, is never believed', async () => {
    const { dev, beacon, open, checkpoint } = await settledScene(4);
    const root = await checkpoint();
    const honest = await otherBeacon(dev.node);
    const zero = `0x${'00'.repeat(32)}`;
    type Json = Record<string, unknown>;
    const header = (body: unknown, name: string) => (body as { data: Record<string, { execution: Json }> }).data[name]!;
    const lies: Record<string, [check: RegExp, part: string, change: (body: unknown) => void]> = {
      'another block hash': [
        /FINALIZED_EXECUTION_BRANCH/,
        'finality_update',
        (body) => (header(body, 'finalized_header').execution.block_hash = zero),
      ],
      'another state root': [
        /FINALIZED_EXECUTION_BRANCH/,
        'finality_update',
        (body) => (header(body, 'finalized_header').execution.state_root = zero),
      ],
      'another attested header': [
        /ATTESTED_EXECUTION_BRANCH/,
        'finality_update',
        (body) => (header(body, 'attested_header').execution.block_hash = zero),
      ],
      'another committee': [
        /CURRENT_COMMITTEE_BRANCH/,
        'bootstrap',
        (body) => {
          const { current_sync_committee: committee } = (
            body as { data: { current_sync_committee: { pubkeys: Hex[] } } }
          ).data;
          committee.pubkeys.reverse();
        },
      ],
      'no signature': [
        /SIGNATURE_POINT/,
        'finality_update',
        (body) => {
          const { sync_aggregate: aggregate } = (body as { data: { sync_aggregate: Json } }).data;
          aggregate.sync_committee_signature = `0xc0${'00'.repeat(95)}`;
        },
      ],
    };
    for (const [name, [check, part, change]] of Object.entries(lies)) {
      beacon.tamper = (path, answer) => {
        if (path.includes(part)) change(answer.body);
        return answer;
      };
      const alone = await open({ checkpoint: { root } });
      await expect(alone.ask('eth_getBlockByNumber', 'finalized', false), name).rejects.toMatchObject({
        message: check,
      });
      const beside = await open({ checkpoint: { root }, consensus: [beacon.url, honest.url] });
      expect(await beside.ask('eth_getBlockByNumber', 'finalized', false), name).toMatchObject({ number: '0x1' });
      expect(beside.reports.at(-1)).toMatchObject({ level: 'settled' });
    }
  });

  test('what was final stays final while no beacon node answers, until it is too old', async () => {
    const { beacon, open, checkpoint, clock } = await settledScene(4);
    const { ask } = await open({ checkpoint: { root: await checkpoint() } });
    const block = await ask('eth_getBlockByNumber', 'finalized', false);
    beacon.tamper = (_, answer) => ({ ...answer, status: 503 });
    clock.advance(60_000);
    expect(await ask('eth_getBlockByNumber', 'finalized', false)).toEqual(block);
    clock.advance(46 * 60_000);
    await expect(ask('eth_getBlockByNumber', 'finalized', false)).rejects.toMatchObject({ message: /minutes old/ });
  });
});

describe('what is proved by the zk state', () => {
  test('a forged header, or a forged proof of the history contract, is refused', async () => {
    const { endpoint, open, checkpoint } = await settledScene(6);
    const root = await checkpoint();
    const lies: Record<string, NonNullable<MockOptions['tamper']>> = {
      header: ({ method }, result) =>
        method === 'eth_getBlockByHash' ? { ...(result as object), stateRoot: `0x${'22'.repeat(32)}` } : result,
      proof: ({ method }, result) => {
        if (method !== 'linea_getProof') return result;
        const { storageProofs } = result as { storageProofs: { proof: { value: Hex } }[] };
        storageProofs[0]!.proof.value = `0x${'33'.repeat(32)}`;
        return result;
      },
    };
    for (const [name, tamper] of Object.entries(lies)) {
      endpoint.options.tamper = tamper;
      const { ask } = await open({ checkpoint: { root } });
      await expect(ask('eth_getBlockByNumber', 'finalized', false), name).rejects.toMatchObject({ message: /refused/ });
    }
  });

  test('settled can be required of finalized, and of no tag that cannot have it', async () => {
    const { open, checkpoint } = await settledScene(4);
    const root = await checkpoint();
    const { ask } = await open({ checkpoint: { root } }, { required: { finalized: 'settled' } });
    expect(await ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x1' });
    await expect(open({ checkpoint: { root } }, { required: { latest: 'settled' } })).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
    });
  });
});
