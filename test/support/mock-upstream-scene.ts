import type { EndpointEvent, ExchangeRecord } from '../../src/upstream/endpoint.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import type { EndpointSource, GroupOptions } from '../../src/upstream/options.js';
import { type MockUpstream, type MockUpstreamOptions, openMockUpstream } from './mock-upstream.js';
import { createManualClock, type ManualClock } from './mock-upstream-clock.js';

/** Servers and groups of a test, a standing clock, and everything the groups report. Closed all at once. */
export interface UpstreamScene {
  readonly clock: ManualClock;
  readonly events: EndpointEvent[];
  readonly exchanges: ExchangeRecord[];
  mock(options?: MockUpstreamOptions): Promise<MockUpstream>;
  /** On the scene's clock; random numbers are one half. */
  group(endpoints: readonly EndpointSource[], options?: Partial<GroupOptions>): EndpointGroup;
  /** Closes everything. @returns timers that groups have left open */
  close(): Promise<number>;
}

export function createScene(): UpstreamScene {
  const clock = createManualClock();
  const events: EndpointEvent[] = [];
  const exchanges: ExchangeRecord[] = [];
  const mocks: MockUpstream[] = [];
  const groups: EndpointGroup[] = [];
  return {
    clock,
    events,
    exchanges,
    async mock(options) {
      const mock = await openMockUpstream(options);
      mocks.push(mock);
      return mock;
    },
    group(endpoints, options = {}) {
      const observer = {
        event: (event: EndpointEvent) => void events.push(event),
        exchange: (record: ExchangeRecord) => void exchanges.push(record),
      };
      const group = new EndpointGroup({ role: 'l2', endpoints, clock, random: () => 0.5, observer, ...options });
      groups.push(group);
      return group;
    },
    async close() {
      for (const group of groups) group.close();
      await turns(5);
      const { open } = clock;
      await Promise.all(mocks.map((mock) => mock.close()));
      return open;
    },
  };
}

/** Lets everything that waits for nothing but its turn happen. */
export async function turns(count = 1): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits until something has come about, at most as long as a busy machine may need. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 120_000;
  while (!isSo()) {
    if (performance.now() > end) throw new Error('it has not come about');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** The error of a promise that has to fail. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it has not failed');
}

/** A promise that is watched: its state can be read, and a rejection is never unhandled. */
export function watch<T>(work: Promise<T>): { readonly promise: Promise<T>; readonly settled: boolean } {
  let settled = false;
  work.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  return {
    promise: work,
    get settled() {
      return settled;
    },
  };
}
