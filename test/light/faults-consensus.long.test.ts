import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { LayerOneOptions } from '../../src/chain/light/light-options.js';
import { PlumblineError } from '../../src/errors.js';
import { verifyEvidence } from '../../src/evidence/verify-evidence.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { broken, honestAgain, NEWEST, olderFinality, openFollower, said } from '../support/consensus-follower.js';
import { type OpenOptions, openConsensusStage, type Stage } from '../support/consensus-stage.js';
import { accountAt, KeptStore } from '../support/dev-node.js';
import { forgedFinality } from '../support/forged-beacon.js';
import { edited, type Json, nudged, said as saying } from '../support/lie-edits.js';

const HOUR = 3_600_000;

let stage: Stage;
beforeAll(async () => {
  stage = await openConsensusStage();
});
afterAll(() => stage.close());
afterEach(() => honestAgain(stage));

const open = (layerOne: Partial<LayerOneOptions> = {}, more: OpenOptions = {}) => openFollower(stage, layerOne, more);
const both = () => stage.beacons.map(({ url }) => url);
const isFinality = (path: string) => path.endsWith('/finality_update');

describe('an endpoint that shows nothing new', () => {
  test('leads to an older block, whose layer-1 block is in the report', async () => {
    const body = await olderFinality(stage);
    stage.beacons[0]!.tamper = (path, answer) => (isFinality(path) ? { ...answer, body } : answer);
    expect(await said(stage, await open())).toBeLessThan(NEWEST);
  });

  test('does not decide alone: an honest endpoint behind it is asked for what is newer', async () => {
    const body = await olderFinality(stage);
    stage.beacons[0]!.tamper = (path, answer) => (isFinality(path) ? { ...answer, body } : answer);
    const opened = await open({ consensus: both() });
    expect(await said(stage, opened)).toBe(NEWEST);
    expect(stage.beacons[1]!.seen.filter(isFinality)).toHaveLength(1);
    // Evidence holds the newer update in the place of the late one.
    const checkpoint = hexToBytes(stage.checkpoints.old as Hex);
    const trust = { network: devnet(), checkpoint, now: opened.clock.now() };
    const bundle = await opened.node.exportEvidence({ block: NEWEST });
    expect(await verifyEvidence(bundle, trust)).toMatchObject({ verified: true, layerOne: { number: NEWEST + 1 } });
  });

  test('is not enough when that block is too old, and an honest endpoint beside it is asked', async () => {
    const body = await olderFinality(stage);
    stage.beacons[0]!.tamper = (path, answer) => (isFinality(path) ? { ...answer, body } : answer);
    expect(await said(stage, await open({ maxAgeMs: 20_000 }))).toBe('TRUST_LEVEL_NOT_REACHED');
    expect(await said(stage, await open({ maxAgeMs: 20_000, consensus: both() }))).toBe(NEWEST);
  });

  test('an honest endpoint beside it is asked where it has no update at all', async () => {
    stage.beacons[0]!.tamper = (path, answer) =>
      isFinality(path) ? { status: 404, body: { code: 404, message: 'none' } } : answer;
    expect(await said(stage, await open({ consensus: both() }))).toBe(NEWEST);
    expect(await said(stage, await open({ maxAgeMs: 20_000 }))).toBe('TRUST_LEVEL_NOT_REACHED');
  });

  test('of one period, is named as the reason, and an honest endpoint beside it is asked', async () => {
    const lost = stage.firstPeriod + 1;
    stage.beacons[0]!.tamper = (path, answer) => {
      if (!path.includes('/updates?')) return answer;
      const isHeld = (update: Json) => Math.floor(Number(update.data.signature_slot) / 64) !== lost;
      return { ...answer, body: (answer.body as Json[]).filter(isHeld) };
    };
    expect(await said(stage, await open())).toBe('PERIOD_SKIPPED');
    expect(await said(stage, await open({ consensus: both() }))).toBe(NEWEST);
  });
});

