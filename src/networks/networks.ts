import { devnet } from './devnet.js';
import { ethereum, hoodi, sepolia } from './ethereum.js';
import { linea, lineaSepolia } from './linea.js';
import type { Network } from './network.js';
import type { EndpointProvider } from './providers.js';

/** A network that plumbline knows by name. */
export type NetworkName = 'linea' | 'linea-sepolia' | 'ethereum' | 'sepolia' | 'hoodi' | 'devnet';

/**
 * The networks that plumbline knows, by the names of their profiles. The command line, the demo and the tests read this
 * table. `devnet` is the embedded development network with its defaults.
 */
export const NETWORKS: { readonly [Name in NetworkName]: Network } = {
  linea,
  'linea-sepolia': lineaSepolia,
  ethereum,
  sepolia,
  hoodi,
  devnet: devnet(),
};

/**
 * Operators of endpoints, with what their pages say of what a node needs (docs/providers.md). None is a default: who answers sees what is
 * asked, and from where. Nobody of this project has tried them.
 *
 * @example
 * ```ts
 * import { endpointProviders } from 'plumbline-l2';
 *
 * const choices = (await endpointProviders()).flatMap(({ operator, urls, key }) =>
 *   urls.linea === undefined ? [] : [{ operator, url: urls.linea.value, needsKey: key?.value }],
 * );
 * choices[0]?.operator; // => 'Linea, public'
 * ```
 */
export async function endpointProviders(): Promise<readonly EndpointProvider[]> {
  return (await import('./providers.js')).ENDPOINT_PROVIDERS;
}
