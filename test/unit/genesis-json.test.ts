import { describe, expect, it } from 'vitest';
import { findParisBlock } from '../../src/chain/devnet/import-blocks.js';
import type { DevnetChainOptions } from '../../src/chain/devnet/options.js';
import type { DevnetSettings } from '../../src/chain/devnet/settings.js';
import { DevnetState } from '../../src/chain/devnet/state/devnet-state.js';
import { sealGenesis } from '../../src/chain/devnet/state/genesis.js';
import { type GenesisJson, parseGenesis, terminalDifficulty } from '../../src/chain/devnet/state/genesis-json.js';
import { isPlumblineError } from '../../src/errors.js';
import { rulesAt } from '../../src/evm/common.js';
import { genesisOfFile } from '../../src/hosts/opening/genesis-file.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { blockItems, chainRlp } from '../support/imported-chain.js';
import { zkEngine } from '../support/world-state.js';

type Json = Record<string, unknown> & { config: Record<string, unknown>; alloc: Record<string, unknown> };

const smallest = (): Json => ({
  config: { chainId: 5 },
  alloc: {},
  gasLimit: '0x1000000',
  difficulty: '0x1',
});

function refusal(json: unknown): string {
  try {
    parseGenesis(json);
  } catch (error) {
    if (isPlumblineError(error, 'INVALID_PARAMETER')) return error.details.parameter;
    throw error;
  }
  throw new Error('the genesis was taken');
}

async function hashOf(json: unknown): Promise<{ hash: string; stateRoot: string }> {
  const { network, alloc, header } = parseGenesis(json);
  const state = await DevnetState.create(await zkEngine('poseidon2'), false);
  const { block } = await sealGenesis({ network, alloc, genesisHeader: header } as unknown as DevnetSettings, state);
  return { hash: bytesToHex(block.hash), stateRoot: bytesToHex(block.header.stateRoot) };
}

describe.skipIf(!hasFixture('execution-apis/chain.rlp'))('the genesis of the execution-apis suite', () => {
  it('has the hash that block 1 names as its parent', async () => {
    const { hash } = await hashOf(fixtureJson('execution-apis/genesis.json'));
    expect(hash).toBe(bytesToHex(blockItems(chainRlp())[0]![0][0]!));
  });

  it('activates each fork at the block of docs/spec/json-rpc.md 8', () => {
    const { network } = parseGenesis(fixtureJson('execution-apis/genesis.json'));
    const begins = {
      homestead: 0,
      tangerineWhistle: 3,
      spuriousDragon: 6,
      byzantium: 9,
      constantinople: 12,
      petersburg: 15,
      istanbul: 18,
      muirGlacier: 21,
      berlin: 24,
      london: 27,
      arrowGlacier: 30,
      grayGlacier: 33,
      paris: 36,
      shanghai: 39,
      cancun: 42,
      prague: 45,
      osaka: 48,
      bpo1: 51,
      bpo2: 54,
    };
    const found: Record<string, number> = {};
    for (let number = 0; number <= 54; number++) found[rulesAt(network, number, 10 * number).hardfork] ??= number;
    expect(found).toEqual(begins);
    const blobsAt = (number: number) => rulesAt(network, number, 10 * number).blobs?.max;
    expect([41, 42, 45, 48, 51, 54].map(blobsAt)).toEqual([undefined, 6, 9, 9, 15, 21]);
  });

  it('finds the end of proof of work by total difficulty if the file has no block number', () => {
    const json = structuredClone(fixtureJson<Json>('execution-apis/genesis.json'));
    expect(terminalDifficulty(json)).toBeUndefined();
    delete json.config.mergeNetsplitBlock;
    const merge = terminalDifficulty(json)!;
    expect(merge).toEqual({ terminal: 4_732_352n, genesis: 131_072n });
    expect(findParisBlock(chainRlp(), merge.genesis, merge.terminal)).toBe(36);
    expect(findParisBlock(chainRlp(), merge.genesis, merge.terminal * 2n)).toBeUndefined();
    expect(findParisBlock(chainRlp().subarray(0, 9000), merge.genesis, merge.terminal)).toBeUndefined();
    const { network } = parseGenesis(json, { parisBlock: 36 });
    expect(network.forks).toContainEqual({ hardfork: 'paris', block: 36 });
  });
});

