import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** Files of fixtures, by path within their folder. A name means the same with `.gz` at its end and without. */
export interface FixtureFiles {
  has(path: string): boolean;
  /** Paths of the files and folders of a folder that match, without `.gz`, in order. */
  list(folder: string, pattern: RegExp): string[];
  /** Where the file is. @throws Error when there is no such file */
  place(path: string): string;
  /** The file's bytes, unpacked. @throws Error when there is no such file */
  bytes(path: string): Uint8Array;
  /** The file's JSON. @throws Error when there is no such file */
  json<T>(path: string): T;
}

/** The repository's root. The tools run compiled, from another depth than the tests, so it is searched for upwards. */
function repositoryRoot(): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'test/fixtures/README.md'))) return at;
  }
  throw new Error('no folder above this file holds test/fixtures/README.md');
}

const root = repositoryRoot();

/** What was generated for plumbline: part of the repository. */
export const OWN_FIXTURES: string = join(root, 'test/fixtures');

/** What was recorded, or made by others: beside the repository, where somebody put it (docs/fixtures.md). */
export const OUTSIDE_FIXTURES: string = join(root, '../shared/fixtures');

/**
 * Where fixtures are read from. A file that is in both folders holds the same rows outside, and perhaps more, so that one
 * is read and no row is read twice; a test compares the two.
 */
export const FIXTURE_DIRECTORIES: readonly string[] = [OUTSIDE_FIXTURES, OWN_FIXTURES];

/** What stays outside the repository: a file of each kind, and what the kind is. */
const OUTSIDE: readonly (readonly [string, string])[] = [
  ['blocks/linea-mainnet-28279154.json', 'recorded Linea blocks'],
  ['headers/headers.json', 'recorded headers'],
  ['state/getproof/mimc-message-service.json', 'recorded state proofs'],
  ['state/traces/mimc-devnet-37.json', 'recorded state traces'],
  ['compression/corpus-1.json', 'recorded transactions'],
  ['compression/dict/25-04-21.bin', 'Linea’s compression dictionaries'],
  ['state/state-root-vectors.json', 'published hash and state vectors'],
  ['execution-apis/chain.rlp', 'the execution-apis suite'],
  ['consensus/mainnet/capella-898.json', 'objects of beacon chains'],
];

/**
 * Fixtures of these directories; of a file that is in several, the first is read.
 *
 * @param opened - is told the place of each file that is opened
 */
export function openFixtures(directories: readonly string[], opened?: (place: string) => void): FixtureFiles {
  const find = (path: string): string | undefined => {
    const name = withoutGz(path);
    const places = directories.flatMap((directory) => [join(directory, name), join(directory, `${name}.gz`)]);
    return places.find((place) => existsSync(place));
  };
  const place = (path: string): string => {
    const found = find(path);
    if (found === undefined) throw new Error(`there is no fixture ${path} (docs/fixtures.md says where to get it)`);
    opened?.(found);
    return found;
  };
  const bytes = (path: string): Uint8Array => {
    const at = place(path);
    const raw = readFileSync(at);
    return new Uint8Array(at.endsWith('.gz') && !path.endsWith('.tar.gz') ? gunzipSync(raw) : raw);
  };
  return {
    has: (path) => find(path) !== undefined,
    list(folder, pattern) {
      const names = directories
        .map((directory) => join(directory, folder))
        .filter((directory) => existsSync(directory))
        .flatMap((directory) => readdirSync(directory).map(withoutGz));
      return [...new Set(names)]
        .filter((name) => pattern.test(name))
        .sort()
        .map((name) => `${folder}/${name}`);
    },
    place,
    bytes,
    json: <T>(path: string) => JSON.parse(new TextDecoder().decode(bytes(path))) as T,
  };
}

function withoutGz(path: string): string {
  return path.replace(/(?<!\.tar)\.gz$/, '');
}

const fixtures = openFixtures(FIXTURE_DIRECTORIES);

/** Whether a fixture is there. Those of the repository are; a test that needs another is skipped where it is not. */
export const hasFixture: (path: string) => boolean = fixtures.has;

export const listFixtures: FixtureFiles['list'] = fixtures.list;

export const fixtureBytes: (path: string) => Uint8Array = fixtures.bytes;

export function fixtureJson<T>(path: string): T {
  return fixtures.json<T>(path);
}

/** One line that says which fixtures are not there and why; undefined where all are. */
export function missingFixtures(): string | undefined {
  const missing = OUTSIDE.filter(([path]) => !hasFixture(path)).map(([, what]) => what);
  if (missing.length === 0) return undefined;
  return `NOTICE: left out, because ../shared/fixtures does not hold them (docs/fixtures.md says where to get them): ${missing.join(', ')}`;
}