test.each([
  ['one at a time', (updates: Json[]) => updates.slice(0, 1)],
  ['each three times', (updates: Json[]) => updates.flatMap((update) => [update, update, update])],
])('an endpoint that gives another number of updates than was asked for is used: %s', async (_, change) => {
  stage.beacons[0]!.tamper = (path, answer) =>
    path.includes('/updates?') ? { ...answer, body: change(answer.body as Json[]) } : answer;
  expect(await said(stage, await open())).toBe(NEWEST);
});

describe('a clock that is wrong by an hour', () => {
  test.each([
    [-HOUR, 'FROM_THE_FUTURE'],
    [HOUR, 'MISSING'],
  ])('by %i ms, gives no answer', async (offsetMs, code) => {
    expect(await said(stage, await open({}, { offsetMs }))).toBe(code);
    expect(await said(stage, await open({ consensus: both() }, { offsetMs }))).toBe(code);
  });

  test('gives the answer again once it is put right', async () => {
    const opened = await open({}, { offsetMs: -HOUR });
    expect(await said(stage, opened)).toBe('FROM_THE_FUTURE');
    opened.clock.advance(HOUR);
    expect(await said(stage, opened)).toBe(NEWEST);
    opened.clock.advance(-HOUR);
    expect(await said(stage, opened)).toBe('FROM_THE_FUTURE');
    opened.clock.advance(2 * HOUR);
    expect(await said(stage, opened)).toBe('MISSING');
  });
});

describe('an endpoint that goes away while periods are caught up', () => {
  test.each([
    ['/bootstrap/', 'UPSTREAM_UNAVAILABLE'],
    ['/updates?', 3],
    // The update of the newest period is not fetched: it carries what was final as the period before ended.
    ['/finality_update', 3],
  ])('at %s', async (part, outcome) => {
    let gone = false;
    stage.beacons[0]!.tamper = (path, answer) => {
      gone ||= path.includes(part);
      return gone ? broken(answer) : answer;
    };
    const opened = await open();
    expect(await said(stage, opened)).toBe(outcome);
    expect(await said(stage, await open({ maxAgeMs: 20_000 }))).toMatch(
      /^TRUST_LEVEL_NOT_REACHED$|^UPSTREAM_UNAVAILABLE$/,
    );
    expect(await said(stage, await open({ consensus: both() }))).toBe(NEWEST);
    delete stage.beacons[0]!.tamper;
    opened.clock.advance(11_000);
    expect(await said(stage, opened)).toBe(NEWEST);
  });

  test('in the middle of the updates', async () => {
    let answers = 0;
    stage.beacons[0]!.tamper = (path, answer) => {
      if (!path.includes('/updates?')) return answer;
      return answers++ === 0 ? { ...answer, body: (answer.body as Json[]).slice(0, 2) } : broken(answer);
    };
    const opened = await open();
    expect(await said(stage, opened)).toBeLessThan(NEWEST);
    delete stage.beacons[0]!.tamper;
    opened.clock.advance(11_000);
    expect(await said(stage, opened)).toBe(NEWEST);
  });
});

