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
