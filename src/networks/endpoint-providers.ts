import type { EndpointProvider } from './providers.js';

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
