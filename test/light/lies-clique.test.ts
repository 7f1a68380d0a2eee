import { secp256k1 } from '@noble/curves/secp256k1.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Heads } from '../../src/chain/light/heads/heads.js';
import { openSeals } from '../../src/chain/light/open-heads.js';
import { headerHash } from '../../src/ethereum/header.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { readHeader } from '../../src/proof/headers.js';
import { cliqueSealDigest } from '../../src/proof/seals.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { type Fate, faultOf, otherDigit, type Pick, VARIANTS } from '../support/liar.js';
import { type MockUpstream, openMockUpstream } from '../support/mock-upstream.js';
import { recordedNetwork } from '../support/proof-fixtures.js';
import { seededRandom } from '../support/random.js';

type HeaderJson = Record<string, Hex>;
interface HeadersFile {
  readonly chains: { network: string; headers: { hash: Hex; cliqueSigner?: Hex; header: HeaderJson }[] }[];
}

const { chains } = hasFixture('headers/headers.json')
  ? fixtureJson<HeadersFile>('headers/headers.json')
  : { chains: [] };
const sealed = chains.flatMap(({ network, headers }) =>
  headers
    .filter(({ cliqueSigner }) => cliqueSigner !== undefined)
    .map(({ hash, header }) => ({ network: recordedNetwork(network), hash, header })),
);

const rehashed = (header: HeaderJson) => ({ ...header, hash: bytesToHex(headerHash(readHeader(header))) });
/** The header with its seal by another key. */
function sealedBy(header: HeaderJson, key: Uint8Array): HeaderJson {
  const digest = cliqueSealDigest(readHeader(header));
  const signature = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' });
  const seal = concatBytes(signature.subarray(1), signature.subarray(0, 1));
  return { ...header, extraData: bytesToHex(concatBytes(hexToBytes(header.extraData!).subarray(0, -65), seal)) };
}

const LIES: [string, (header: HeaderJson, pick: Pick, variant: number) => object, Fate][] = [
  [
    'a seal by a stranger',
    (header, _, variant) => rehashed(sealedBy(header, new Uint8Array(32).fill(variant + 3))),
    { check: /^SEAL_BY_STRANGER$/, what: /^seal of block \d+$/, at: /^extraData$/ },
  ],
  [
    'a sealed header with another state root',
    (header, pick) => rehashed({ ...header, stateRoot: otherDigit(header.stateRoot!, pick) as Hex }),
    { check: /^SEAL_(BY_STRANGER|INVALID)$/, what: /^seal of block \d+$/, at: /^extraData$/ },
  ],
  [
    'a header without its seal',
    (header, _, variant) => rehashed({ ...header, extraData: header.extraData!.slice(0, -2 * (variant + 1)) as Hex }),
    { check: /^SEAL_LENGTH$/, what: /^seal of block \d+$/, at: /^extraData$/ },
  ],
];

describe.skipIf(chains.length === 0)('lies about recorded headers under the seals of Clique', () => {
  let mocks: MockUpstream[];
  let said: unknown;
  let truth: unknown;
  beforeAll(async () => {
    mocks = [
      await openMockUpstream({ handler: () => said }),
      await openMockUpstream({ handler: () => truth, latencyMs: 5 }),
    ];
  });
  afterAll(() => Promise.all(mocks.map((mock) => mock.close())));

  async function ask(index: number, count: number) {
    const { network, header } = sealed[index]!;
    const group = new EndpointGroup({ role: 'l2', endpoints: mocks.slice(0, count).map(({ url }) => url) });
    const rules = { level: 'sealed', agreeing: 1, maxLagBlocks: 32 } as const;
    try {
      const { block, level } = await new Heads(group, network, rules, openSeals(network, undefined)).byNumber(
        Number(header.number),
      );
      return { answer: [bytesToHex(block.hash), level] };
    } catch (error) {
      return { error, thrown: error };
    } finally {
      group.close();
    }
  }

  test.each(LIES)('%s', async (_, lie, alone) => {
    for (let variant = 0; variant < VARIANTS; variant++) {
      const index = (variant * 5) % sealed.length;
      const { hash, header } = sealed[index]!;
      truth = { ...header, hash };
      said = lie(header, seededRandom(variant * 7919 + 17), variant);
      const expected = [hash, 'sealed'];
      expect(faultOf(await ask(index, 1), alone, expected), `${variant} alone`).toBeUndefined();
      expect(faultOf(await ask(index, 2), 'right', expected), `${variant} beside`).toBeUndefined();
      said = truth;
      expect(faultOf(await ask(index, 1), 'right', expected), `${variant}, no false seal`).toBeUndefined();
    }
  });
});
