import { describe, expect, it } from 'vitest';
import { keepFollowing, type ZkFollower } from '../../src/chain/replica/zk-follower.js';
import { PlumblineError } from '../../src/errors.js';
import { createManualClock } from '../support/mock-upstream-clock.js';
import { turns, until } from '../support/mock-upstream-scene.js';

describe('keepFollowing', () => {
  it('polls again, also after errors, until it is stopped', async () => {
    const clock = createManualClock();
    const errors: unknown[] = [];
    const outcomes: (unknown | undefined)[] = [undefined, new Error('later'), undefined];
    let calls = 0;
    const follower = {
      follow: async () => {
        const outcome = outcomes[calls++];
        if (outcome !== undefined) throw outcome;
      },
    } as unknown as ZkFollower;
    const end = keepFollowing(follower, { clock, pollMs: 1000, onError: (error) => void errors.push(error) });
    await until(() => clock.open === 1);
    expect(calls).toBe(1);
    await clock.advance(999);
    expect(calls).toBe(1);
    await clock.advance(1);
    await until(() => clock.open === 1);
    expect([calls, errors]).toEqual([2, [outcomes[1]]]);
    await clock.advance(1000);
    await until(() => clock.open === 1);
    expect(calls).toBe(3);
    await end();
    expect([clock.open, calls]).toEqual([0, 3]);
  });

  it('ends at a divergence, and stops what runs', async () => {
    const clock = createManualClock();
    const errors: unknown[] = [];
    const details = { block: 1, what: 'layer-one-root', expected: '0x1', actual: '0x2' } as const;
    const diverged = new PlumblineError('REPLICA_DIVERGED', 'no', details);
    const failing = { follow: () => Promise.reject(diverged) } as unknown as ZkFollower;
    const end = keepFollowing(failing, { clock, pollMs: 1000, onError: (error) => void errors.push(error) });
    await turns(3);
    expect([errors, clock.open]).toEqual([[diverged], 0]);
    await end();

    let stopped = false;
    const follow = (signal: AbortSignal) =>
      new Promise<void>((_, reject) =>
        signal.addEventListener('abort', () => {
          stopped = true;
          reject(signal.reason);
        }),
      );
    await keepFollowing({ follow } as unknown as ZkFollower, {
      clock,
      pollMs: 1000,
      onError: (error) => void errors.push(error),
    })();
    expect([stopped, errors.length, clock.open]).toEqual([true, 1, 0]);
  });
});
