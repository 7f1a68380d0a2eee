import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** A directory that ends with the tests of a file. */
export function savedFiles() {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plumbline-files-'));
  });
  afterAll(() => rm(directory, { recursive: true }));
  const pathOf = (name: string) => join(directory, name);
  return {
    pathOf,
    /** Writes text, or a value as JSON. @returns the path of the file */
    async saved(name: string, content: unknown): Promise<string> {
      await writeFile(pathOf(name), typeof content === 'string' ? content : JSON.stringify(content));
      return pathOf(name);
    },
  };
}
