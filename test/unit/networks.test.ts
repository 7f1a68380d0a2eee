import { describe, expect, it, test } from 'vitest';
import { parseExtraData } from '../../src/fees/prices.js';
import { DEVNET_VERIFICATION_COST_PRICING, devnet } from '../../src/networks/devnet.js';
import { ethereum, hoodi, sepolia } from '../../src/networks/ethereum.js';
import { linea, lineaSepolia } from '../../src/networks/linea.js';
import { HARDFORKS, isLayerOne, type Network, rollupOf, schemeAt } from '../../src/networks/network.js';
import { NETWORKS } from '../../src/networks/networks.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { eth_config } from '../../src/rpc/methods/eth_config.js';
import { fixtureBytes, fixtureJson, hasFixture } from '../support/fixtures.js';

const PROFILES: readonly Network[] = [...Object.values(NETWORKS), devnet({ scheme: 'mimc' })];

test('the table names each network as its profile does, each with its own chain id', () => {
  const profiles = Object.values(NETWORKS);
  expect(Object.keys(NETWORKS)).toEqual(profiles.map(({ name }) => name));
  expect(new Set(profiles.map(({ chainId }) => chainId)).size).toBe(profiles.length);
});

describe.each(PROFILES.map((profile) => [profile.name, profile] as const))('%s', (_, network) => {
  it('lists its forks in order of activation, the first at genesis', () => {
    const [first] = network.forks;
    expect(first!.block ?? first!.timestamp).toBe(0);
    const ranks = network.forks.map(({ hardfork }) => HARDFORKS.indexOf(hardfork));
    expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
    const times = network.forks.flatMap(({ timestamp }) => timestamp ?? []);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    for (const { block, timestamp } of network.forks) expect(block ?? timestamp).toBeTypeOf('number');
  });

  it('has a hash scheme from genesis on, and names the rollup contract by 20 bytes', () => {
    if (isLayerOne(network)) return expect(network.hashSchemes).toBeUndefined();
    const { hashSchemes, rollup } = rollupOf(network);
    expect(hashSchemes[0]!.fromBlock).toBe(0);
    expect(hexToBytes(rollup.address, 20)).toHaveLength(20);
  });

  it('is plain data that survives a worker border', () => {
    expect(structuredClone(network)).toEqual(network);
  });
});

describe("Linea's public networks", () => {
  it('have the roots of the rollup contract in its slots 0x119 and 0x11a', () => {
    for (const { rollup } of [linea, lineaSepolia]) {
      expect([rollup.currentBlockSlot, rollup.stateRootsSlot]).toEqual([0x119n, 0x11an]);
    }
  });

  it('place the end of Clique where the terminal total difficulty does', () => {
    // Difficulty 2 a block on top of 1 in genesis; the merge block is the first after that total is reached.
    const merge = (network: Network) => network.forks.find(({ hardfork }) => hardfork === 'paris')!.block!;
    expect(2 * (merge(linea) - 1) + 1).toBe(49_575_263);
    expect(2 * (merge(lineaSepolia) - 1) + 1).toBe(37_331_807);
  });

  it('change their hash scheme once, after every block recorded before the release', () => {
    expect(schemeAt(linea, 28_279_246)).toBe('mimc');
    expect(schemeAt(lineaSepolia, 23_985_771)).toBe('mimc');
    for (const network of [linea, lineaSepolia]) {
      const last = network.hashSchemes.at(-1)!;
      expect(last.scheme).toBe('poseidon2');
      expect(schemeAt(network, last.fromBlock)).toBe('poseidon2');
      expect(schemeAt(network, last.fromBlock - 1)).toBe('mimc');
    }
  });

  it.skipIf(!hasFixture('compression/dict/25-04-21.bin'))(
    'know length and checksum of the dictionary they size with',
    async () => {
      const bytes = fixtureBytes('compression/dict/25-04-21.bin');
      const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
      expect(new Uint8Array(digest)).toEqual(hexToBytes(linea.dictionary!.sha256));
      expect(bytes).toHaveLength(linea.dictionary!.byteLength);
    },
  );

  it.skipIf(!hasFixture('headers/headers.json'))(
    'start from prices that a recorded header of the network carries',
    () => {
      const { valid } = fixtureJson<{ valid: { name: string; extraData: string }[] }>('fees/extra-data.json');
      for (const [network, name] of [
        [linea, 'mainnet block 28279180'],
        [lineaSepolia, 'sepolia block 21511543'],
      ] as const) {
        const reading = parseExtraData(hexToBytes(valid.find((row) => row.name === name)!.extraData));
        expect(reading).toEqual({
          status: 'prices',
          prices: network.pricing.model === 'extra-data' && network.pricing.defaults,
        });
      }
    },
  );
});

describe('devnet', () => {
  it('is chain 59139 with Osaka at genesis, poseidon2 and header prices', () => {
    const network = devnet();
    expect(network.chainId).toBe(59_139);
    expect(network.forks.map(({ hardfork }) => hardfork)).toEqual(['osaka']);
    expect(schemeAt(network, 0)).toBe('poseidon2');
    expect(network.pricing.model).toBe('extra-data');
    expect(network.dictionary).toBeUndefined();
    expect([network.rollup.currentBlockSlot, network.rollup.stateRootsSlot]).toEqual([0x119n, 0x11an]);
  });

  it('takes another scheme and another pricing model, by name or in full', () => {
    expect(schemeAt(devnet({ scheme: 'mimc' }), 5)).toBe('mimc');
    expect(devnet({ pricing: 'verification-cost' }).pricing).toEqual(DEVNET_VERIFICATION_COST_PRICING);
    const own = { ...DEVNET_VERIFICATION_COST_PRICING, gasPriceRatio: 3 };
    expect(devnet({ pricing: own }).pricing).toBe(own);
  });
});

/**
 * Hash of genesis, and fork ids at the first block of forks, which are checksums over it and the places of all forks before.
 *
 * @source ethereum/go-ethereum@v1.17.10 params/chainspecs and core/forkid/forkid_test.go
 */
const FORK_IDS = [
  [
    ethereum,
    '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
    1_438_269_973,
    { shanghai: '0xdce96c2d', prague: '0xc376cf8b', osaka: '0x5167e2a6', bpo1: '0xcba2a1c0', bpo2: '0x07c9462e' },
  ],
  [
    sepolia,
    '0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9',
    1_633_267_481,
    { prague: '0xed88b5fd', osaka: '0xe2ae4999', bpo1: '0x56078a1e', bpo2: '0x268956b6', amsterdam: '0x6c1d9423' },
  ],
  [
    hoodi,
    '0xbbe312868b376a3001692a646dd2d7d1e4406380dfd86b98aa8a34d1557c971b',
    1_742_212_800,
    { prague: '0x0929e24e', osaka: '0xe7e0e7ff', bpo1: '0x3893353e', bpo2: '0x23aa1351' },
  ],
] as const;

test.each(FORK_IDS)('the forks of %s have the ids that go-ethereum expects', async (network, hash, timestamp, ids) => {
  for (const [name, id] of Object.entries(ids)) {
    const fork = network.forks.find(({ hardfork }) => hardfork === name)!;
    const header = { number: 30_000_000, timestamp: fork.timestamp! };
    const chain = {
      network,
      head: async () => ({ header }),
      block: async () => ({ header: { number: 0, timestamp }, hash: hexToBytes(hash) }),
    };
    const answer = (await eth_config.handle({ chain } as never, [], {})) as { current: { forkId: string } };
    expect(answer.current.forkId, name).toBe(id);
  }
});
