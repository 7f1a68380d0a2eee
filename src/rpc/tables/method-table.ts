import type { RpcContext } from '../methods/context.js';
import { createMethodTable, type Method, type MethodTable } from '../protocol/method.js';
import { aliasesOf, insteadOf, methodsOff } from '../protocol/method-info.js';
import { METHODS } from './methods.generated.js';

/**
 * All methods of a node, by the names it answers to.
 *
 * @param devnetMethods - `DEVNET_METHODS` for a devnet, in place of those of every kind of chain with the same names; other chains answer these names with `METHOD_NOT_ENABLED`
 */
export function methodTable(
  { chain }: RpcContext,
  devnetMethods: readonly Method<RpcContext>[] = [],
): MethodTable<RpcContext> {
  const inPlace = new Set(devnetMethods.map(({ name }) => name));
  return createMethodTable([...METHODS.filter(({ name }) => !inPlace.has(name)), ...devnetMethods], {
    aliases: Object.fromEntries(aliasesOf(chain.network.methodPrefix)),
    disabled: methodsOff(chain.kind),
    insteadOf,
  });
}
