/** Text that is the same for equal plain data with members in the same order, bytes and bigints included. */
export function textOf(data: unknown): string {
  return JSON.stringify(data, (_, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Uint8Array ? Array.from(value) : value;
  });
}
