import { afterEach, beforeEach, expect } from 'vitest';
import type { EndpointGroup } from '../../src/upstream/group.js';
import type { MockUpstream } from './mock-upstream.js';
import type { MockHandler } from './mock-upstream-replies.js';
import { createScene, turns, type UpstreamScene } from './mock-upstream-scene.js';

/** A scene that is new for each test of the file, which may leave no timer open and no rejection unhandled. */
export function useScene(): UpstreamScene {
  let scene = createScene();
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);

  beforeEach(() => {
    scene = createScene();
    unhandled.length = 0;
    process.on('unhandledRejection', note);
  });

  afterEach(async () => {
    expect(scene.clock.open).toBe(0);
    expect(await scene.close()).toBe(0);
    await turns(3);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  return {
    get clock() {
      return scene.clock;
    },
    get events() {
      return scene.events;
    },
    get exchanges() {
      return scene.exchanges;
    },
    mock: (options) => scene.mock(options),
    group: (endpoints, options) => scene.group(endpoints, options),
    close: () => scene.close(),
  };
}

/** A handler whose answers tell which call they belong to. */
export const echo: MockHandler = (method, params) => `${method}:${JSON.stringify(params)}`;

/** Two endpoints that answer with their letter, and the group of both. */
export interface Pair {
  readonly a: MockUpstream;
  readonly b: MockUpstream;
  readonly group: EndpointGroup;
}

/** Opens a pair in `scene`. */
export async function openPair(scene: UpstreamScene): Promise<Pair> {
  const a = await scene.mock({ handler: () => 'a' });
  const b = await scene.mock({ handler: () => 'b' });
  return { a, b, group: scene.group([a.url, b.url]) };
}
