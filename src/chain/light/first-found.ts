import { isPlumblineError, PlumblineError } from '../../errors.js';
import type { Accept, EndpointGroup, UpstreamRequestOptions } from '../../upstream/group.js';

/** Thrown by no one but here: the endpoint has nothing, another may. */
class Nothing extends Error {}

/**
 * Asks one endpoint after the other until one has what is asked for: that there is none is not believed of one alone where
 * another is given.
 *
 * @param options.accept - gives undefined where the endpoint has nothing
 * @param options.agreeing - origins that have to say so before there is nothing, 2 when left out; all where fewer are given
 * @returns undefined when so many have nothing and no other has more
 * @throws PlumblineError `UPSTREAM_UNAVAILABLE` where some have nothing and too few of the others answer; of the endpoints;
 *   what `accept` throws
 */
export async function firstThatHas<T>(
  group: EndpointGroup,
  method: string,
  params: readonly unknown[],
  options: UpstreamRequestOptions & { readonly accept: Accept<unknown, T | undefined>; readonly agreeing?: number },
): Promise<T | undefined> {
  const { accept, agreeing = 2, ...rest } = options;
  const without = new Set<string>();
  try {
    return await group.request(method, params, {
      ...rest,
      accept: async (answer, from) => {
        const value = await accept(answer, from);
        if (value !== undefined) return value;
        without.add(from.origin);
        throw new Nothing(`${from.origin} has nothing`);
      },
    });
  } catch (error) {
    if (isPlumblineError(error, 'ABORTED') || rest.signal?.aborted) throw error;
    const origins = [...new Set(group.endpoints.map(({ origin }) => origin))];
    if (without.size >= Math.min(agreeing, origins.length)) return undefined;
    if (!(error instanceof Nothing)) throw error;
    const endpoints = origins
      .filter((origin) => !without.has(origin))
      .map((origin) => ({ origin, kind: 'unavailable', reason: 'did not answer' }) as const);
    const message = `too few endpoints answer to say that there is nothing (${endpoints.map(({ origin }) => origin).join(', ')})`;
    throw new PlumblineError('UPSTREAM_UNAVAILABLE', message, { endpoints });
  }
}
