import { describe, expect, it } from 'vitest';
import { describeStore, run } from '../../../conformance/consensus-scenario.js';
import {
  computeSyncCommitteePeriodAtSlot,
  forkAt,
  sizesOf,
  slotAtTime,
  timeOfSlot,
} from '../../../src/consensus/slots.js';
import { storeFromBytes, storeToBytes } from '../../../src/consensus/stored.js';
import { isPlumblineError } from '../../../src/errors.js';
import { publicBeaconNetwork } from '../../../src/networks/beacon-networks.js';
import { bytesToHex } from '../../../src/primitives/hex.js';
import { fixtureJson, hasFixture } from '../../support/fixtures.js';
import { lastSlot, network, scenario, start, tampered, updateOf, updates } from './scene.js';

const stepped = (count: number) =>
  updates.slice(0, count).reduce((store, update) => run(network, store, [update], lastSlot).store, start);

describe('updates in a row', () => {
  it('that are verified together lead where each alone leads', () => {
    const { store, applied, refused } = run(network, start, updates, lastSlot);
    expect(refused).toBeUndefined();
    expect(applied.map(({ participants }) => participants)).toEqual(
      scenario.steps.map(({ strict }) => strict.participants),
    );
    const { refused: _, participants: __, ...last } = scenario.steps.at(-1)!.strict;
    expect(describeStore(network, store)).toEqual(last);
  });

  it.each([0, 4, 11])('are applied up to number %i, whose signature is of another', (bad) => {
    const signatures = updates.map(({ data }) => data.syncAggregate.syncCommitteeSignature);
    const forged = updates.map((update, i) => {
      if (i !== bad) return update;
      const syncAggregate = { ...update.data.syncAggregate, syncCommitteeSignature: signatures[(i + 1) % 12]! };
      return { ...update, data: { ...update.data, syncAggregate } } as typeof update;
    });
    const { store, applied, refused } = run(network, start, forged, lastSlot);
    expect([applied.length, refused?.reason]).toEqual([bad, 'SIGNATURE']);
    expect(describeStore(network, store)).toEqual(describeStore(network, stepped(bad)));
  });

  it('are applied up to one that cannot be read, which throws when it is the first', () => {
    const known = network.forks.filter(({ name }) => name !== 'fulu');
    const ahead = { ...network, forks: [...known, { name: 'heze', epoch: 24, version: '0xaa000008' as const }] };
    const { applied } = run(ahead, start, updates, lastSlot);
    expect(applied.length).toBe(9);
    const thrown = (() => {
      try {
        run(ahead, stepped(10), updates.slice(10), lastSlot);
      } catch (error) {
        return error;
      }
    })();
    expect(isPlumblineError(thrown, 'FORK_UNSUPPORTED') && thrown.details).toEqual({
      network: 'synthetic',
      fork: 'heze',
      epoch: 24,
    });
    expect((thrown as Error).message).toBe(
      'synthetic: this release does not read the fork "heze" (epoch 24) of layer 1; it reads Capella to Gloas, so use a newer release',
    );
  });
});

describe('contradictions', () => {
  it.each([
    ['same finalized slot, another finalized header, well signed', 'EQUIVOCATION'],
    ['NEXT_COMMITTEE_DIFFERS', 'NEXT_COMMITTEE_DIFFERS'],
  ])('%s stops the store', (name, reason) => {
    const row = name === reason ? byReason(reason) : tampered(name);
    const before = stepped(row.step);
    const { store, refused } = run(network, before, [updateOf(row)], row.currentSlot);
    expect(refused?.reason).toBe(reason);
    expect(store.contradiction?.reason).toBe(reason);
    expect(describeStore(network, store)).toEqual(describeStore(network, before));
    const restored = storeFromBytes(network, storeToBytes(network, store));
    for (const stopped of [store, restored]) {
      expect(() => run(network, stopped, updates.slice(row.step), lastSlot)).toThrow(
        `layer 1 contradicts itself at slot ${store.contradiction!.slot} (${reason}): begin again from a block root that you trust`,
      );
    }
  });

  it('are none without a valid signature', () => {
    const row = byReason('NEXT_COMMITTEE_DIFFERS');
    const update = updateOf(row);
    const signature = updates[0]!.data.syncAggregate.syncCommitteeSignature;
    const syncAggregate = { ...update.data.syncAggregate, syncCommitteeSignature: signature };
    const forged = { ...update, data: { ...update.data, syncAggregate } } as typeof update;
    const { store, refused } = run(network, stepped(row.step), [forged], row.currentSlot);
    expect([refused?.reason, store.contradiction]).toEqual(['NEXT_COMMITTEE_DIFFERS', undefined]);
  });
});

