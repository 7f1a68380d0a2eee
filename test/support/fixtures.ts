import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../../../shared/fixtures/', import.meta.url));

/** Whether the conformance data stands beside the repository. */
export const fixturesPresent: boolean = existsSync(root);

if (!fixturesPresent) console.warn('NOTICE: ../shared/fixtures is absent, the tests that read it are skipped');

export function fixtureBytes(path: string): Uint8Array {
  const raw = readFileSync(root + path);
  return new Uint8Array(path.endsWith('.gz') ? gunzipSync(raw) : raw);
}

export function fixtureJson<T>(path: string): T {
  return JSON.parse(new TextDecoder().decode(fixtureBytes(path))) as T;
}
