/** Paths from a JSON document to what is put there, such as `a.b[0].c`. An undefined value takes a member away. */
export type Changes = Readonly<Record<string, unknown>>;

/** A copy of a JSON document with these changes. */
export function changed<T>(json: T, changes: Changes): T {
  const copy = structuredClone(json);
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split(/[.[\]]+/).filter((name) => name !== '');
    const last = names.pop()!;
    const parent = names.reduce((at: Record<string, unknown>, name) => at[name] as never, copy as never);
    parent[last] = value;
  }
  return copy;
}
