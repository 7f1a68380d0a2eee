import type { KernelBuild } from '../src/kernel/contracts.js';
import { type FixtureFiles, openFixtures } from '../test/support/fixtures.js';

/** What one area reports. A check that throws, or gives a text, has failed; the text says how. */
export interface Report {
  /** Runs one check and counts it. */
  check(name: string, body: () => Promise<string | undefined> | string | undefined): Promise<void>;
  /** Counts one skipped check, with the reason that is printed. */
  skip(name: string, reason: string): void;
  /** Prints a line below the area's own. */
  note(text: string): void;
}

/** Fixtures, and the kernel build to use. */
export interface Material extends FixtureFiles {
  readonly build: Exclude<KernelBuild, 'auto'>;
  /**
   * Those that are there of `NAME.json` and `NAME-generated.json`: the second holds cases of the kinds of rows that the
   * first has only from recordings or from publications.
   */
  both(path: string): string[];
  /** Whether a file of many is to be run: its name matches the pattern that the run was given, if any. */
  wants(name: string): boolean;
}

/** One kind of fixture. It is reported as absent, not as passed, when none of its files is there. */
export interface Area {
  readonly name: string;
  /** Files (exact paths, or folder plus pattern) of which at least one has to exist. */
  files(material: Material): string[];
  run(material: Material, report: Report): Promise<void>;
  /** False for areas that use no kernel: they run once, not once per build. */
  readonly usesKernel: boolean;
  /** Everything was recorded by others, so that the repository holds none of it. */
  readonly isOutside?: true;
  /** A line for every failure, not for the first few alone. */
  readonly showsEveryFailure?: boolean;
}

/**
 * @param directories - where to read; of a file that is in several, the first is read
 * @param only - pattern for `wants`
 * @param read - is told the place of each file that is opened
 */
export function openMaterial(
  directories: readonly string[],
  build: Exclude<KernelBuild, 'auto'>,
  only?: RegExp,
  read?: (place: string) => void,
): Material {
  const files = openFixtures(directories, read);
  return {
    build,
    ...files,
    both: (path) => [path, path.replace('.json', '-generated.json')].filter(files.has),
    wants: (name) => only === undefined || only.test(name),
  };
}

/** A text when the two differ, for `Report.check`. Bigints and numbers print as such. */
export function differs(expected: unknown, actual: unknown): string | undefined {
  const show = (value: unknown) =>
    JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? inner.toString() : inner)) ?? String(value);
  const [wanted, got] = [show(expected), show(actual)];
  return wanted === got ? undefined : `expected ${wanted.slice(0, 300)}, got ${got.slice(0, 300)}`;
}
