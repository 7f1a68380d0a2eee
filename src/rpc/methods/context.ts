import type { Chain } from '../../chain/chain.js';
import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import type { Estimator } from '../../estimate/estimator.js';
import type { EvidenceBundle, EvidenceClaim } from '../../evidence/evidence-bundle.js';
import type { Messages } from '../../messages/find-claim.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { FilterRegistry } from '../filter-registry.js';
import type { Method, MethodCallOptions } from '../method.js';
import { METHOD_INFO, type MethodName } from '../method-info.js';
import type { MethodInfo } from '../method-rows.js';
import type { NodeStatus, StorageControl } from '../schema/answers.js';

/** What the methods of one node work on. */
export interface RpcContext {
  readonly chain: Chain;
  readonly estimator: Estimator;
  /** Most bytes of return data and logs that one request may read; no limit when left out. */
  readonly maxAnswerBytes?: number | undefined;
  /** Loads the filters of this node. */
  filters(): Promise<FilterRegistry>;
  /** Control of a devnet; left out for other chains. */
  readonly devnet?: DevnetControl;
  /** What the node stores. */
  readonly storage?: StorageControl;
  /**
   * Collects what proves a claim without any endpoint; left out unless a light node follows layer-1 consensus.
   *
   * @throws PlumblineError as `collectEvidence`
   */
  readonly collectEvidence?: ((claim: EvidenceClaim) => Promise<EvidenceBundle>) | undefined;
  /** Messages to layer 1; left out unless a light node or a replica of a rollup has endpoints of layer 1. */
  readonly messages?: (() => Promise<Messages | undefined>) | undefined;
  /** Asks the endpoints and says what was found. Left out by tests of single methods. */
  status?(signal?: AbortSignal): Promise<NodeStatus>;
}

/** The parameters of a method as they come: as many as it has, none of them checked. */
export type Unchecked<Params extends readonly unknown[]> = { readonly [Position in keyof Params]: unknown };

/** What a handler may answer: `null`, text, a number, a truth value, a list or an object where the method's result may be one. */
export type Answered<Result> = unknown extends Result ? unknown : Kind<Result> | Promise<Kind<Result>>;
type Kind<Result> = Result extends string
  ? string
  : Result extends boolean
    ? boolean
    : Result extends number
      ? number
      : Result extends null
        ? null
        : Result extends readonly unknown[]
          ? readonly unknown[]
          : object;

/**
 * Defines a JSON-RPC method of a node. All that is known of it stands here; `scripts/build-methods.mjs` derives from it the rows that
 * other nodes read, the table, and the types of `request`.
 *
 * @typeParam Params - what a caller gives
 * @typeParam Result - what it gets
 * @param info - a row of `protocol/method-rows.ts`
 * @param handle - positional parameters in, a JSON value out
 */
export function defineMethod<Params extends readonly unknown[], Result>(
  name: MethodName,
  info: MethodInfo,
  handle: (context: RpcContext, params: Unchecked<Params>, call: MethodCallOptions) => Answered<Result>,
): Method<RpcContext> {
  return { name, info, handle: handle as Method<RpcContext>['handle'] };
}

/**
 * Methods of a module that is loaded with the first call of one of them.
 *
 * @param load - the module: it exports methods, each alone or in a list
 */
export function laterMethods(names: readonly MethodName[], load: () => Promise<object>): Method<RpcContext>[] {
  const loaded = loadOnce(async () => {
    const methods = Object.values(await load())
      .flat()
      .filter(isMethod);
    return new Map(methods.map((method) => [method.name, method]));
  });
  return names.map((name) => ({
    name,
    info: METHOD_INFO.l2[name],
    handle: async (context, params, call) => (await loaded()).get(name)!.handle(context, params, call),
  }));
}

function isMethod(exported: unknown): exported is Method<RpcContext> {
  return typeof exported === 'object' && exported !== null && 'handle' in exported;
}
