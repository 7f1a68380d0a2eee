import { expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { listScene, METHOD, network, ONE_STORE, SMALL_SET } from '../support/access-list-scene.js';
import { hashOfListJson, type ListJson } from '../support/amsterdam.js';
import { stranger, word } from '../support/dev-node.js';
import { seededRandom } from '../support/random.js';

type Pick = (bound: number) => number;
type Account = ListJson[number];

const MORE: Hex = `0x${'f'.repeat(16)}`;
const oneOf = <Item>(items: readonly Item[], pick: Pick): Item => items[pick(items.length)]!;
const changing = (list: ListJson, name: keyof Account) => list.filter((account) => account[name].length > 0);

/** Lies in a list, by what is wrong with it. Each changes the list it is given. */
const LIES: Record<string, ((list: ListJson, pick: Pick) => void)[]> = {
  value: [
    (list, pick) => {
      oneOf(oneOf(changing(list, 'balanceChanges'), pick).balanceChanges, pick).value = MORE;
    },
    (list, pick) => {
      oneOf(oneOf(changing(list, 'nonceChanges'), pick).nonceChanges, pick).value = MORE;
    },
    (list, pick) => {
      const { changes } = oneOf(oneOf(changing(list, 'storageChanges'), pick).storageChanges, pick);
      oneOf(changes, pick).value = word(BigInt(1 + pick(1_000_000)) << 40n);
    },
  ],
  'left out': [
    (list, pick) => list.splice(pick(list.length), 1),
    (list, pick) => {
      const { storageChanges } = oneOf(changing(list, 'storageChanges'), pick);
      storageChanges.splice(pick(storageChanges.length), 1);
    },
    (list, pick) => {
      const { storageReads } = oneOf(changing(list, 'storageReads'), pick);
      storageReads.splice(pick(storageReads.length), 1);
    },
    (list, pick) => {
      const { balanceChanges } = oneOf(changing(list, 'balanceChanges'), pick);
      balanceChanges.splice(pick(balanceChanges.length), 1);
    },
    (list, pick) => {
      oneOf(oneOf(changing(list, 'storageChanges'), pick).storageChanges, pick).changes.pop();
    },
  ],
  added: [
    (list, pick) => {
      const address = stranger((0x20 + pick(0x60)).toString(16));
      const nothing = { storageChanges: [], storageReads: [], nonceChanges: [], codeChanges: [] };
      list.push({ address, ...nothing, balanceChanges: [{ index: '0x1', value: MORE }] });
      list.sort((a, b) => (a.address < b.address ? -1 : 1));
    },
    (list, pick) => {
      oneOf(list, pick).codeChanges.push({ index: '0xfff', code: '0x00' });
    },
    (list, pick) => {
      const account = oneOf(list, pick);
      account.storageReads.push(word((1n << 255n) + BigInt(pick(1000))));
    },
    (list, pick) => {
      const account = oneOf(list, pick);
      account.nonceChanges.push({ index: '0xfff', value: MORE });
    },
  ],
  order: [
    (list, pick) => {
      const at = pick(list.length - 1);
      list.splice(at, 2, list[at + 1]!, list[at]!);
    },
    (list, pick) => {
      oneOf(
        list.filter(({ storageReads }) => storageReads.length > 1),
        pick,
      ).storageReads.reverse();
    },
    (list, pick) => {
      const slots = list.flatMap(({ storageChanges }) => storageChanges).filter(({ changes }) => changes.length > 1);
      oneOf(slots, pick).changes.reverse();
    },
    (list) => {
      list.find(({ address }) => address === ONE_STORE)!.storageChanges.reverse();
    },
  ],
  index: [
    (list, pick) => {
      oneOf(changing(list, 'balanceChanges'), pick).balanceChanges.at(-1)!.index =
        `0x${(0x10 + pick(99)).toString(16)}`;
    },
    (list, pick) => {
      const { changes } = oneOf(oneOf(changing(list, 'storageChanges'), pick).storageChanges, pick);
      changes.at(-1)!.index = `0x${(0x10 + pick(99)).toString(16)}`;
    },
  ],
};

const VARIANTS = 500;
/** So many that a list is likely shorter than their proofs. */
const ACCOUNTS = SMALL_SET.accounts.slice(0, 5);
const SLOTS = { [ONE_STORE]: Array.from({ length: 10 }, (_, key) => word(BigInt(key))) };

/** Nonces and balances, and slots. */
const valuesOf = (ask: <T>(method: string, ...params: unknown[]) => Promise<T>) =>
  Promise.all([
    ...ACCOUNTS.map((address) => ask('eth_getAccountInfo', address, 'latest')),
    ask('eth_getStorageValues', SLOTS, 'latest'),
  ]);

test(`${VARIANTS} lies in lists are refused, and the values come by proofs`, async () => {
  const reasons = new Set<string>();
  const on = await listScene(network, ({ reason = '' }) => void reasons.add(reason.replace(/\d+/, 'N')));
  const { ask, dev, endpoint, store, mine, asked } = on;
  const pick = seededRandom(4445);
  const kinds = Object.values(LIES);
  const checks: Record<string, number> = {};
  expect(await valuesOf(ask)).toEqual(await valuesOf(dev.ask));
  for (let variant = 0; variant < VARIANTS; variant++) {
    const lies = kinds[variant % kinds.length]!;
    const lie = lies[Math.floor(variant / kinds.length) % lies.length]!;
    // Slot 0 changes twice.
    await dev.ask('anvil_setStorageAt', ONE_STORE, word(0n), word(BigInt(2 * variant + 1)));
    await store(0, ONE_STORE, [0, 2 * variant + 2], [1, variant + 1], [2, pick(9)]);
    await mine();
    const { blockAccessListHash } = await dev.ask<{ blockAccessListHash: Hex }>(
      'eth_getBlockByNumber',
      'latest',
      false,
    );
    const told = await dev.ask<ListJson>(METHOD, 'latest');
    lie(told, pick);
    expect(hashOfListJson(told)).not.toBe(blockAccessListHash);
    endpoint.options.answers = ({ method }) => (method === METHOD ? told : undefined);
    asked();
    expect(await valuesOf(ask)).toEqual(await valuesOf(dev.ask));
    const { proofs, lists } = asked();
    expect([proofs >= ACCOUNTS.length, lists], `variant ${variant}`).toEqual([true, 1]);
    const error = await ask(METHOD, 'latest').catch((thrown: unknown) => thrown);
    const { reason, details } = error as { reason: string; details: { check?: string } };
    checks[details.check ?? reason] = (checks[details.check ?? reason] ?? 0) + 1;
  }
  expect(Object.keys(checks).sort()).toEqual(['ACCESS_LIST_HASH_MISMATCH', 'ACCESS_LIST_ORDER', 'PROOF_MALFORMED']);
  expect(Object.values(checks).reduce((sum, count) => sum + count, 0)).toBe(VARIANTS);
  expect([...reasons]).toContain('its access list of block N was refused: ACCESS_LIST_HASH_MISMATCH');
});
