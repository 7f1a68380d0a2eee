import { describe, expect, onTestFinished, test } from 'vitest';
import { Heads } from '../../src/chain/light/heads/heads.js';
import { openSeals } from '../../src/chain/light/open-heads.js';
import { headerHash } from '../../src/ethereum/header.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { readHeader } from '../../src/proof/headers.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { recordedNetwork } from '../support/proof-fixtures.js';

interface HeaderFixture {
  readonly hash: Hex;
  readonly cliqueSigner?: Hex;
  readonly header: Readonly<Record<string, unknown>> & { readonly number: Hex };
}

interface HeaderFile {
  readonly chains: readonly { readonly network: string; readonly headers: readonly HeaderFixture[] }[];
}

const file = hasFixture('headers/headers.json') ? fixtureJson<HeaderFile>('headers/headers.json') : { chains: [] };
const clique = file.chains.flatMap(({ network, headers }) =>
  headers.filter(({ cliqueSigner }) => cliqueSigner !== undefined).map((fixture) => ({ network, fixture })),
);

/** Blocks of one endpoint that answers everything with this header, at level sealed without Maru. */
function sealedHeads(name: string, header: object) {
  const network = recordedNetwork(name);
  const provider = { request: async () => header };
  const group = new EndpointGroup({ role: 'l2', endpoints: [{ provider, name: 'recorded' }] });
  onTestFinished(() => group.close());
  const rules = { level: 'sealed', agreeing: 1, maxLagBlocks: 32 } as const;
  return new Heads(group, network, rules, openSeals(network, undefined));
}

describe.skipIf(file.chains.length === 0)('recorded headers of Clique at level sealed', () => {
  test('each is sealed by itself', async () => {
    expect(clique.length).toBeGreaterThan(10);
    for (const { network, fixture } of clique) {
      const { header, hash } = fixture;
      const found = await sealedHeads(network, { ...header, hash }).byNumber(Number(header.number));
      expect(found).toMatchObject({ level: 'sealed', block: { header: { number: Number(header.number) } } });
    }
  });

  test('a header that was changed and hashed again is refused', async () => {
    for (const { network, fixture } of clique.slice(0, 4)) {
      const changed = { ...fixture.header, stateRoot: `0x${'11'.repeat(32)}` };
      const hash = bytesToHex(headerHash(readHeader(changed)));
      const heads = sealedHeads(network, { ...changed, hash });
      await expect(heads.byNumber(Number(fixture.header.number))).rejects.toMatchObject({
        code: 'ANSWER_REFUSED',
        details: { check: 'SEAL_BY_STRANGER' },
      });
    }
  });

  test('a block after Clique is not sealed by itself', async () => {
    const after = file.chains.flatMap(({ headers }) => headers).find(({ cliqueSigner }) => cliqueSigner === undefined)!;
    const heads = sealedHeads('linea-mainnet', { ...after.header, hash: after.hash });
    await expect(heads.byNumber(Number(after.header.number))).rejects.toMatchObject({
      code: 'TRUST_LEVEL_NOT_REACHED',
    });
  });
});
