import { describe, expect, test } from 'vitest';
import { surroundingActivity } from '../../src/scheduling/activity.js';

/** What of a page decides. */
function page() {
  const window = new EventTarget();
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const navigator = { onLine: true };
  return {
    document,
    navigator,
    addEventListener: window.addEventListener.bind(window),
    removeEventListener: window.removeEventListener.bind(window),
    tell: (name: string) => (name === 'visibilitychange' ? document : window).dispatchEvent(new Event(name)),
  };
}

describe('activity', () => {
  test('of a page: visible and online; the listener is called on each change', () => {
    const surroundings = page();
    const activity = surroundingActivity(surroundings);
    const seen: boolean[] = [];
    const stop = activity.onChange(() => seen.push(activity.isActive));
    surroundings.document.visibilityState = 'hidden';
    surroundings.tell('visibilitychange');
    surroundings.document.visibilityState = 'visible';
    surroundings.tell('visibilitychange');
    surroundings.navigator.onLine = false;
    surroundings.tell('offline');
    surroundings.navigator.onLine = true;
    surroundings.tell('online');
    stop();
    surroundings.tell('offline');
    expect(seen).toEqual([false, true, false, true]);
  });

  test('of a program without a page: always active', () => {
    const activity = surroundingActivity({});
    expect(activity.isActive).toBe(true);
    activity.onChange(() => {})();
  });
});
