import { onTestFinished } from 'vitest';
import {
  type BeaconBlock,
  makeBeaconBlock,
  signAsCommittee,
  simulatedCommittee,
  stateBranch,
} from '../../src/chain/devnet/layer-one/simulated-beacon.js';
import type { LayerOneOptions, LightChainOptions } from '../../src/chain/light/light-options.js';
import { computeSigningRoot } from '../../src/consensus/containers.js';
import { computeSyncCommitteePeriodAtSlot } from '../../src/consensus/slots.js';
import { toJson } from '../../src/consensus/ssz.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import { beaconNetwork } from '../../src/networks/beacon-networks.js';
import { devnet } from '../../src/networks/devnet.js';
import { ethereum } from '../../src/networks/ethereum.js';
import type { BeaconNetwork, Network } from '../../src/networks/network.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { verifyHeader } from '../../src/proof/headers.js';
import { type DevNode, devNode } from './dev-node.js';
import type { Json } from './lie-edits.js';
import { type MockBeacon, serveBeacon } from './mock-beacon.js';
import { serveMock } from './mock-chain.js';
import { TurnClock } from './turn-clock.js';

const CHAIN_ID = 1337;
const { chainId: _, ...rules } = devnet({ chainId: CHAIN_ID });
const EVERYBODY = new Uint8Array(4).fill(0xff);

/** A layer 1 of its own: the blocks of a devnet, carried by beacon blocks that the simulated validators sign, a slot a second. */
export function layerOneNetwork(epochs: Parameters<typeof beaconNetwork>[1] = {}): Network {
  return {
    ...ethereum,
    name: 'own layer 1',
    chainId: CHAIN_ID,
    forks: rules.forks,
    blockGasLimit: rules.blockGasLimit,
    slotSeconds: 1,
    layerOne: { ...beaconNetwork('simulated', epochs), depositChainId: CHAIN_ID },
  };
}

/** What a sync committee signed: a beacon block, and who of the 32 members. */
export interface Attested {
  readonly block: BeaconBlock;
  readonly bits?: Uint8Array;
}

/** What one consensus server knows; it can be changed while it serves. */
export interface Server {
  readonly url: string;
  readonly beacon: MockBeacon;
  finalized: BeaconBlock;
  attested: Attested;
}

