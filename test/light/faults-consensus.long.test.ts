import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { LayerOneOptions } from '../../src/hosts/options/layer-one-options.js';
import { broken, honestAgain, NEWEST, olderFinality, openFollower, said } from '../support/consensus-follower.js';
import { type OpenOptions, openConsensusStage, type Stage } from '../support/consensus-stage.js';
import type { Json } from '../support/lie-edits.js';

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
    expect(await said(stage, await open())).toMatch(/^PERIOD_SKIPPED$/);
    expect(await said(stage, await open({ consensus: both() }))).toBe(NEWEST);
  });
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
    // What is final stays final when it is set back.
    opened.clock.advance(-HOUR);
    expect(await said(stage, opened)).toSatisfy((value) => value === NEWEST || value === 'FROM_THE_FUTURE');
    opened.clock.advance(2 * HOUR);
    expect(await said(stage, opened)).toMatch(/^MISSING$|^TRUST_LEVEL_NOT_REACHED$/);
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
