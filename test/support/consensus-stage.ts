import type { LayerOneOptions, LightChainOptions } from '../../src/chain/light/light-options.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import type { Eip1193Provider } from '../../src/upstream/json-rpc.js';
import type { Json } from './lie-edits.js';
import { type BeaconAnswer, type MockBeacon, serveBeacon } from './mock-beacon.js';
import { type MockEndpoint, serveMock } from './mock-chain.js';
import { TurnClock } from './turn-clock.js';

/** Milliseconds of slot 32 of a period of the simulated beacon chain, which has 64 slots of a second. */
const BEGIN = (1_700_000_000 + 64 * 1_000_000 + 32) * 1000;
const SECOND = 1000;

/** Beacon blocks that were final at two times. */
export interface Checkpoints {
  /** Three periods before `recent`. */
  readonly old: Hex;
  /** In the period of the newest block. */
  readonly recent: Hex;
}

/** A devnet and its endpoints, two of each role: the first may lie. */
export interface Stage {
  readonly dev: PlumblineNode;
  readonly checkpoints: Checkpoints;
  /** Period of the beacon block of `checkpoints.old`. */
  readonly firstPeriod: number;
  readonly beacons: readonly MockBeacon[];
  readonly layerOnes: readonly MockEndpoint[];
  readonly layerTwos: readonly MockEndpoint[];
  /** Newest settled block of layer 2, as the devnet itself has it. */
  readonly newest: Json;
  /** Newest finalized block of layer 1, as the devnet itself has it. */
  readonly layerOneHash: Hex;
  /** What the beacon chain says truly. */
  beacon(path: string): Promise<Json>;
  /** Opens a light node. Its time is that of the stage, with `offsetMs` more. */
  open(layerOne: Partial<LayerOneOptions>, chain?: Partial<LightChainOptions>, more?: OpenOptions): Promise<Opened>;
  close(): Promise<void>;
}

export interface OpenOptions extends InlineOptions {
  readonly offsetMs?: number;
}

/** A light node, what its methods threw, and the reports of its answers. */
export interface Opened {
  readonly node: PlumblineNode;
  readonly clock: TurnClock;
  readonly errors: unknown[];
  readonly reports: AnswerReport[];
}

/** A clock at `time`, which goes on only while a node waits. */
export function clockAt(time: number): TurnClock {
  const clock = new TurnClock(1);
  clock.advance(time - clock.now());
  return clock;
}

/**
 * A devnet whose time stands still, with its layer 1 and its beacon chain, each served by two endpoints on loopback. Block 12 is the
 * newest, 10 the newest finalized one; 9 is the newest one that is settled.
 */
export async function openConsensusStage(): Promise<Stage> {
  const clock = clockAt(BEGIN);
  const dev = await createInlineNode({ clock });
  const mine = (count: number) => dev.request({ method: 'anvil_mine', params: [`0x${count.toString(16)}`] });
  const beacon = async (path: string): Promise<Json> =>
    ((await dev.l1.request({ method: 'beacon_get', params: [path] })) as BeaconAnswer).body;
  const finalRoot = async () => (await beacon('/eth/v1/beacon/headers/finalized')).data;
  await mine(6);
  const old = await finalRoot();
  clock.advance(3 * 64 * SECOND);
  await mine(2);
  const recent = await finalRoot();
  clock.advance(10 * SECOND);
  await mine(4);
  // The newest block becomes final with the request.
  await finalRoot();
  const time = clock.now();
  const [l1, l2, chain] = [remembering(dev.l1), remembering(dev), { l1: remembering(dev.l1) }];
  const [beacons, layerOnes, layerTwos] = await Promise.all([
    Promise.all([0, 1].map(() => serveBeacon(chain))),
    Promise.all([0, 1].map(() => serveMock(l1))),
    Promise.all([0, 1].map(() => serveMock(l2))),
  ]);
  const finalized = (await l1.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })) as { hash: Hex };
  return {
    dev,
    checkpoints: { old: old.root, recent: recent.root },
    firstPeriod: Math.floor(Number(old.header.message.slot) / 64),
    beacons,
    layerOnes,
    layerTwos,
    newest: await dev.request({ method: 'eth_getBlockByNumber', params: ['0x9', false] }),
    layerOneHash: finalized.hash,
    beacon,
    async open(layerOne, options = {}, { offsetMs = 0, ...more } = {}) {
      const own = clockAt(time + offsetMs);
      const errors: unknown[] = [];
      const node = await createInlineNode({
        clock: own,
        onError: (error) => errors.push(error),
        ...more,
        chain: {
          kind: 'light',
          network: devnet(),
          endpoints: [layerTwos[1]!.url],
          layerOne: { consensus: [beacons[1]!.url], execution: [layerOnes[1]!.url], ...layerOne },
          level: 'plain',
          finalityMaxAgeMs: 1,
          ...options,
        },
      });
      const reports: AnswerReport[] = [];
      node.on('answer', (report: AnswerReport) => reports.push(report));
      return { node, clock: own, errors, reports };
    },
    async close() {
      await Promise.all([...beacons, ...layerOnes, ...layerTwos].map((mock) => mock.close()));
      await dev.close();
    },
  };
}

/** A provider of a chain that does not change: what was asked before is not computed again. */
function remembering(provider: Eip1193Provider): Eip1193Provider {
  const known = new Map<string, Promise<unknown>>();
  return {
    request(asked) {
      const key = JSON.stringify(asked);
      const answer = known.get(key) ?? provider.request(asked);
      known.set(key, answer);
      return answer;
    },
  };
}
