import type { ChainCall } from '../chain/chain.js';
import { PlumblineError } from '../errors.js';
import type { Hex } from '../primitives/hex.js';
import type { MethodInfo } from './method-rows.js';

/** Something that can be followed. `emit` is called for each event. @returns a function that ends it */
export type Source = (emit: (result: unknown) => void) => () => void;

/** What `eth_subscribe` and `eth_unsubscribe` do for the caller of one payload. */
export interface Subscriber {
  /** @returns the id of the new subscription, 16 bytes. @throws PlumblineError `SUBSCRIPTION_LIMIT` */
  subscribe(source: Source): Hex;
  /** @throws PlumblineError `SUBSCRIPTION_NOT_FOUND` */
  unsubscribe(id: string): void;
}

/** What the dispatcher hands to a method beside its parameters. */
export interface MethodCallOptions extends ChainCall {
  /** Fires when the caller gives up or the request's time is over; the answer is dropped then. */
  readonly signal?: AbortSignal | undefined;
  /** Present when messages can be sent to the caller after the answer: over a WebSocket, or as a provider. */
  readonly subscriber?: Subscriber | undefined;
  /** Ids of the chains that the caller can switch to: those of the node, for a session that is not of one chain alone. */
  readonly chains?: readonly number[] | undefined;
  /** Who asks, for limits of each client: a session, or the address of an HTTP client. Compared by identity. */
  readonly client?: unknown;
  /** Receives errors that a method meets after its answer. */
  readonly onError?: ((error: unknown, method: string) => void) | undefined;
}

/** One method: positional parameters in, a JSON value out (undefined becomes null). */
export interface Method<Context, Name extends string = string> {
  readonly name: Name;
  readonly info: MethodInfo;
  readonly handle: (
    context: Context,
    params: readonly unknown[],
    call: MethodCallOptions,
  ) => unknown | Promise<unknown>;
}

/** The methods a node answers. */
export interface MethodTable<Context> {
  /** Every name that is answered, aliases included, in ascending order. */
  readonly names: readonly string[];
  /** @throws PlumblineError `METHOD_NOT_ENABLED` for a method that this kind of chain does not have, `METHOD_NOT_FOUND` */
  find(name: string): Method<Context>;
}

/**
 * A table of methods.
 *
 * @param options.aliases - other name to the name it stands for, such as `l2_getProof` to `linea_getProof`
 * @param options.disabled - names of methods that this kind of chain does not have, whether or not `methods` holds them
 * @param options.insteadOf - why one of those is not there and what to do, where a caller can do something
 * @throws PlumblineError `INTERNAL` for a name that is given twice, or an alias of a name that is not there
 */
export function createMethodTable<Context>(
  methods: readonly Method<Context>[],
  options: {
    readonly aliases?: Readonly<Record<string, string>>;
    readonly disabled?: readonly string[];
    readonly insteadOf?: (name: string) => string | undefined;
  } = {},
): MethodTable<Context> {
  const byName = new Map<string, Method<Context>>();
  const add = (name: string, method: Method<Context> | undefined) => {
    if (method === undefined) throw unsound(`${name} is an alias of a method that is not there`);
    if (byName.has(name)) throw unsound(`${name} is there twice`);
    byName.set(name, method);
  };
  for (const method of methods) add(method.name, method);
  for (const [alias, name] of Object.entries(options.aliases ?? {})) add(alias, byName.get(name));
  const disabled = new Set(options.disabled ?? []);
  for (const name of disabled) byName.delete(name);
  return {
    names: [...byName.keys()].sort(),
    find(name) {
      const method = byName.get(name);
      if (method !== undefined) return method;
      if (disabled.has(name)) {
        const reason = options.insteadOf?.(name);
        throw new PlumblineError('METHOD_NOT_ENABLED', reason ?? `this kind of chain does not have ${name}`, {
          method: name,
          ...(reason !== undefined && { reason }),
        });
      }
      throw new PlumblineError('METHOD_NOT_FOUND', `there is no method ${name}`, { method: name });
    },
  };
}

function unsound(reason: string): PlumblineError<'INTERNAL'> {
  return new PlumblineError('INTERNAL', `method table: ${reason}`, { reason });
}
