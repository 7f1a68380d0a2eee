/** Which chunks of a bundle are loaded together: what a bundler made of modules by itself says who uses which. */

/**
 * @param output - what rolldown makes of some entries by itself
 * @returns its chunks by name; the modules of one; and the chunks that are loaded with the modules of given ends of paths
 */
export function closuresIn(output) {
  const chunks = new Map(output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const modules = new Map(
    [...chunks.values()].map((chunk) => [chunk, chunk.moduleIds.map((id) => id.replaceAll('\\', '/'))]),
  );

  function closure(ends) {
    const found = new Set();
    const follow = (name) => {
      const chunk = chunks.get(name);
      if (chunk === undefined || found.has(chunk)) return;
      found.add(chunk);
      for (const imported of chunk.imports) follow(imported);
    };
    for (const end of ends) {
      const chunk = [...chunks.values()].find((one) => modules.get(one).some((id) => id.endsWith(end)));
      if (chunk === undefined) throw new Error(`${end} is in no chunk`);
      follow(chunk.fileName);
    }
    return found;
  }
  return { chunks, modulesOf: (chunk) => modules.get(chunk), closure };
}

/**
 * Throws if chunks of a bundle import one another in a circle: what one of them needs as it is evaluated may then not be there yet.
 *
 * @param output - what rolldown writes
 */
export function requireNoCircle(output) {
  const chunks = new Map(output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const done = new Set();
  const visit = (name, above) => {
    if (above.includes(name))
      throw new Error(`chunks in a circle: ${[...above.slice(above.indexOf(name)), name].join(' > ')}`);
    if (done.has(name) || !chunks.has(name)) return;
    for (const imported of chunks.get(name).imports) visit(imported, [...above, name]);
    done.add(name);
  };
  for (const name of chunks.keys()) visit(name, []);
}
