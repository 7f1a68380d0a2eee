import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory outside the repository for the packed package and the projects that have it, removed after the run. */
    packagingDirectory: string;
  }
}

/** Before a run of vitest: names the directory. Nothing is packed before a test asks for it. */
export default function setup(project: TestProject): () => Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'plumbline-packaging-'));
  project.provide('packagingDirectory', directory);
  return () => rm(directory, { recursive: true, force: true });
}
