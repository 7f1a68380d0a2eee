import { expect, onTestFinished } from 'vitest';
import type { LayerOneOptions } from '../../src/chain/light/light-options.js';
import { PlumblineError } from '../../src/errors.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { askFinalized, reasonOf } from './consensus-liar.js';
import type { Opened, OpenOptions, Stage } from './consensus-stage.js';
import type { BeaconAnswer } from './mock-beacon.js';

/**
 * A node that ends with the test. It begins with the older trusted block, three periods back, and knows one beacon endpoint, unless
 * `layerOne` says otherwise.
 */
export async function openFollower(
  stage: Stage,
  layerOne: Partial<LayerOneOptions> = {},
  more: OpenOptions = {},
): Promise<Opened> {
  const checkpoint = { root: stage.checkpoints.old };
  const opened = await stage.open({ checkpoint, consensus: [stage.beacons[0]!.url], ...layerOne }, {}, more);
  onTestFinished(() => opened.node.close());
  return opened;
}

/**
 * What a node says of the newest finalized block: its number, or the code of a typed error. A block is the one that the devnet has
 * there, at level settled, and the rollup contract at the layer-1 block of the report has finalized the block above it.
 */
export async function said({ dev }: Stage, opened: Opened): Promise<number | string> {
  opened.errors.length = 0;
  const { answer, error } = await askFinalized(opened);
  if (error !== undefined) {
    expect(error).toBeInstanceOf(PlumblineError);
    const code = reasonOf(error as PlumblineError);
    expect(code).not.toBe('INTERNAL');
    return code;
  }
  expect(answer).toEqual(await dev.request({ method: 'eth_getBlockByNumber', params: [answer.number, false] }));
  const report = opened.reports.at(-1)!;
  expect(report).toMatchObject({ level: 'settled', layerOne: {} });
  const call = { to: dev.info.rollupAddress!, data: '0x695378f5' };
  const params = [call, { blockHash: report.layerOne!.blockHash }];
  expect(Number(await dev.l1.request<UntypedMethod>({ method: 'eth_call', params }))).toBe(Number(answer.number) + 1);
  return Number(answer.number);
}

/** The newest settled block of the stage. */
export const NEWEST = 9;

/** As a server that is overloaded answers. */
export const broken = (answer: BeaconAnswer): BeaconAnswer => ({ ...answer, status: 503 });

/** Endpoints of the stage tell the truth again. */
export function honestAgain({ beacons, layerOnes, layerTwos }: Stage): void {
  for (const beacon of beacons) {
    delete beacon.tamper;
    beacon.seen.length = 0;
  }
  for (const { options } of [...layerOnes, ...layerTwos]) {
    delete options.tamper;
    delete options.intercept;
  }
}

/** A finality update with what was final when the period of the newest block began. */
export async function olderFinality({ beacon, firstPeriod }: Stage): Promise<unknown> {
  const path = `/eth/v1/beacon/light_client/updates?start_period=${firstPeriod + 3}&count=1`;
  const { version, data } = (await beacon(path))[0];
  const { next_sync_committee: _, next_sync_committee_branch: __, ...update } = data;
  return { version, data: update };
}
