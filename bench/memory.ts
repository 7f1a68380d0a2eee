import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BenchArea, buildLibrary, type Figure } from './area.js';

const execute = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('./processes/held-memory.js', import.meta.url));

/** How many of each, of which the bytes of one are told; and 60 % of what one took at 87731f84: 4 666 and 2 142 bytes. */
const HELD = { blocks: { count: 10_000, atMost: 2_800 }, accounts: { count: 1_000_000, atMost: 1_285 } };

/** What a devnet holds in memory for each block, each with one transfer, and for each account, in all forms of its state together. */
export const memory: BenchArea = {
  name: 'memory',
  question: 'how much memory does a devnet hold for each block and each account?',
  async run(): Promise<Figure[]> {
    await buildLibrary();
    const figures: Figure[] = [];
    for (const [kind, { count, atMost }] of Object.entries(HELD)) {
      const { stdout } = await execute(process.execPath, [
        '--expose-gc',
        '--max-old-space-size=12000',
        SCRIPT,
        kind,
        String(count),
      ]);
      figures.push({
        name: `a devnet of ${count} ${kind}: each`,
        value: Number(stdout),
        unit: 'bytes',
        bar: { atMost },
      });
    }
    return figures;
  },
};