/** A chain, its consensus servers and its endpoints on loopback; all end with the test. */
export async function attestedScene({
  blocks = 6,
  servers: count = 1,
  endpoints: nodes = 1,
  epochs = {} as Parameters<typeof beaconNetwork>[1],
  /** Changes the state before all blocks but genesis. */
  prepare = async (_: DevNode): Promise<void> => {},
} = {}) {
  const network = layerOneNetwork(epochs);
  const beacon = network.layerOne as BeaconNetwork;
  // It stands still while no node waits: slots have a second, and a busy machine would let them pass.
  const clock = new TurnClock(1);
  const dev = await devNode({ chain: { kind: 'devnet', network: devnet({ chainId: CHAIN_ID }) } });
  const slotNow = () => Math.floor((clock.now() / 1000 - beacon.genesisTime) / beacon.secondsPerSlot);
  // In the first half of a period, which no test leaves by itself.
  clock.advance((64 - (slotNow() % 64) + 20) * 1000);
  const clockSlot = slotNow();

  /** The beacon block of a slot that carries a block of the chain. @param final - what its state names as final */
  async function carry(slot: number, number: number | Hex, final?: BeaconBlock): Promise<BeaconBlock> {
    const method = typeof number === 'number' ? 'eth_getBlockByNumber' : 'eth_getBlockByHash';
    const answer = await dev.ask(method, typeof number === 'number' ? `0x${number.toString(16)}` : number, false);
    const verdict = verifyHeader(answer);
    if (!verdict.verified) throw new Error(verdict.message);
    const { header, hash } = verdict;
    const { timestamp } = header;
    const own = {
      header,
      hash,
      number: header.number,
      timestamp,
      transactions: [],
      receipts: [],
      size: 0,
      logs: [],
      finalizedBlock: 0,
    };
    return makeBeaconBlock(beacon, slot, own, final);
  }

  const updates = new Map<BeaconBlock, Map<string, Json>>();

  /** An update as a beacon node answers it, signed once. */
  function updateOf(attested: Attested, finalized?: BeaconBlock): Json {
    const known = updates.get(attested.block) ?? new Map<string, Json>();
    updates.set(attested.block, known);
    const key = `${attested.bits ?? 'all'} ${finalized?.slot}`;
    const update = known.get(key) ?? sign(attested, finalized);
    known.set(key, update);
    return update;
  }

  function sign({ block, bits = EVERYBODY }: Attested, finalized?: BeaconBlock): Json {
    const signed = block.slot + 1;
    const message = computeSigningRoot(beacon, block.header.beacon, signed);
    const signature = signAsCommittee(computeSyncCommitteePeriodAtSlot(beacon, signed), bits, message);
    const data = {
      attestedHeader: block.header,
      ...(finalized && {
        finalizedHeader: 'executionBlockHash' in block.header ? finalized.upgraded() : finalized.header,
        finalityBranch: stateBranch(beacon, block, 'finalizedRoot'),
      }),
      syncAggregate: { syncCommitteeBits: bits, syncCommitteeSignature: signature },
      signatureSlot: BigInt(signed),
    };
    return { version: 'executionBlockHash' in block.header ? 'gloas' : 'fulu', data: toJson(data) };
  }

  function bootstrapOf(block: BeaconBlock): Json {
    const { committee } = simulatedCommittee(computeSyncCommitteePeriodAtSlot(beacon, block.slot));
    const branch = stateBranch(beacon, block, 'currentSyncCommittee');
    const data = { header: block.header, currentSyncCommittee: committee, currentSyncCommitteeBranch: branch };
    return { version: 'executionBlockHash' in block.header ? 'gloas' : 'fulu', data: toJson(data) };
  }

  await prepare(dev);
  await dev.ask('anvil_mine', blocks);
  const genesis = await carry(clockSlot - 12, blocks - 4);
  const finalized = await carry(clockSlot - 8, blocks - 3, genesis);
  const attested: Attested = { block: await carry(clockSlot - 1, blocks - 1, finalized) };
  const servers = await Promise.all(
    Array.from({ length: count }, async (): Promise<Server> => {
      const own = { finalized, attested } as Pick<Server, 'finalized' | 'attested'>;
      const answer = (path: string): Json | undefined => {
        if (path.includes('/bootstrap/')) return bootstrapOf(genesis);
        if (path.endsWith('/finality_update')) return updateOf(own.attested, own.attested.block.parent);
        return path.endsWith('/optimistic_update') ? updateOf(own.attested) : undefined;
      };
      const mock = await serveBeacon({
        l1: {
          async request({ params: [path] = [] }: { params?: readonly unknown[] }) {
            const body = answer(String(path));
            return body === undefined
              ? { status: 404, body: { code: 404, message: 'not found' } }
              : { status: 200, body };
          },
        } as never,
      });
      onTestFinished(() => mock.close());
      return Object.assign(own, { url: mock.url, beacon: mock });
    }),
  );
  const endpoints = await Promise.all(Array.from({ length: nodes }, () => serveMock(dev.node)));
  for (const mock of endpoints) onTestFinished(() => mock.close());

  async function open(
    layerOne: Partial<LayerOneOptions> = {},
    chain: Partial<LightChainOptions> = {},
    more: InlineOptions = {},
  ) {
    const node = await createInlineNode({
      clock,
      ...more,
      chain: {
        kind: 'light',
        network,
        endpoints: endpoints.map(({ url }) => url),
        layerOne: {
          consensus: servers.map(({ url }) => url),
          checkpoint: { root: bytesToHex(genesis.root) },
          ...layerOne,
        },
        ...chain,
      },
    });
    onTestFinished(() => node.close());
    const reports: Json[] = [];
    node.on('answer', (report) => void reports.push(report));
    const ask = <T = Json>(method: string, ...params: unknown[]) =>
      node.request({ method, params } as never) as Promise<T>;
    return { node, ask, reports };
  }

  return { dev, clock, network, servers, endpoints, carry, open, genesis, finalized, slotNow, updateOf };
}
