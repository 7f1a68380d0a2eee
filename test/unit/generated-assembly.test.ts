import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test.each(['bls12377', 'bls12377-lanes', 'bls12377-mixed', 'constants'])(
  'what generate-%s.mjs writes is what stands in the repository',
  async (name) => {
    const { files } = (await import(`../../scripts/generate-${name}.mjs`)) as { files: Record<string, string> };
    expect(Object.keys(files).length).toBeGreaterThan(0);
    for (const [path, text] of Object.entries(files)) expect(readFileSync(`${root}/${path}`, 'utf8'), path).toBe(text);
  },
);
