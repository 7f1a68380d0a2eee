import { isLayerOne } from '../../networks/network.js';
import { aliasesOf, servedMethods } from '../method-info.js';
import { OF_THE_NODE } from '../method-rows.js';
import { OPENRPC } from '../openrpc.generated.js';
import { defineMethod } from './context.js';
import { CLIENT_VERSION } from './node-info.js';

/** What scripts/build-openrpc.mjs makes: all methods of all kinds of chain. */
interface Described {
  readonly methods: readonly { readonly name: string }[];
  readonly components: object;
}

/**
 * The methods of this node as an OpenRPC document.
 *
 * @source https://spec.open-rpc.org/, "Service Discovery Method"
 */
export const rpc_discover = defineMethod<[], object>('rpc.discover', OF_THE_NODE, ({ chain: { kind, network } }) => {
  const { methods, components } = JSON.parse(OPENRPC) as Described;
  const byName = new Map(methods.map((method) => [method.name, method]));
  const aliases = new Map(aliasesOf(network.methodPrefix));
  return {
    openrpc: '1.3.2',
    info: { title: `plumbline: ${network.name}`, version: CLIENT_VERSION.slice('plumbline/v'.length) },
    methods: servedMethods(kind, network.methodPrefix, !isLayerOne(network)).map((name) => ({
      ...byName.get(aliases.get(name) ?? name),
      name,
    })),
    components,
  };
});
