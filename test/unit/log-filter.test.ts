import { Bloom } from '@ethereumjs/vm';
import { describe, expect, test } from 'vitest';
import { bloomTest, type LogFilter, matchesLog } from '../../src/chain/log-filter.js';
import { type Log, logsBloom } from '../../src/ethereum/receipt.js';
import { seededRandom } from '../support/random.js';

const random = seededRandom(0xf117e7);
const bytes = (length: number, first: number) => new Uint8Array(length).fill(first);
/** Few different ones, so that matches happen. */
const address = () => bytes(20, random(4));
const topic = () => bytes(32, random(3));
const log = (): Log => ({
  address: address(),
  topics: Array.from({ length: random(5) }, topic),
  data: new Uint8Array(random(8)),
});
const filter = (): LogFilter => ({
  addresses: random(3) === 0 ? undefined : Array.from({ length: 1 + random(2) }, address),
  topics: Array.from({ length: random(4) }, () =>
    random(2) === 0 ? undefined : Array.from({ length: 1 + random(2) }, topic),
  ),
});

/** The rule of docs/spec/json-rpc.md 2.6 over hex text. */
function wanted({ addresses, topics }: LogFilter, { address: from, topics: held }: Log): boolean {
  const text = (item: Uint8Array) => item.join();
  if (addresses && !addresses.map(text).includes(text(from))) return false;
  return topics.every((choices, i) => i in held && (!choices || choices.map(text).includes(text(held[i]!))));
}

describe('log filters', () => {
  test('take what the rule takes', () => {
    let matches = 0;
    for (let i = 0; i < 5000; i++) {
      const [one, other] = [filter(), log()];
      expect(matchesLog(one, other)).toBe(wanted(one, other));
      if (matchesLog(one, other)) matches++;
    }
    expect(matches).toBeGreaterThan(500);
  });

  test('never miss a match by its bloom, and agree with another bloom on every single item', () => {
    for (let i = 0; i < 500; i++) {
      const logs = Array.from({ length: 1 + random(4) }, log);
      const bloom = logsBloom(logs);
      const other = new Bloom(bloom);
      const one = filter();
      if (logs.some((item) => matchesLog(one, item))) expect(bloomTest(one)(bloom)).toBe(true);
      const item = address();
      expect(bloomTest({ addresses: [item], topics: [] })(bloom)).toBe(other.check(item));
    }
  });

  test('a filter that asks for nothing takes any bloom of a log, and no filter takes an empty one', () => {
    expect(bloomTest({ addresses: undefined, topics: [undefined] })(logsBloom([log()]))).toBe(true);
    expect(bloomTest({ addresses: undefined, topics: [] })(new Uint8Array(256))).toBe(false);
    expect(bloomTest({ addresses: undefined, topics: [undefined, [topic()]] })(new Uint8Array(256))).toBe(false);
  });
});
