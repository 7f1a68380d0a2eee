import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { EndpointSource } from '../../src/upstream/options.js';
import { type MockUpstream, openMockUpstream } from './mock-upstream.js';
import { MockRpcError } from './mock-upstream-replies.js';
import { TurnClock } from './turn-clock.js';

/** An endpoint that serves a chain and can be made to fail. */
export function serveFaulty(dev: PlumblineNode): Promise<MockUpstream> {
  return openMockUpstream({
    async handler(method, params) {
      try {
        return await dev.request<UntypedMethod>({ method, params: [...params] });
      } catch (error) {
        const { code, message, data } = error as MockRpcError;
        throw new MockRpcError(code, message, data);
      }
    },
  });
}

/** A light node in a hurry, and what came of a request to it. */
export interface HurriedNode {
  readonly clock: TurnClock;
  /** The answer, or what a method threw before it became a JSON-RPC error. */
  ask(method: string, ...params: unknown[]): Promise<{ readonly answer?: unknown; readonly error?: unknown }>;
  /** @returns timers that are left open */
  close(): Promise<number>;
}

export async function openHurried(
  endpoints: readonly EndpointSource[],
  chain: Partial<LightChainOptions> = {},
  msPerTurn?: number,
): Promise<HurriedNode> {
  const clock = new TurnClock(msPerTurn);
  let thrown: unknown;
  const node = await createInlineNode({
    clock,
    onError: (error) => {
      thrown = error;
    },
    chain: { kind: 'light', network: devnet(), endpoints, ...chain },
  });
  return {
    clock,
    async ask(method, ...params) {
      try {
        return { answer: await node.request<UntypedMethod>({ method, params }) };
      } catch {
        return { error: thrown };
      }
    },
    async close() {
      await node.close();
      return clock.open;
    },
  };
}
