import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import { PlumblineError } from '../../errors.js';
import type { Method, MethodCallOptions } from '../method.js';
import type { MethodName } from '../method-info.js';
import type { MethodInfo } from '../method-rows.js';
import { fitted, parseQuantity } from '../parse-params.js';
import { invalidParams } from '../rpc-errors.js';
import { type Answered, defineMethod, type RpcContext, type Unchecked } from './context.js';

/** One method that steers a devnet, under each of the names that tools have for it. The rest is as in `defineMethod`. */
export function devnetMethods<Params extends readonly unknown[], Result>(
  names: readonly MethodName[],
  info: MethodInfo,
  handle: (
    devnet: DevnetControl,
    params: Unchecked<Params>,
    call: MethodCallOptions & { readonly name: MethodName; readonly context: RpcContext },
  ) => Answered<Result>,
): Method<RpcContext>[] {
  return names.map((name) =>
    defineMethod<Params, Result>(name, info, (context, params, call) =>
      handle(requireDevnet(context, name), params, { ...call, name, context }),
    ),
  );
}

/** @throws PlumblineError `METHOD_NOT_ENABLED` on another kind of chain */
export function requireDevnet({ devnet }: RpcContext, method: MethodName): DevnetControl {
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
