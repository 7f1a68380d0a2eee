import { afterAll } from 'vitest';

/**
 * Before each file of tests. Files of one process share its globals: a file that removes or replaces one, and does not put it back, makes
 * others fail that run after it, which files depends on the machine. This names the file that did it.
 */
const before = Object.getOwnPropertyDescriptors(globalThis);

/** What @hono/node-server replaces by its own when the first server is made, for as long as the process runs. */
const OF_HONO = ['Request', 'Response'];

afterAll(() => {
  const after = Object.getOwnPropertyDescriptors(globalThis) as Record<string, PropertyDescriptor | undefined>;
  const changed = Object.entries<PropertyDescriptor>(before).filter(([name, { value, get }]) => {
    if (OF_HONO.includes(name)) return false;
    const now = after[name];
    // Node makes some of its own when they are first read: a getter before, a value then.
    return get === undefined ? !Object.is(now?.value, value) : now === undefined;
  });
  if (changed.length > 0) throw new Error(`globals that this file did not put back: ${changed.map(([name]) => name)}`);
});
