import type { Accept, EndpointGroup, RequestOptions } from '../../upstream/group.js';

/** Thrown by no one but here: the endpoint has nothing, another may. */
class Nothing extends Error {}

/**
 * Asks one endpoint after the other until one has what is asked for: that there is none is not believed of one alone.
 *
 * @param accept - gives undefined where the endpoint has nothing
 * @returns undefined when every endpoint that answers has nothing
 * @throws PlumblineError of the endpoints; what `accept` throws
 */
export async function firstThatHas<T>(
  group: EndpointGroup,
  method: string,
  params: readonly unknown[],
  { accept, ...options }: RequestOptions & { readonly accept: Accept<unknown, T | undefined> },
): Promise<T | undefined> {
  try {
    return await group.request(method, params, {
      ...options,
      accept: async (answer, from) => {
        const value = await accept(answer, from);
        if (value === undefined) throw new Nothing(`${from.origin} has nothing`);
        return value;
      },
    });
  } catch (error) {
    if (error instanceof Nothing) return undefined;
    throw error;
  }
}
