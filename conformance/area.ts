import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { KernelBuild } from '../src/kernel/contracts.js';

/** What one area reports. A check that throws, or gives a text, has failed; the text says how. */
export interface Report {
  /** Runs one check and counts it. */
  check(name: string, body: () => Promise<string | undefined> | string | undefined): Promise<void>;
  /** Counts one skipped check, with the reason that is printed. */
  skip(name: string, reason: string): void;
  /** Prints a line below the area's own. */
  note(text: string): void;
}

/** The directory of fixtures, and the kernel build to use. */
export interface Material {
  readonly build: Exclude<KernelBuild, 'auto'>;
  has(path: string): boolean;
  /** Names of the files of a folder that match. */
  list(folder: string, pattern: RegExp): string[];
  bytes(path: string): Uint8Array;
  /** Parsed JSON, gunzipped first when the name ends in .gz. */
  json<T>(path: string): T;
}

/** One kind of fixture. It is reported as absent, not as passed, when none of its files is there. */
export interface Area {
  readonly name: string;
  /** Files (exact paths, or folder plus pattern) of which at least one has to exist. */
  files(material: Material): string[];
  run(material: Material, report: Report): Promise<void>;
  /** False for areas that use no kernel: they run once, not once per build. */
  readonly usesKernel: boolean;
  /** A line for every failure, not for the first few alone. */
  readonly showsEveryFailure?: boolean;
}

export function openMaterial(directory: string, build: Exclude<KernelBuild, 'auto'>): Material {
  const at = (path: string) => join(directory, path);
  const bytes = (path: string) => {
    const raw = readFileSync(at(path));
    return new Uint8Array(path.endsWith('.gz') ? gunzipSync(raw) : raw);
  };
  return {
    build,
    has: (path) => existsSync(at(path)),
    list: (folder, pattern) =>
      existsSync(at(folder))
        ? readdirSync(at(folder))
            .filter((name) => pattern.test(name))
            .sort()
            .map((name) => `${folder}/${name}`)
        : [],
    bytes,
    json: <T>(path: string) => JSON.parse(new TextDecoder().decode(bytes(path))) as T,
  };
}

/** A text when the two differ, for `Report.check`. Bigints and numbers print as such. */
export function differs(expected: unknown, actual: unknown): string | undefined {
  const show = (value: unknown) =>
    JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? inner.toString() : inner)) ?? String(value);
  const [wanted, got] = [show(expected), show(actual)];
  return wanted === got ? undefined : `expected ${wanted.slice(0, 300)}, got ${got.slice(0, 300)}`;
}
