import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import { PlumblineError } from '../../errors.js';
import { fitted, parseQuantity } from '../parsing/parse-params.js';
import type { Method, MethodCallOptions } from '../protocol/method.js';
import type { DevnetMethodName } from '../protocol/method-info.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { defineMethod, laterMethod, type RpcContext } from './context.js';

/** Methods by name. */
type Named<Name extends DevnetMethodName> = { readonly [N in Name]: Method<RpcContext, N> };

/** One method that steers a devnet, under each of the names that tools have for it. */
export function devnetMethods<const Name extends DevnetMethodName>(
  names: readonly Name[],
  handle: (
    devnet: DevnetControl,
    params: readonly unknown[],
    call: MethodCallOptions & { readonly name: Name; readonly context: RpcContext },
  ) => unknown | Promise<unknown>,
): Named<Name> {
  const methods = names.map((name) => [
    name,
    defineMethod(name, (context, params, call) =>
      handle(requireDevnet(context, name), params, { ...call, name, context }),
    ),
  ]);
  return Object.fromEntries(methods) as Named<Name>;
}

/** Methods of a module that is loaded with the first call of one of them. */
export function laterMethods<const Name extends DevnetMethodName>(
  names: readonly Name[],
  load: () => Promise<Named<Name>>,
): Named<Name> {
  return Object.fromEntries(names.map((name) => [name, laterMethod(name, load)])) as Named<Name>;
}

/** @throws PlumblineError `METHOD_NOT_ENABLED` on another kind of chain */
export function requireDevnet({ devnet }: RpcContext, method: DevnetMethodName): DevnetControl {
  if (devnet !== undefined) return devnet;
  throw new PlumblineError('METHOD_NOT_ENABLED', `${method} needs a devnet`, { method });
}

/** An amount as developer tools send it: a hex quantity, decimal digits, or a plain number. @throws RpcError -32602 */
export function parseAmount(value: unknown, parameter: string, bits = 256): bigint {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw invalidParams(parameter, 'is not a whole number between 0 and 2^53 - 1');
    }
    return fitted(BigInt(value), parameter, 'params', bits);
  }
  if (typeof value === 'string' && /^[0-9]{1,78}$/.test(value)) {
    return fitted(BigInt(value), parameter, 'params', bits);
  }
  return parseQuantity(value, parameter, 'params', bits);
}

/** As `parseAmount`, for counts and times. @throws RpcError -32602 above 2^53 - 1 */
export function parseCount(value: unknown, parameter: string): number {
  return Number(parseAmount(value, parameter, 53));
}
