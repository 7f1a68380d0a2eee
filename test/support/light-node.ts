import { onTestFinished } from 'vitest';
import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { type DevNode, devNode } from './dev-node.js';
import { type MockEndpoint, type MockOptions, serveMock } from './mock-chain.js';
import { ShiftedClock } from './shifted-clock.js';
import { createStatistics, type UpstreamStatistics } from './upstream-statistics.js';

export interface LightScene {
  /** The chain itself. */
  readonly dev: DevNode;
  readonly endpoints: readonly MockEndpoint[];
  readonly layerOne: MockEndpoint;
  readonly light: PlumblineNode;
  readonly statistics: UpstreamStatistics;
  readonly clock: ShiftedClock;
  ask<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
  /** Another light node on the same endpoints. */
  open(chain?: Partial<LightChainOptions>, more?: InlineOptions): Promise<PlumblineNode>;
}

export interface LightSceneOptions {
  readonly dev?: InlineOptions;
  /** One for each endpoint; two plain ones when left out. */
  readonly endpoints?: readonly MockOptions[];
  readonly chain?: Partial<LightChainOptions>;
  readonly more?: InlineOptions;
}

/** A devnet, endpoints on loopback that serve it, and a light node that knows only these; all end with the test. */
export async function lightScene(options: LightSceneOptions = {}): Promise<LightScene> {
  const dev = await devNode(options.dev ?? {});
  const endpoints = await Promise.all((options.endpoints ?? [{}, {}]).map((mock) => serveMock(dev.node, mock)));
  const layerOne = await serveMock(dev.node.l1);
  for (const mock of [...endpoints, layerOne]) onTestFinished(() => mock.close());
  const statistics = createStatistics();
  const clock = new ShiftedClock();
  const open = async (chain: Partial<LightChainOptions> = {}, more: InlineOptions = {}) => {
    const node = await createInlineNode({
      clock,
      upstreamObserver: statistics,
      ...options.more,
      ...more,
      chain: {
        kind: 'light',
        network: devnet(),
        endpoints: endpoints.map(({ url }) => url),
        layerOne: [layerOne.url],
        ...options.chain,
        ...chain,
      },
    });
    onTestFinished(() => node.close());
    return node;
  };
  const light = await open();
  const ask = <T>(method: string, ...params: unknown[]) =>
    light.request<UntypedMethod>({ method, params }) as Promise<T>;
  return { dev, endpoints, layerOne, light, statistics, clock, ask, open };
}