function byReason(reason: string) {
  const { cases } = fixtureJson<{ cases: (ReturnType<typeof tampered> & { refused: string; base: string })[] }>(
    'consensus/tampered.json',
  );
  return cases.find((row) => row.refused === reason && row.base.startsWith('synthetic'))!;
}

describe('a stored store', () => {
  it.each([0, 1, 12])('is the same after %i updates', (count) => {
    const store = stepped(count);
    expect(storeFromBytes(network, storeToBytes(network, store))).toEqual(store);
  });

  it('is refused with any byte changed, cut, or of another network', () => {
    const bytes = storeToBytes(network, stepped(12));
    const refused = (body: () => unknown) => {
      try {
        body();
        return false;
      } catch (error) {
        return isPlumblineError(error, 'STORE_CORRUPT');
      }
    };
    for (let at = 0; at < bytes.length; at += 37) {
      const damaged = bytes.slice();
      damaged[at]! ^= 1;
      expect(
        refused(() => storeFromBytes(network, damaged)),
        `byte ${at}`,
      ).toBe(true);
    }
    for (const length of [0, 31, 32, 40, bytes.length - 1]) {
      expect(
        refused(() => storeFromBytes(network, bytes.slice(0, length))),
        `length ${length}`,
      ).toBe(true);
    }
    const other = { ...network, genesisValidatorsRoot: bytesToHex(new Uint8Array(32).fill(1)) };
    expect(refused(() => storeFromBytes(other, bytes))).toBe(true);
  });
});

describe('beacon chains', () => {
  it('count slots and periods', () => {
    const mainnet = publicBeaconNetwork(1)!;
    // Slot 6 553 600 begins period 800, of 8 192 slots each.
    expect([
      computeSyncCommitteePeriodAtSlot(mainnet, 6_553_599),
      computeSyncCommitteePeriodAtSlot(mainnet, 6_553_600),
    ]).toEqual([799, 800]);
    const time = timeOfSlot(mainnet, 6_553_600) * 1000;
    expect([slotAtTime(mainnet, time - 1), slotAtTime(mainnet, time)]).toEqual([6_553_599, 6_553_600]);
    expect(forkAt(mainnet, 194_048 * 32).name).toBe('capella');
    expect(forkAt(mainnet, 194_048 * 32 - 1).name).toBe('bellatrix');
  });

  const configs = fixtureJson<Record<string, unknown>>('consensus/configs.json');
  // The repository holds the made-up chain alone; the notice about left-out fixtures names the rest.
  it.skipIf(!hasFixture('consensus/mainnet/capella-898.json')).each([1, 11_155_111, 560_048])(
    'have the values of the specifications: %i',
    (chainId) => {
      const network = publicBeaconNetwork(chainId)!;
      const { name, secondsPerSlot, genesisTime, genesisValidatorsRoot, forks } = network;
      expect(network.depositChainId).toBe(chainId);
      const { gloas, ...byName } = Object.fromEntries(
        forks.map(({ name: fork, epoch, version }) => [fork, { epoch, version }]),
      );
      expect({ ...sizesOf(network), secondsPerSlot, genesisTime, genesisValidatorsRoot, forks: byName }).toEqual(
        configs[name],
      );
      // Of docs/spec/glamsterdam.md 1, which has an epoch for one chain, and no version for another.
      const expected = { sepolia: { epoch: 353_024, version: '0x90000076' }, mainnet: { version: '0x07000000' } };
      expect(gloas).toEqual(expected[name as keyof typeof expected]);
    },
  );
});
