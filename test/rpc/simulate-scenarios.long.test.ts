import { expect, onTestFinished, test } from 'vitest';
import { type GenesisJson, parseGenesis } from '../../src/chain/devnet/state/genesis-json.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import { devNode } from '../support/dev-node.js';
import { fixtureJson, hasFixture, listFixtures } from '../support/fixtures.js';
import { serveMock } from '../support/mock-chain.js';

interface Scenario {
  readonly anvilSimulateV1: { readonly params: readonly [object, Hex] };
  readonly transactions: readonly { readonly receipt: { readonly gasUsed: Hex; readonly status: Hex } }[];
}
interface Simulated {
  readonly calls: readonly { readonly gasUsed: Hex; readonly status: Hex }[];
}

const FOLDER = 'tracing/scenarios';
const GENESIS = `${FOLDER}/genesis.json`;
/** Most round trips of a simulation on a light node that knows nothing but the head. */
const MOST_TRIPS = 5;

test.skipIf(!hasFixture(GENESIS))(
  'transactions of all kinds end on a light node as anvil mined them, and as on a devnet',
  async () => {
    const genesis = fixtureJson<GenesisJson>(GENESIS);
    const dev = await devNode({ chain: { kind: 'devnet', genesis, mining: 'manual' } });
    const mock = await serveMock(dev.node);
    onTestFinished(() => mock.close());
    const { network } = parseGenesis(genesis);
    const trips: number[] = [];
    for (const name of listFixtures(FOLDER, /\.json$/)) {
      const { anvilSimulateV1, transactions } = fixtureJson<Partial<Scenario>>(name);
      // Files of the folder that are no scenarios.
      if (anvilSimulateV1 === undefined || transactions === undefined) continue;
      const light = await createInlineNode({ chain: { kind: 'light', network, endpoints: [mock.url] } });
      try {
        await light.request({ method: 'eth_blockNumber' });
        mock.seen.length = 0;
        const { params } = anvilSimulateV1;
        const simulated = (await light.request<UntypedMethod>({ method: 'eth_simulateV1', params })) as Simulated[];
        trips.push(mock.seen.length);
        expect(simulated, name).toEqual(await dev.ask('eth_simulateV1', ...params));
        const ends = simulated.flatMap(({ calls }) => calls.map(({ status, gasUsed }) => ({ status, gasUsed })));
        expect(ends, name).toEqual(transactions.map(({ receipt: { status, gasUsed } }) => ({ status, gasUsed })));
      } finally {
        await light.close();
      }
    }
    expect(Math.max(...trips)).toBeLessThanOrEqual(MOST_TRIPS);
    expect(trips.length).toBeGreaterThan(50);
  },
);