describe('a genesis file', () => {
  it('may have numbers in three formats, hex without 0x, and missing fields', () => {
    const { alloc, header, network } = parseGenesis({
      config: { chainId: '0x7', londonBlock: '0', terminalTotalDifficulty: 0, shanghaiTime: 0, cancunTime: null },
      alloc: {
        '00000000000000000000000000000000000000AA': { balance: '1000', nonce: 2 },
        '0x00000000000000000000000000000000000000bb': {
          balance: '0x10',
          code: '6000',
          storage: { '0x1': '0x02', '02': '0x00' },
        },
      },
      timestamp: 3,
      extraData: '0x0102',
    });
    const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`;
    expect(alloc).toEqual({
      '0x00000000000000000000000000000000000000aa': { balance: 1000n, nonce: 2n },
      '0x00000000000000000000000000000000000000bb': {
        balance: 16n,
        nonce: 0n,
        code: '0x6000',
        storage: { [word(1)]: word(2) },
      },
    });
    // geth's defaults (core/genesis.go, params/protocol_params.go).
    expect(header).toMatchObject({ gasLimit: 4_712_388n, difficulty: 131_072n, timestamp: 3 });
    expect(network).toMatchObject({ chainId: 7, gasSearch: 'geth', blockRewards: true });
    expect(rulesAt(network, 0, 0).hardfork).toBe('shanghai');
  });

  it('takes the chain id in the spelling of other tools', () => {
    const { network } = parseGenesis({ config: { chainID: 77 }, alloc: {} });
    expect(network.chainId).toBe(77);
  });

  const cases: [parameter: string, change: (json: Json) => void][] = [
    ['genesis.config.chainId', (json) => delete json.config.chainId],
    ['genesis.config.chainId', (json) => Object.assign(json.config, { chainId: '0x20000000000000' })],
    ['genesis.config.londonBlock', (json) => Object.assign(json.config, { londonBlock: 'soon' })],
    ['genesis.config.verkleTime', (json) => Object.assign(json.config, { verkleTime: 1 })],
    [
      'genesis.config.blobSchedule.cancun.max',
      (json) => Object.assign(json.config, { cancunTime: 0, blobSchedule: { cancun: { target: 3 } } }),
    ],
    ['genesis.alloc.0x01', (json) => Object.assign(json.alloc, { '0x01': {} })],
    [
      `genesis.alloc.${'1'.repeat(40)}.balance`,
      (json) => Object.assign(json.alloc, { ['1'.repeat(40)]: { balance: -1 } }),
    ],
    [
      `genesis.alloc.${'1'.repeat(40)}.storage.0x${'1'.repeat(66)}`,
      (json) => Object.assign(json.alloc, { ['1'.repeat(40)]: { storage: { [`0x${'1'.repeat(66)}`]: '0x1' } } }),
    ],
    ['genesis.gasLimit', (json) => Object.assign(json, { gasLimit: '1e9' })],
    ['genesis.mixHash', (json) => Object.assign(json, { mixHash: '0x01' })],
    ['genesis.number', (json) => Object.assign(json, { number: 1 })],
    ['genesis.alloc', (json) => Object.assign(json, { alloc: [] })],
  ];
  it.each(cases)('is refused for %s', (parameter, change) => {
    const json = smallest();
    parseGenesis(json);
    change(json);
    expect(refusal(json)).toBe(parameter);
  });

  it('is refused if it is not an object', () => {
    for (const json of [null, 'x', 7, []]) expect(refusal(json)).toBe('genesis');
  });
});

it('begins with Paris at a terminal total difficulty of zero, as in geth, with blocks to import or without', () => {
  const json = smallest();
  json.config = { chainId: 5, londonBlock: 0, terminalTotalDifficulty: '0x0' };
  const forks = (importBlocks?: Uint8Array) =>
    genesisOfFile({ kind: 'devnet', genesis: json as GenesisJson, importBlocks } as DevnetChainOptions).network.forks;
  expect(forks()).toContainEqual({ hardfork: 'paris', block: 0 });
  expect(forks(new Uint8Array())).toEqual(forks());
});
