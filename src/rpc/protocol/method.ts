import { PlumblineError } from '../../errors.js';
import type { Subscriber } from '../subscriptions/subscriptions.js';

/** What the dispatcher hands to a method beside its parameters. */
export interface MethodCallOptions {
  /** Fires when the caller gives up or the request's time is over; the answer is dropped then. */
  readonly signal?: AbortSignal | undefined;
  /** Present when the caller can be sent messages after its answer: over a WebSocket, or as a provider. */
  readonly subscriber?: Subscriber | undefined;
  /** Told of what a method finds wrong after its answer. */
  readonly onError?: ((error: unknown, method: string) => void) | undefined;
}

/** One JSON-RPC method: positional parameters in, a JSON value out (undefined becomes null). */
export interface Method<Context> {
  readonly name: string;
  /** It takes as long as it takes: what it does happens all the same. Its payload has no time limit. */
  readonly untimed?: boolean;
  readonly handle: (
    context: Context,
    params: readonly unknown[],
    call: MethodCallOptions,
  ) => unknown | Promise<unknown>;
}

/** A method whose code is loaded when it is first called, for those that are large and that few nodes are asked for. */
export function laterMethod<Context>(name: string, load: () => Promise<Method<Context>>): Method<Context> {
  return { name, handle: async (context, params, call) => (await load()).handle(context, params, call) };
}

/** The methods a node answers. */
export interface MethodTable<Context> {
  /** Every name that is answered, aliases included, in ascending order. */
  readonly names: readonly string[];
  /** @throws PlumblineError `METHOD_NOT_ENABLED` for one that is known and off here, `METHOD_NOT_FOUND` */
  find(name: string): Method<Context>;
}

/**
 * A table of methods.
 *
 * @param options.aliases - other name to the name it stands for, such as `l2_getProof` to `linea_getProof`
 * @param options.disabled - names that exist and are off on this kind of chain; they win over `methods`
 * @throws PlumblineError `INTERNAL` for a name given twice, or an alias of nothing
 */
export function createMethodTable<Context>(
  methods: readonly Method<Context>[],
  options: { readonly aliases?: Readonly<Record<string, string>>; readonly disabled?: readonly string[] } = {},
): MethodTable<Context> {
  const byName = new Map<string, Method<Context>>();
  const add = (name: string, method: Method<Context> | undefined) => {
    if (method === undefined) throw unsound(`${name} is an alias of nothing`);
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
      if (disabled.has(name)) throw new PlumblineError('METHOD_NOT_ENABLED', 'method not enabled', { method: name });
      throw new PlumblineError('METHOD_NOT_FOUND', 'method not found', { method: name });
    },
  };
}

function unsound(reason: string): PlumblineError<'INTERNAL'> {
  return new PlumblineError('INTERNAL', `method table: ${reason}`, { reason });
}
