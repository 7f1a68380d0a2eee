import { createAddressFromString, createContractAddress } from '@ethereumjs/util';
import { expect } from 'vitest';
import { devnet } from '../../src/networks/devnet.js';
import type { Network } from '../../src/networks/network.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { UpstreamObserver } from '../../src/upstream/endpoint.js';
import { accountAt, stranger, word } from './dev-node.js';
import { lightScene } from './light-node.js';

/* A light node over an endpoint whose chain has access lists, and what it reads at each block. */

export const METHOD = 'eth_getBlockAccessList';
/** Amsterdam from the block of this time on. */
export const FORK = 2_000_000_000;
const HEAD_MAX_AGE_MS = 3_600_000;
export const network = {
  ...devnet(),
  forks: [
    { hardfork: 'osaka', block: 0 },
    { hardfork: 'amsterdam', timestamp: FORK },
  ],
} as const;

/** Writes each key of the calldata, 32 bytes, with the value after it. */
export const STORING = '0x5f5b36811060095700' + '5b8060200135813555604001600156';
/** Sends its balance to the caller. */
const DRAINED = '0x5f5f5f5f47335af100';
/** Init code: slot 0 is 1, then it destroys itself; its ether goes to the caller, or stays. */
export const GONE = '0x60015f5533ff';
export const GONE_BUT_ETHER = '0x60015f5530ff';
/** Init code: slot 0 is 7, and one byte of code. */
export const STAYING = '0x60075f55600160015360016001f3';

export const ONE_STORE = stranger('c1');
export const OTHER_STORE = stranger('c2');
export const DRAIN = stranger('c3');
export const BARE = stranger('c4');
export const EDITED = stranger('c5');
const BEACON_ROOTS: Hex = '0x000f3df6d732807ef1319fb7b8bb8522d0beac02';
const HISTORY: Hex = '0x0000f90827f1c53a10cb7a02335b175320002935';
export const ZERO_ADDRESS = stranger('00');
/** Creates contracts; its address and nonces give theirs. */
export const CREATOR = 3;
export const created = (nonce: number): Hex =>
  createContractAddress(createAddressFromString(accountAt(CREATOR)), BigInt(nonce)).toString() as Hex;

type Slot = readonly [address: Hex, key: Hex];

/** What a wallet reads again and again. */
export interface WorkingSet {
  readonly accounts: readonly Hex[];
  readonly slots: readonly Slot[];
}

export const slotsOf = (address: Hex, keys: readonly number[]): Slot[] =>
  keys.map((key) => [address, word(BigInt(key))]);
export const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);

export const WORKING_SET: WorkingSet = {
  accounts: [
    ...[0, 1, 2, CREATOR, 4, 6].map(accountAt),
    ...[ONE_STORE, OTHER_STORE, DRAIN, EDITED, BEACON_ROOTS, HISTORY, ZERO_ADDRESS],
    ...[0, 1, 2, 3].map(created),
    ...['51', '52', '53'].map(stranger),
  ],
  slots: [
    ...slotsOf(ONE_STORE, upTo(35)),
    ...slotsOf(OTHER_STORE, upTo(35)),
    ...slotsOf(HISTORY, upTo(12)),
    ...slotsOf(BEACON_ROOTS, upTo(6, (FORK % 8191) + 3)),
    ...[0, 1, 2, 3].flatMap((nonce) => slotsOf(created(nonce), [0, 1])),
    ...slotsOf(EDITED, [0, 1]),
    ...slotsOf(stranger('51'), [0]),
    ...slotsOf(accountAt(6), [0]),
  ],
};

type Ask = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>;

/** All values of a working set, by name. */
async function valuesOf(ask: Ask, { accounts, slots }: WorkingSet, block = 'latest'): Promise<Record<string, unknown>> {
  const named = [
    ...accounts.flatMap((address) =>
      ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'].map((method) => [method, address]),
    ),
    ...slots.map((slot) => ['eth_getStorageAt', ...slot]),
  ];
  const values = await Promise.all(named.map(([method, ...params]) => ask(method!, ...params, block)));
  return Object.fromEntries(named.map((name, i) => [name.join(' '), values[i]]));
}

/** A devnet that is at the second block of Amsterdam, an endpoint, and a light node that has read nothing. */
export async function listScene(
  profile: Network = network,
  event: UpstreamObserver['event'] = () => {},
  level: 'plain' | 'linked' = 'plain',
) {
  const { dev, ask, endpoints, clock, light, open } = await lightScene({
    dev: { chain: { kind: 'devnet', network, mining: 'manual' } },
    endpoints: level === 'plain' ? [{}] : [{}, {}],
    chain: { network: profile, level, headMaxAgeMs: HEAD_MAX_AGE_MS },
    more: { upstreamObserver: { event } },
  });
  await dev.ask('anvil_setCode', ONE_STORE, STORING);
  await dev.ask('anvil_setCode', OTHER_STORE, STORING);
  await dev.ask('anvil_setCode', DRAIN, DRAINED);
  await dev.ask('evm_mine');
  await dev.ask('evm_mine', FORK);
  await dev.ask('evm_mine');
  const endpoint = endpoints[0]!;
  const send = (account: number, fields: object) =>
    dev.ask<Hex>('eth_sendTransaction', { from: accountAt(account), gas: '0xf42400', ...fields });
  return {
    dev,
    ask,
    endpoint,
    endpoints,
    light,
    open,
    send,
    /** Writes slots of a contract. */
    store: (account: number, to: Hex, ...pairs: (readonly [number, number])[]) =>
      send(account, {
        to,
        data: `0x${pairs.map(([key, value]) => (word(BigInt(key)) + word(BigInt(value))).replaceAll('0x', '')).join('')}`,
      }),
    async mine() {
      await dev.ask('evm_mine');
      clock.advance(HEAD_MAX_AGE_MS + 1);
    },
    passTime: () => clock.advance(HEAD_MAX_AGE_MS + 1),
    /** Calls of these names that came to the endpoint since it was last asked for them. */
    asked(): { proofs: number; lists: number } {
      const methods = endpoint.seen.flat().map(({ method }) => method);
      endpoint.seen.length = 0;
      const count = (...names: string[]) => methods.filter((method) => names.includes(method)).length;
      return { proofs: count('eth_getProof', 'eth_getCode'), lists: count(METHOD) };
    },
  };
}

type ListScene = Awaited<ReturnType<typeof listScene>>;

/** The light node has the values of the devnet. */
export async function expectSame({ dev, ask }: ListScene, set: WorkingSet): Promise<void> {
  expect(await valuesOf(ask, set)).toEqual(await valuesOf(dev.ask, set));
}

export const SMALL_SET: WorkingSet = {
  accounts: [...[0, 1, 2].map(accountAt), ONE_STORE, OTHER_STORE, BARE, HISTORY, ZERO_ADDRESS],
  slots: [...slotsOf(ONE_STORE, upTo(8)), ...slotsOf(OTHER_STORE, upTo(4)), ...slotsOf(BARE, [0, 1])],
};
