import type { Method } from '../../src/rpc/method.js';
import { METHOD_INFO } from '../../src/rpc/method-info.js';

/** A method of a test's own table, with the metadata of a method that reads. */
export function someMethod<Context>(name: string, handle: Method<Context>['handle']): Method<Context> {
  return { name, info: METHOD_INFO.l2.eth_call, handle };
}
