/**
 * Groups for the chunks that no rule of a bundle names: what few calls load, by `import()`. Left alone, each is a file, and so
 * is what any two of them share; bundlers of consumers then emit a hundred files that mostly hold a list of imports.
 */

/** Text of a chunk, before it is minified, from which on it stays a file of its own. */
const ALONE_BYTES = 64_000;
/** Most text of chunks that share a file, before it is minified. */
const MOST_BYTES = 160_000;

/** Text of a group, before it is minified, below which it is loaded for nothing without regret. */
const MINOR_BYTES = 48_000;

/**
 * Chunks share a file if the same kinds of use come to them, and they import the same groups beside those that are there by then,
 * but for minor ones: a call then loads more text, and nothing else. Chunks that import each other stay together, so that no two
 * files import each other.
 *
 * @param chunks - all chunks of the bundle, by name
 * @param groupOf - name of the group of a chunk, undefined where it has none
 * @param common - chunks that every use begins with
 * @param kinds - the chunks that each kind of use begins with
 * @param apart - the chunks of uses that are to load nothing else: of these, chunks share a file only among each other
 * @returns name of a group, by chunk
 */
function restGroups(chunks, groupOf, { common, kinds, apart }) {
  const rest = [...chunks.values()].filter((chunk) => {
    return !chunk.isEntry && chunk.moduleIds.length > 0 && groupOf(chunk) === undefined;
  });
  const bytes = new Map();
  for (const chunk of chunks.values()) {
    const name = groupOf(chunk);
    if (name !== undefined) bytes.set(name, (bytes.get(name) ?? 0) + chunk.code.length);
  }
  const later = kinds.map((kind) => laterThan(kind, common, chunks));
  const keyOf = (chunk) => {
    const users = kinds.filter((_, i) => later[i].has(chunk));
    const there = [...chunks.values()].filter((one) => {
      return common.has(one) || (users.length > 0 && users.every((kind) => kind.has(one)));
    });
    const names = new Set(there.map(groupOf));
    const reached = reachedBy(chunk, chunks, (one) => {
      if (one.isEntry) return one.fileName;
      const name = groupOf(one);
      if (name !== undefined) return names.has(name) || bytes.get(name) < MINOR_BYTES ? undefined : name;
      return one !== chunk && one.code.length >= ALONE_BYTES ? one.fileName : undefined;
    });
    const own = apart.map((use) => Number(use.has(chunk))).join('');
    return `${own} ${users.map((kind) => kinds.indexOf(kind))}: ${reached}`;
  };
  const key = new Map(rest.map((chunk) => [chunk, keyOf(chunk)]));
  const small = rest.filter(({ code }) => code.length < ALONE_BYTES);
  const bins = new Map();
  for (const together of components(small, chunks, (a, b) => key.get(a) === key.get(b))) {
    const more = together.reduce((sum, { code }) => sum + code.length, 0);
    const open = bins.get(key.get(together[0])) ?? [];
    const bin = open.find((one) => one.bytes + more <= MOST_BYTES);
    if (bin === undefined) bins.set(key.get(together[0]), [...open, { bytes: more, chunks: together }]);
    else {
      bin.bytes += more;
      bin.chunks.push(...together);
    }
  }
  const groups = [...bins.values()].flat().map((bin) => bin.chunks);
  // A group of its own for each other chunk, which the bundler may put into an entry otherwise.
  const all = [...groups, ...rest.filter((chunk) => !small.includes(chunk)).map((chunk) => [chunk])];
  const nameOf = (group, i) => (group.length > 1 ? `calls-${i}` : `${group[0].name}-${i}`);
  return new Map(all.flatMap((group, i) => group.map((chunk) => [chunk, nameOf(group, i)])));
}

/** What a use comes to, by imports of any kind, once it began. What all uses begin with leads to all kinds: not followed. */
function laterThan(kind, common, chunks) {
  const found = new Set();
  const follow = (chunk) => {
    if (chunk === undefined || found.has(chunk) || common.has(chunk)) return;
    found.add(chunk);
    for (const name of [...chunk.imports, ...chunk.dynamicImports]) follow(chunks.get(name));
  };
  for (const chunk of kind) follow(chunk);
  return found;
}

/** Names of what comes with a chunk by static imports. @param nameOf - undefined for what does not count */
function reachedBy(chunk, chunks, nameOf) {
  const names = new Set();
  const found = new Set();
  const follow = (one) => {
    if (one === undefined || found.has(one)) return;
    found.add(one);
    const name = nameOf(one);
    if (name !== undefined) names.add(name);
    for (const imported of one.imports) follow(chunks.get(imported));
  };
  follow(chunk);
  return [...names].sort().join(' ');
}

/** Sets of chunks that import each other, of those alike; in the order of their first modules, so that a build repeats. */
function components(some, chunks, areAlike) {
  const of = new Map(some.map((chunk) => [chunk, [chunk]]));
  for (const chunk of some) {
    for (const name of chunk.imports) {
      const imported = chunks.get(name);
      if (!of.has(imported) || !areAlike(chunk, imported) || of.get(chunk) === of.get(imported)) continue;
      const joined = [...of.get(chunk), ...of.get(imported)];
      for (const one of joined) of.set(one, joined);
    }
  }
  const first = ([{ moduleIds }]) => moduleIds[0].replaceAll('\\', '/');
  return [...new Set(of.values())].sort((a, b) => (first(a) < first(b) ? -1 : 1));
}

/**
 * @param output - what rolldown makes of some entries by itself
 * @param names - of the groups that rules made, those with the highest priority first
 * @param groupOf - name of the group of a module, by its path; completed here
 * @param uses - `common`, `kinds` and `apart`, see `restGroups`
 * @returns groups for `codeSplitting`, with those of the chunks that have no rule
 */
export function withRest(output, names, groupOf, uses) {
  const chunks = new Map(output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const path = (id) => id.replaceAll('\\', '/');
  const ruled = ({ moduleIds }) => moduleIds.map((id) => groupOf.get(path(id))).find((name) => name !== undefined);
  const rest = restGroups(chunks, ruled, uses);
  for (const [chunk, name] of rest) for (const id of chunk.moduleIds) groupOf.set(path(id), name);
  const all = [...new Set([...names, ...rest.values()])];
  return all.map((name, i) => ({
    name,
    priority: all.length - i,
    test: (id) => groupOf.get(path(id)) === name,
  }));
}
