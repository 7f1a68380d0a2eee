import { createInlineNode } from '../../build/modules/hosts/opening/inline.js';
import { devnet } from '../../build/modules/networks/devnet.js';
import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { Hex } from '../../src/primitives/hex.js';
import { type BeaconAnswer, type MockBeacon, serveBeacon } from './mock-beacon.js';
import { type MockEndpoint, serveMock } from './mock-chain.js';

/** A devnet of eight blocks, of which six are final, with its layer 1 and its beacon chain, each served on loopback. */
export interface SettledEndpoints {
  readonly dev: PlumblineNode;
  readonly endpoint: MockEndpoint;
  readonly execution: MockEndpoint;
  readonly beacon: MockBeacon;
  /** Of a light node that follows them by the clock of the machine. */
  readonly chain: LightChainOptions;
  close(): Promise<void>;
}

const SLOTS_OF_PERIOD = 64;

export async function openSettledEndpoints(): Promise<SettledEndpoints> {
  const dev = (await createInlineNode()) as unknown as PlumblineNode;
  await dev.request({ method: 'anvil_mine', params: ['0x8'] });
  const [endpoint, execution, beacon] = await Promise.all([serveMock(dev), serveMock(dev.l1), serveBeacon(dev)]);
  const root = await olderCheckpoint(dev);
  return {
    dev,
    endpoint,
    execution,
    beacon,
    chain: {
      kind: 'light',
      network: devnet() as LightChainOptions['network'],
      endpoints: [endpoint.url],
      layerOne: { consensus: [beacon.url], execution: [execution.url], checkpoint: { root } },
    },
    async close() {
      await Promise.all([endpoint, execution, beacon].map((mock) => mock.close()));
      await dev.close();
    },
  };
}

interface HeaderAnswer {
  readonly data: { readonly root: Hex; readonly header: { readonly message: { readonly slot: string } } };
}

/** Root of a final beacon block before the newest one, so that there is something to follow. */
async function olderCheckpoint({ l1 }: PlumblineNode): Promise<Hex> {
  const get = async <Body>(path: string) => {
    const answer = await l1.request({ method: 'beacon_get', params: [`/eth/v1/beacon/${path}`] });
    return (answer as BeaconAnswer).body as Body;
  };
  const { data } = await get<HeaderAnswer>('headers/finalized');
  const period = Math.floor(Number(data.header.message.slot) / SLOTS_OF_PERIOD) - 1;
  // The simulated chain makes earlier blocks when their update is asked for.
  await get(`light_client/updates?start_period=${period}&count=1`);
  return (await get<HeaderAnswer>(`headers/${period * SLOTS_OF_PERIOD}`)).data.root;
}
