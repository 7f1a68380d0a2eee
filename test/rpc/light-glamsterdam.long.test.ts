import { describe, expect, test } from 'vitest';
import { slotAtTime } from '../../src/consensus/slots.js';
import { verifyEvidence } from '../../src/evidence/verify-evidence.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { beaconNetwork, beaconNetworkOf } from '../../src/networks/beacon-networks.js';
import { devnet } from '../../src/networks/devnet.js';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { accountAt, KeptStore } from '../support/dev-node.js';
import { settledScene } from '../support/settled-scene.js';

type Json = Record<string, unknown>;

const SIMULATED = beaconNetworkOf('simulated');
const ADDRESS = accountAt(0);

/** A devnet whose layer 1 forks when the clock of the scene is moved on. */
async function forkingScene() {
  const epoch = Math.floor(slotAtTime(SIMULATED, Date.now()) / 8) + 40;
  const network = { ...devnet(), layerOne: beaconNetwork('simulated', { gloas: epoch }) };
  const scene = await settledScene(8, { chain: { kind: 'devnet', network } });
  const { dev, clock } = scene;
  const passed = (epoch + 2) * 8;
  return {
    ...scene,
    network,
    async fork() {
      clock.advance((passed - slotAtTime(SIMULATED, clock.now())) * 1000);
      await dev.ask('anvil_mine', '0x4');
      // Slots in which the next block can become final.
      clock.advance(10_000);
    },
    async finality(): Promise<{ version: string; data: Json }> {
      const params = ['/eth/v1/beacon/light_client/finality_update'];
      const { body } = (await dev.node.l1.request<UntypedMethod>({ method: 'beacon_get', params })) as {
        body: unknown;
      };
      return body as { version: string; data: Json };
    },
    layerOne: (method: string, ...params: unknown[]) => dev.node.l1.request<UntypedMethod>({ method, params }),
  };
}

describe('a devnet whose layer 1 forks to Gloas and Amsterdam in the middle', () => {
  test('is followed before, across and after, and each bundle of evidence holds', async () => {
    const { dev, clock, network, open, checkpoint, fork, finality, layerOne } = await forkingScene();
    const before = await checkpoint();
    const light = await open({ checkpoint: { root: before } }, { network });
    const same = async (method: string, ...params: unknown[]) => {
      const { number } = await light.ask<{ number: Hex }>('eth_getBlockByNumber', 'finalized', false);
      const there = JSON.parse(JSON.stringify(params).replaceAll('finalized', number)) as unknown[];
      expect(await light.ask(method, ...params), method).toEqual(await dev.ask(method, ...there));
      expect(light.reports.at(-1), method).toMatchObject({ level: 'settled' });
      return number;
    };
    const proved = async (number: Hex) =>
      expect(await light.ask('linea_getProof', ADDRESS, [], 'finalized')).toEqual(
        await dev.ask('linea_getProof', ADDRESS, [], number),
      );
    const holds = async (root: Hex) => {
      const bundle = await light.node.exportEvidence({ address: ADDRESS, storageKeys: [] });
      const parsed: unknown = JSON.parse(JSON.stringify(bundle));
      const verdict = await verifyEvidence(parsed, { network, checkpoint: hexToBytes(root), now: clock.now() });
      expect(verdict).toMatchObject({ verified: true });
      return { bundle, verdict };
    };

    expect((await finality()).version).toBe('fulu');
    expect(await same('eth_getBalance', ADDRESS, 'finalized')).toBe('0x5');
    // Gloas is the last fork that the profile knows, and near.
    const { epoch } = network.layerOne.forks.at(-1)!;
    const lastFork = { name: 'gloas', timestamp: SIMULATED.genesisTime + 8 * epoch! };
    expect(light.reports.at(-1)!.layerOne).toMatchObject({ lastFork });
    await proved('0x6');
    const first = await holds(before);
    expect(first.bundle).not.toHaveProperty('layerOneHeader');

    await fork();
    const update = await finality();
    expect(update.version).toBe('gloas');
    expect(update.data.finalized_header).toHaveProperty('execution_block_hash');
    expect(await same('eth_getBalance', ADDRESS, 'finalized')).toBe('0x9');
    await same('eth_call', { to: ADDRESS }, 'finalized');
    expect(light.reports.at(-1)!.layerOne).not.toHaveProperty('lastFork');
    await proved('0xa');
    const newest = (await layerOne('eth_getBlockByNumber', 'latest', false)) as Json;
    // The slot of its time, and a list of what the finalization read.
    const slot = Number(newest.timestamp) - SIMULATED.genesisTime;
    expect(newest).toMatchObject({ slotNumber: `0x${slot.toString(16)}` });
    expect(newest.blockAccessListHash).toMatch(/^0x[0-9a-f]{64}$/);
    // From the checkpoint before the fork to a final block after it: that proves its hash alone.
    const across = await holds(before);
    expect(across.bundle.layerOneHeader).toMatchObject({ hash: newest.hash });
    if (across.verdict.verified) expect(across.verdict.layerOne.stateRoot).toBeUndefined();
    // A bundle of before still holds.
    expect(
      await verifyEvidence(first.bundle, { network, checkpoint: hexToBytes(before), now: clock.now() }),
    ).toMatchObject({
      verified: true,
    });

    const later = await open({ checkpoint: { root: await checkpoint() } }, { network });
    expect(await later.ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x9' });
    const after = await later.node.exportEvidence({ block: 4 });
    const { data } = (await finality()) as { data: Json };
    expect(data).toHaveProperty('attested_header.execution_block_hash');
    expect(after.layerOneHeader).toBeDefined();
  });

  test('a light node that slept over the fork goes on from its store', async () => {
    const { network, open, checkpoint, fork, dev } = await forkingScene();
    const root = await checkpoint();
    const store = new KeptStore();
    const light = await open({ checkpoint: { root } }, { network }, { store });
    expect(await light.ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x5' });
    await light.node.close();
    await fork();
    const woken = await open({}, { network }, { store });
    expect(await woken.ask('eth_getBlockByNumber', 'finalized', false)).toEqual(
      await dev.ask('eth_getBlockByNumber', '0x9', false),
    );
    expect(woken.reports.at(-1)).toMatchObject({
      level: 'settled',
      layerOne: { checkpoint: { level: 'stored', root } },
    });
  });

  test('with a profile that does not know the epoch, the error names the schedule and accuses nobody', async () => {
    const { network, open, checkpoint, fork } = await forkingScene();
    const root = await checkpoint();
    const { forks } = network.layerOne;
    const early = { ...network.layerOne, forks: forks.with(1, { ...forks[1]!, epoch: forks[1]!.epoch! + 1000 }) };
    const light = await open(
      { checkpoint: { root } },
      { network: { ...network, layerOne: early } },
      { openCheck: 'background' },
    );
    expect(await light.ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x5' });
    await fork();
    const error = await light.ask('eth_getBlockByNumber', 'finalized', false).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: -32000 });
    // No endpoint is named.
    expect((error as Error).message).toMatch(
      /^simulated: the fork "gloas" begins in another epoch than this release knows/,
    );
  });
});
