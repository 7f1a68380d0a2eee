import { isLayerOne } from '../../networks/network.js';
import { aliasesOf, METHOD_INFO, type MethodName, servedMethods } from '../method-info.js';
import { OF_THE_NODE } from '../method-rows.js';
import { defineMethod } from './context.js';
import { CLIENT_VERSION } from './node-info.js';

/** What scripts/build-openrpc.mjs makes: all methods of all kinds of chain. */
interface Described {
  readonly methods: readonly { readonly name: MethodName }[];
  readonly components: object;
}

/** The methods of all kinds of chain, as an OpenRPC document describes them. */
export async function describedMethods(): Promise<Described> {
  // 100 KB of text, and methods that are asked more often are in the same chunk as these.
  const { OPENRPC } = await import('../openrpc.generated.js');
  const { methods, components } = JSON.parse(OPENRPC) as Described;
  return {
    methods: methods.map((method) => {
      const { answers, effect } = METHOD_INFO.l2[method.name];
      return { ...method, paramStructure: 'by-position', 'x-answers': answers, 'x-effect': effect };
    }),
    components,
  };
}

/**
 * The methods of this node as an OpenRPC document.
 *
 * @source https://spec.open-rpc.org/, "Service Discovery Method"
 */
export const rpc_discover = defineMethod<[], object>(
  'rpc.discover',
  OF_THE_NODE,
  async ({ chain: { kind, network } }) => {
    const { methods, components } = await describedMethods();
    const byName = new Map<string, object>(methods.map((method) => [method.name, method]));
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
  },
);
