import type { Hex } from 'plumbline-l2';

export interface Decoded {
  readonly name: string;
  readonly args: readonly { readonly name: string; readonly type: string; readonly word: Hex }[];
}

/**
 * What data with a selector says.
 *
 * @param declarations - by selector, such as `transfer(address to, uint256 amount)`; each parameter is one word
 * @returns undefined for other selectors, and where the data is too short
 */
export function decode(declarations: Readonly<Record<string, string>>, data: string): Decoded | undefined {
  const parts = /^(\w+)\((.*)\)$/.exec(declarations[data.slice(2, 10)] ?? '');
  if (parts === null) return undefined;
  const args = parts[2]!.split(', ').filter(Boolean);
  if (data.length < 10 + 64 * args.length) return undefined;
  return {
    name: parts[1]!,
    args: args.map((one, i) => {
      const [type = '', name = ''] = one.split(' ');
      return { name, type, word: `0x${data.slice(10 + 64 * i, 10 + 64 * (i + 1))}` };
    }),
  };
}