describe('a running node', () => {
  /** Past the time for which an update counts as the newest, which is an epoch of eight seconds. */
  const EPOCH = 9_000;

  test('does not go back to what was final before', async () => {
    const opened = await open();
    expect(await said(stage, opened)).toBe(NEWEST);
    const body = await olderFinality(stage);
    stage.beacons[0]!.tamper = (path, answer) => (isFinality(path) ? { ...answer, body } : answer);
    opened.clock.advance(EPOCH);
    stage.beacons[0]!.seen.length = 0;
    expect(await said(stage, opened)).toBe(NEWEST);
    expect(stage.beacons[0]!.seen.some(isFinality)).toBe(true);
  });

  test('stops at two final blocks of one slot, and so does the next one on its store, until another block is trusted', async () => {
    const store = new KeptStore();
    const opened = await open({}, { store });
    expect(await said(stage, opened)).toBe(NEWEST);
    const { slot } = opened.reports.at(-1)!.layerOne!;
    const block = await stage.dev.l1.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
    const body = forgedFinality(block, { finalized: slot, attested: slot + 2 });
    stage.beacons[0]!.tamper = (path, answer) => (isFinality(path) ? { ...answer, body } : answer);
    opened.clock.advance(EPOCH);
    expect(await said(stage, opened)).toBe('LAYER_ONE_CONTRADICTS');
    honestAgain(stage);
    opened.clock.advance(EPOCH);
    expect(await said(stage, opened)).toBe('LAYER_ONE_CONTRADICTS');
    await opened.node.close();
    expect(await said(stage, await open({ consensus: both() }, { store }))).toBe('LAYER_ONE_CONTRADICTS');
    const checkpoint = { root: stage.checkpoints.recent };
    expect(await said(stage, await open({ checkpoint }, { store }))).toBe(NEWEST);
  });

  test('begins with a trusted block that is too old nowhere, and says so', async () => {
    const age = { checkpointMaxAgeMs: 60_000 };
    expect(await said(stage, await open({ ...age, consensus: both() }))).toBe('TRUST_LEVEL_NOT_REACHED');
    expect(await said(stage, await open({ ...age, checkpoint: { root: stage.checkpoints.recent } }))).toBe(NEWEST);
  });
});

describe('while everything that would settle a block is a lie', () => {
  const lies: Record<string, (stage: Stage) => void> = {
    'of the beacon endpoints': ({ beacons }) => {
      for (const beacon of beacons) beacon.tamper = (_, answer) => ({ ...answer, body: { version: 'fulu', data: {} } });
    },
    'of layer 1': ({ layerOnes }) => {
      for (const { options } of layerOnes)
        options.tamper = ({ method }, result) =>
          method === 'eth_getProof' ? edited(result, 'storageProof.0.value', saying('0x63')) : result;
    },
    'about the ring': ({ layerTwos }) => {
      for (const { options } of layerTwos)
        options.tamper = ({ method }, result) =>
          method === 'linea_getProof' ? edited(result, 'storageProofs.0.proof.value', nudged) : result;
    },
  };

  test.each(Object.keys(lies))('%s, no answer is at level settled', async (name) => {
    lies[name]!(stage);
    const opened = await open();
    const ask = (method: string, ...params: unknown[]) => opened.node.request<UntypedMethod>({ method, params });
    // A block by its number is at the level of the endpoints then, and its report says so.
    const block = await stage.dev.request({ method: 'eth_getBlockByNumber', params: ['0x3', false] });
    expect(await ask('eth_getBlockByNumber', '0x3', false)).toEqual(block);
    expect(opened.reports.at(-1)).toMatchObject({ class: 'proved', level: 'plain' });
    expect(await ask('eth_getBalance', accountAt(0), '0x3')).toBe(await balanceAt('0x3'));
    expect(opened.reports.at(-1)).toMatchObject({ level: 'plain' });
    for (const [method, ...params] of [
      ['eth_getBlockByNumber', 'finalized', false],
      ['eth_getBlockByNumber', 'safe', false],
      ['eth_getBalance', accountAt(0), 'finalized'],
      ['eth_call', { to: accountAt(1) }, 'finalized'],
      ['linea_getProof', accountAt(0), [`0x${'00'.repeat(32)}`], 'finalized'],
    ] as const) {
      opened.errors.length = 0;
      await expect(ask(method, ...params), method).rejects.toThrow();
      expect(opened.errors[0], method).toBeInstanceOf(PlumblineError);
    }
  });

  const balanceAt = (block: string) =>
    stage.dev.request<UntypedMethod>({ method: 'eth_getBalance', params: [accountAt(0), block] }) as Promise<unknown>;
});
