import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import { PlumblineError } from '../../errors.js';
import { fitted, parseQuantity } from '../parsing/parse-params.js';
import type { Method } from '../protocol/method.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import type { RpcContext } from './context.js';

/** One thing that tools tell a devnet, under each of the names by which they do. */
export function developerMethods(
  names: readonly string[],
  handle: (devnet: DevnetControl, params: readonly unknown[], name: string) => unknown | Promise<unknown>,
): Method<RpcContext>[] {
  return names.map((name) => ({
    name,
    handle: (context, params) => handle(requireDevnet(context, name), params, name),
  }));
}

/** @throws PlumblineError `METHOD_NOT_ENABLED` on another kind of chain */
export function requireDevnet({ devnet }: RpcContext, method: string): DevnetControl {
  if (devnet === undefined) throw new PlumblineError('METHOD_NOT_ENABLED', 'not a devnet', { method });
  return devnet;
}

/** An amount as developer tools send it: a hex quantity, decimal digits, or a plain number. @throws RpcError -32602 */
export function parseAmount(value: unknown, parameter: string, bits = 256): bigint {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || value < 0) throw invalidParams(parameter, 'is no whole number from 0 on');
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
