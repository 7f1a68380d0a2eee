import { isPlumblineError, PlumblineError } from '../../errors.js';
import type { AnswerValidator, EndpointGroup, UpstreamRequestOptions } from '../../upstream/group.js';

/** The endpoint does not have it, another one may. It never leaves this file. */
class NotFound extends Error {}

/**
 * Asks one endpoint after the other until one has what is requested. Absence cannot be proved, so it takes several origins.
 *
 * @param options.accept - returns undefined if the endpoint does not have it
 * @param options.agreeing - origins that must not have it, 2 by default; all origins if there are fewer
 * @returns undefined if that many origins do not have it and no other endpoint does
 * @throws PlumblineError `UPSTREAM_UNAVAILABLE` if too few origins answered; of the endpoints; what `accept` throws
 */
export async function requestFirstFound<T>(
  group: EndpointGroup,
  method: string,
  params: readonly unknown[],
  options: UpstreamRequestOptions & {
    readonly accept: AnswerValidator<unknown, T | undefined>;
    readonly agreeing?: number;
  },
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
        throw new NotFound(`${from.origin} does not have it`);
      },
    });
  } catch (error) {
    if (isPlumblineError(error, 'ABORTED') || rest.signal?.aborted) throw error;
    const origins = [...new Set(group.endpoints.map(({ origin }) => origin))];
    if (without.size >= Math.min(agreeing, origins.length)) return undefined;
    if (!(error instanceof NotFound)) throw error;
    const endpoints = origins
      .filter((origin) => !without.has(origin))
      .map((origin) => ({ origin, kind: 'unavailable', reason: 'did not answer' }) as const);
    const silent = endpoints.map(({ origin }) => origin).join(', ');
    const message = `too few endpoints answered to tell that it does not exist; no answer from ${silent}`;
    throw new PlumblineError('UPSTREAM_UNAVAILABLE', message, { endpoints });
  }
}
