import { expect, test } from 'vitest';
import { BlockClock } from '../../src/chain/devnet/mining/block-maker.js';

/** A clock over a wall clock that the test moves. */
function clockAt(start: number) {
  const wall = { now: start };
  return { wall, clock: new BlockClock(() => wall.now) };
}

test('blocks take the time of the wall clock, and always come later than their parent', () => {
  const { wall, clock } = clockAt(1000);
  expect(clock.next(900)).toBe(1000);
  expect(clock.next(1000)).toBe(1001);
  expect(clock.next(5000)).toBe(5001);
  wall.now = 1060;
  expect(clock.next(1000)).toBe(1060);
});

test('the clock continues from a time that was set', () => {
  const { wall, clock } = clockAt(1000);
  clock.setNext(9000, 1000);
  expect([clock.next(1000), clock.next(1000)]).toEqual([9000, 9000]);
  clock.passed(9000);
  wall.now = 1030;
  expect(clock.next(9000)).toBe(9030);
  expect(() => clock.setNext(9000, 9000)).toThrowError(expect.objectContaining({ code: 'INVALID_PARAMETER' }));
});

test('an increase counts from now or from the newest block, whichever is later, and increases add up', () => {
  const { wall, clock } = clockAt(1000);
  expect(clock.increase(50, 900)).toBe(50);
  expect(clock.next(900)).toBe(1050);
  expect(clock.increase(50, 1050)).toBe(100);
  expect(clock.increase(10, 4000)).toBe(3010);
  wall.now = 1007;
  expect(clock.next(4000)).toBe(4017);
});

test('a fixed step decides alone until it is removed, and a snapshot restores all settings', () => {
  const { clock } = clockAt(1000);
  const mark = clock.snapshot();
  clock.setStep(12);
  expect(clock.next(100)).toBe(112);
  clock.setNext(130, 100);
  expect(clock.next(100)).toBe(130);
  clock.passed(130);
  expect(clock.next(130)).toBe(142);
  clock.setStep(0);
  expect(clock.next(130)).toBe(131);
  clock.restore(mark);
  expect(clock.next(130)).toBe(1000);
});
