import { describe, expect, onTestFinished, test } from 'vitest';
import { EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from '../../src/ethereum/constants.js';
import { type BlockHeader, headerHash } from '../../src/ethereum/header.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { linea, lineaSepolia } from '../../src/networks/linea.js';
import type { Network } from '../../src/networks/network.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { formatHeader } from '../../src/rpc/schema/format.js';
import type { Eip1193Provider } from '../../src/upstream/json-rpc.js';
import { word } from '../support/dev-node.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { ANSWERS, type AnswerFixture } from '../support/proof-fixtures.js';

interface Anchor {
  readonly rollupContract: Hex;
  readonly l1StateRoot: Hex;
  readonly storageHash: Hex;
  readonly accountProof: readonly Hex[];
  readonly storage: Readonly<
    Record<string, { readonly key: Hex; readonly value: Hex; readonly proof: readonly Hex[] }>
  >;
}

type Handlers = Readonly<Record<string, (params: readonly unknown[]) => unknown>>;

/** A provider that answers these methods and no others. */
function provider(handlers: Handlers): Eip1193Provider {
  return {
    async request({ method, params = [] }) {
      const handler = handlers[method];
      if (handler === undefined) throw Object.assign(new Error('Method not found'), { code: -32601 });
      return handler(params);
    },
  };
}

/** A layer-1 block with this state. */
function layerOneBlock(stateRoot: Uint8Array): unknown {
  const header: BlockHeader = {
    parentHash: new Uint8Array(32),
    sha3Uncles: EMPTY_UNCLES_HASH,
    miner: new Uint8Array(20),
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: 0n,
    number: 5_855_907,
    gasLimit: 30_000_000n,
    gasUsed: 0n,
    timestamp: 1_715_000_000,
    extraData: new Uint8Array(0),
    mixHash: new Uint8Array(32),
    nonce: new Uint8Array(8),
    baseFeePerGas: 7n,
  };
  return formatHeader({ header, hash: headerHash(header) });
}

/** A light node of a public network with nothing but what was recorded behind it. */
async function recordedNode(network: Network, fixture: AnswerFixture, layerOne: Handlers, proveLayerOne: boolean) {
  const node = await createInlineNode({
    chain: {
      kind: 'light',
      network,
      endpoints: [{ provider: provider({ linea_getProof: () => fixture.result }), name: 'recorded' }],
      layerOne: [{ provider: provider(layerOne), name: 'layer one' }],
      proveLayerOne,
    },
    dictionary: { kind: 'general' },
  });
  onTestFinished(() => node.close());
  return (address: string, keys: readonly string[], block: string) =>
    node.request<UntypedMethod>({ method: 'linea_getProof', params: [address, keys, block] });
}

const load = (name: string) => fixtureJson<AnswerFixture>(`state/getproof/${name}.json`);

describe('answers of linea_getProof through a light node', () => {
  test
    .skipIf(!hasFixture('state/getproof/l1-anchor-620681.json'))
    .each(['mimc-620681-missing-account', 'mimc-620681-missing-slot'])(
    'Sepolia, with the recorded anchor: %s',
    async (name) => {
      const fixture = load(name);
      const anchor = fixtureJson<Anchor>('state/getproof/l1-anchor-620681.json');
      const { accountProof, storageHash } = anchor;
      const slots = Object.values(anchor.storage);
      const layerOne: Handlers = {
        eth_getBlockByNumber: () => layerOneBlock(hexToBytes(anchor.l1StateRoot)),
        eth_getProof: ([, keys]) => ({
          accountProof,
          storageHash,
          storageProof: (keys as Hex[]).map((key) => slots.find((slot) => BigInt(slot.key) === BigInt(key))),
        }),
      };
      expect(lineaSepolia.rollup.address.toLowerCase()).toBe(anchor.rollupContract);
      const ask = await recordedNode(lineaSepolia, fixture, layerOne, true);
      for (const block of ['latest', 'finalized', '0x97889']) {
        expect(await ask(fixture.address, fixture.storageKeys, block)).toEqual(fixture.result);
      }
      await expect(ask(fixture.address, fixture.storageKeys, '0x97888')).rejects.toThrow();
      await expect(ask(`0x${'12'.repeat(20)}`, [], 'latest')).rejects.toMatchObject({ message: /zk proof/ });
    },
  );

  test.each(ANSWERS)('with an anchor of our own: %s', async (name) => {
    const fixture = load(name);
    // Past the change of schemes by the profile: the older answers are found to be of the other one.
    const number = 40_000_000n;
    const calls: Readonly<Record<string, Hex>> = {
      '0x695378f5': word(number),
      '0x8be745d1': bytesToHex(hexToBytes(fixture.stateRoot)),
    };
    const layerOne: Handlers = {
      eth_getBlockByNumber: () => layerOneBlock(new Uint8Array(32)),
      eth_call: ([call]) => calls[(call as { data: string }).data.slice(0, 10)],
    };
    const ask = await recordedNode(linea, fixture, layerOne, false);
    expect(await ask(fixture.address, fixture.storageKeys, 'latest')).toEqual(fixture.result);
    const other = await recordedNode(
      linea,
      fixture,
      {
        ...layerOne,
        eth_call: ([call]) => ((call as { data: string }).data.startsWith('0x69') ? word(number) : word(5n)),
      },
      false,
    );
    await expect(other(fixture.address, fixture.storageKeys, 'latest')).rejects.toThrow();
  });
});
