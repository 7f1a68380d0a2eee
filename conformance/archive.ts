import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** A regular file of an archive. */
export interface ArchivedFile {
  /** Path in the archive, with `/`. */
  readonly name: string;
  /** The content, decoded as UTF-8 when it is asked for. */
  text(): string;
}

const BLOCK_BYTES = 512;

/** Places in a header. @source POSIX.1-2017 pax, "ustar Interchange Format" */
const NAME = [0, 100] as const;
const SIZE = [124, 136] as const;
const TYPE = 156;
const PREFIX = [345, 500] as const;

/** Types of entries: regular files have `0`, or a zero byte in old archives. */
const REGULAR = '0';
const PAX_RECORDS = 'x';
const GNU_LONG_NAME = 'L';

/**
 * Files of a `.tar.gz`, in its order. Entries that are not regular files are left out.
 *
 * @param archive - its path or its bytes
 * @throws Error when the file cannot be read, is not gzip, or breaks off
 */
export function* archiveFiles(archive: string | Uint8Array): Iterable<ArchivedFile> {
  const bytes = gunzipSync(typeof archive === 'string' ? readFileSync(archive) : archive);
  /** Name of the next file, when an entry of its own gives it. */
  let longName: string | undefined;
  for (let at = 0; at + BLOCK_BYTES <= bytes.length && bytes[at] !== 0; ) {
    const field = ([start, end]: readonly [number, number]) => cut(bytes.toString('utf8', at + start, at + end));
    const size = Number.parseInt(field(SIZE), 8);
    const start = at + BLOCK_BYTES;
    if (!(start + size <= bytes.length)) throw new Error(`the archive breaks off at byte ${at}`);
    const text = () => bytes.toString('utf8', start, start + size);
    const type = bytes[at + TYPE] === 0 ? REGULAR : String.fromCharCode(bytes[at + TYPE]!);
    if (type === GNU_LONG_NAME) longName = cut(text());
    else if (type === PAX_RECORDS) longName = /^\d+ path=(.*)$/m.exec(text())?.[1];
    else {
      const name = longName ?? [field(PREFIX), field(NAME)].filter((part) => part !== '').join('/');
      longName = undefined;
      if (type === REGULAR) yield { name, text };
    }
    at = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
}

/** The part before the first zero byte. */
function cut(field: string): string {
  const end = field.indexOf('\0');
  return end < 0 ? field : field.slice(0, end);
}
