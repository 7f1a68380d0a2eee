import { onTestFinished } from 'vitest';
import type { LayerOneOptions, LightChainOptions } from '../../src/chain/light/light-options.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { type DevNode, devNode } from './dev-node.js';
import { type BeaconAnswer, type MockBeacon, serveBeacon } from './mock-beacon.js';
import { type MockEndpoint, serveMock } from './mock-chain.js';
import { ShiftedClock } from './shifted-clock.js';

/** A devnet with its layer 1 and beacon chain, each served on loopback, and light nodes that follow it. */
export interface SettledScene {
  readonly dev: DevNode;
  readonly clock: ShiftedClock;
  readonly endpoint: MockEndpoint;
  readonly execution: MockEndpoint;
  readonly beacon: MockBeacon;
  /** Root of the newest finalized beacon block. */
  checkpoint(): Promise<Hex>;
  /** Opens a light node that ends with the test. */
  open(
    layerOne: Partial<LayerOneOptions>,
    chain?: Partial<LightChainOptions>,
    more?: InlineOptions,
  ): Promise<OpenedLight>;
}

/** A light node, and the reports of its answers. */
export interface OpenedLight {
  readonly node: PlumblineNode;
  readonly reports: AnswerReport[];
  ask<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
}

/** @param blocks - blocks of the devnet; the two newest are not finalized */
export async function settledScene(blocks = 8, options: InlineOptions = {}): Promise<SettledScene> {
  const clock = new ShiftedClock();
  const dev = await devNode({ clock, ...options });
  await dev.ask('anvil_mine', `0x${blocks.toString(16)}`);
  const [endpoint, execution, beacon] = await Promise.all([
    serveMock(dev.node),
    serveMock(dev.node.l1),
    serveBeacon(dev.node),
  ]);
  for (const mock of [endpoint, execution, beacon]) onTestFinished(() => mock.close());
  return {
    dev,
    clock,
    endpoint,
    execution,
    beacon,
    async checkpoint() {
      const params = ['/eth/v1/beacon/headers/finalized'];
      const { body } = (await dev.node.l1.request<UntypedMethod>({ method: 'beacon_get', params })) as BeaconAnswer;
      // Slots in which the next block can become final.
      clock.advance(10_000);
      return (body as { data: { root: Hex } }).data.root;
    },
    async open(layerOne, chain = {}, more = {}) {
      const node = await createInlineNode({
        clock,
        ...more,
        chain: {
          kind: 'light',
          network: devnet(),
          endpoints: [endpoint.url],
          layerOne: { consensus: [beacon.url], execution: [execution.url], ...layerOne },
          finalityMaxAgeMs: 1,
          ...chain,
        },
      });
      onTestFinished(() => node.close());
      const reports: AnswerReport[] = [];
      node.on('answer', (report: AnswerReport) => reports.push(report));
      const ask = <T>(method: string, ...params: unknown[]) =>
        node.request<UntypedMethod>({ method, params }) as Promise<T>;
      return { node, reports, ask };
    },
  };
}
