/**
 * Entry point `plumbline-l2/hardhat`: a network for Hardhat 3, and fixtures. The network is a devnet in Hardhat's own process. The
 * entry point does not import Hardhat. The types of the plugin fit Hardhat's.
 *
 * @module plumbline-l2/hardhat
 *
 * @example
 * export default defineConfig({ plugins: [plumblineDevnet()] });
 * // hardhat test --network plumbline
 */
import type { DevnetChainOptions } from './chain/devnet/options.js';
import { createInlineNode } from './hosts/opening/inline.js';
import type { PlumblineNode } from './hosts/provider/node-handle.js';
import type { UntypedMethod } from './hosts/provider/provider.js';
import { isProviderRpcError } from './hosts/provider/provider-error.js';

/** A request in the form of Hardhat's hook `onRequest`. */
export interface HookRequest {
  readonly jsonrpc: '2.0';
  readonly id: number | string;
  readonly method: string;
  readonly params?: unknown;
}

/** An answer in the form of Hardhat's hook `onRequest`. */
export type HookResponse =
  | { readonly jsonrpc: '2.0'; readonly id: number | string; readonly result: unknown }
  | {
      readonly jsonrpc: '2.0';
      readonly id: number | string;
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
    };

/** A Hardhat connection. */
export interface HookConnection {
  readonly networkName: string;
}

/** A plugin for Hardhat's configuration. */
export interface DevnetPlugin {
  readonly id: string;
  readonly npmPackage: string;
  readonly hookHandlers: {
    readonly config: () => Promise<{ default: () => Promise<ConfigHooks> }>;
    readonly network: () => Promise<{ default: () => Promise<NetworkHooks> }>;
  };
}

/** Hardhat hooks that add the network. */
export interface ConfigHooks {
  // biome-ignore lint/suspicious/noExplicitAny: the type of a configuration is Hardhat's, and goes through as it is
  extendUserConfig(config: any, next: (config: any) => Promise<any>): Promise<any>;
}

/** Hardhat hooks that answer for the network. */
export interface NetworkHooks {
  onRequest(
    context: never,
    connection: HookConnection,
    request: HookRequest,
    next: (context: never, connection: never, request: never) => Promise<HookResponse>,
  ): Promise<HookResponse>;
  closeConnection(
    context: never,
    connection: HookConnection,
    next: (context: never, connection: never) => Promise<void>,
  ): Promise<void>;
}

/** Options of the plugin. */
export interface DevnetPluginOptions {
  /** Name of the network. Default: `plumbline`. */
  readonly network?: string;
  /** The chain of each connection. Default: a devnet with Hardhat's methods. */
  readonly chain?: Omit<DevnetChainOptions, 'kind'>;
}

/** Nobody listens there: the plugin answers before a request is sent. Port 9 discards (RFC 863). */
const NOWHERE = 'http://127.0.0.1:9/';

/**
 * A plugin that adds a network: a plumbline devnet in this process. Each connection has its own chain. The chain opens with the first
 * request, and closes with the connection.
 *
 * @example
 * ```ts
 * import { plumblineDevnet } from 'plumbline-l2/hardhat';
 *
 * const plugin = plumblineDevnet({ network: 'linea-devnet' });
 * const { default: hooks } = await plugin.hookHandlers.config();
 * const { extendUserConfig } = await hooks();
 * const { networks } = await extendUserConfig({}, async (config) => config);
 * networks['linea-devnet'].type; // => 'http'
 * ```
 */
export function plumblineDevnet({ network = 'plumbline', chain = {} }: DevnetPluginOptions = {}): DevnetPlugin {
  const nodes = new WeakMap<HookConnection, Promise<PlumblineNode>>();
  const open = (connection: HookConnection): Promise<PlumblineNode> => {
    const node = nodes.get(connection) ?? createInlineNode({ chain: { tool: 'hardhat', ...chain, kind: 'devnet' } });
    nodes.set(connection, node);
    return node;
  };
  const config: ConfigHooks = {
    async extendUserConfig(userConfig, next) {
      const extended = await next(userConfig);
      // What is named here as well, such as `chainType`, stays.
      const own = { type: 'http', url: NOWHERE, ...extended.networks?.[network] };
      return { ...extended, networks: { ...extended.networks, [network]: own } };
    },
  };
  const hooks: NetworkHooks = {
    async onRequest(context, connection, request, next) {
      if (connection.networkName !== network) return next(context, connection as never, request as never);
      const { jsonrpc, id, method, params } = request;
      const node = await open(connection);
      try {
        return { jsonrpc, id, result: await node.request<UntypedMethod>({ method, params: params as unknown[] }) };
      } catch (error) {
        if (!isProviderRpcError(error)) throw error;
        const { code, message, data } = error;
        return { jsonrpc, id, error: { code, message, data } };
      }
    },
    async closeConnection(context, connection, next) {
      await next(context, connection as never);
      await (await nodes.get(connection))?.close();
      nodes.delete(connection);
    },
  };
  return {
    id: 'plumbline',
    npmPackage: 'plumbline-l2',
    hookHandlers: {
      config: async () => ({ default: async () => config }),
      network: async () => ({ default: async () => hooks }),
    },
  };
}

/** What a fixture needs: Hardhat's `connection.provider`, or a node. */
export interface SnapshotProvider {
  request(args: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/**
 * Runs a set-up function once, and goes back to its state for each test. The first call runs the set-up and takes a snapshot. Later
 * calls go back to that snapshot, and remove snapshots that were taken after it.
 *
 * @param provider - of the chain that goes back
 * @param setUp - deploys contracts and sends transactions that the tests need
 * @returns what `setUp` returned
 *
 * @example
 * ```ts
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { fixture } from 'plumbline-l2/hardhat';
 *
 * const node = await createInlineNode();
 * const mined = fixture(node as never, async () => node.request({ method: 'anvil_mine', params: ['0x3'] }));
 * await mined();
 * await node.request({ method: 'anvil_mine', params: ['0x5'] });
 * await mined();
 * await node.request({ method: 'eth_blockNumber' }); // => '0x3'
 * await node.close();
 * ```
 */
export function fixture<Result>(provider: SnapshotProvider, setUp: () => Promise<Result>): () => Promise<Result> {
  let made: { readonly result: Result; readonly snapshot: unknown } | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  const snapshot = () => provider.request({ method: 'evm_snapshot' });
  const next = async (): Promise<Result> => {
    // A snapshot is used up by going back to it. If another fixture or a reset has removed it, `setUp` runs again.
    const isBack =
      made !== undefined && (await provider.request({ method: 'evm_revert', params: [made.snapshot] })) === true;
    const result = isBack ? made!.result : await setUp();
    made = { result, snapshot: await snapshot() };
    return result;
  };
  return () => {
    const done = turn.then(next);
    turn = done.catch(() => {});
    return done;
  };
}
