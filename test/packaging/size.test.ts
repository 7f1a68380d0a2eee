import { expect, test } from 'vitest';
import { root, run } from './project.js';

/** Most KB, gzip, that each may have, by what its line begins with. With Gloas, Amsterdam and its access lists, and layer 1 as a network. */
const BARS: Readonly<Record<string, number>> = {
  'plumbline-l2/verify': 40,
  'plumbline-l2/verify: finality of layer 1': 38,
  '  our own code of it': 12,
  'plumbline-l2: entry': 20,
  'plumbline-l2/state: apply blocks and prove': 45,
  'plumbline-l2/hash': 20,
  'worker, light node that never executes': 100,
  'worker, light node: first estimate': 135,
  'service worker, with a light node': 195,
  'service worker, with a devnet': 208,
};

test('every entry point is within its budget, and no budget above what was promised', async () => {
  // A budget that is exceeded ends the command with an error.
  const printed = await run(process.execPath, ['scripts/size.mjs'], root);
  for (const [name, most] of Object.entries(BARS)) {
    const line = printed.split('\n').find((text) => text.startsWith(name));
    const [, size, budget] = /([\d.]+) KB gzip of (\d+) KB$/.exec(line ?? '') ?? [];
    expect(Number(size), name).toBeGreaterThan(0);
    expect(Number(budget), name).toBeLessThanOrEqual(most);
    expect(Number(size), name).toBeLessThanOrEqual(most);
  }
});
