import { sha256 } from '@noble/hashes/sha2.js';
import { describe, expect, it } from 'vitest';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import {
  decodeHeader,
  encodeHeader,
  isEmptyRoot,
  PageReader,
  PageWriter,
  readKeys,
  readLeaves,
  readNextFreeNode,
  readRow,
  type StoredLeaf,
  writeKeys,
  writeLeaves,
} from '../../src/state/page-format.js';

const word = (byte: number) => new Uint8Array(32).fill(byte);
const corrupt = (key: string, reason: string) =>
  expect.objectContaining({
    code: 'STORE_CORRUPT',
    message: `stored state, page ${key}: ${reason}`,
    details: { table: 'state', reason: `page ${key}: ${reason}` },
  });
/** A page that is read back. */
const page = (write: (writer: PageWriter) => unknown, key = '3/5/0') => {
  const writer = new PageWriter();
  write(writer);
  return new PageReader(key, writer.seal(key));
};

describe('a page', () => {
  it('is its version, its content, and eight bytes of a SHA-256 over its key and these', () => {
    const sealed = new PageWriter().u8(7).u32(0x01020304).put(word(9)).seal('some/key');
    const content = concatBytes(Uint8Array.of(1, 7, 1, 2, 3, 4), word(9));
    const digest = sha256(concatBytes(new TextEncoder().encode('some/key\n'), content));
    expect(sealed).toEqual(concatBytes(content, digest.subarray(0, 8)));
  });

  it('grows with what is written', () => {
    const parts = Array.from({ length: 200 }, (_, i) => word(i % 256));
    const read = page((writer) => {
      for (const part of parts)
        writer
          .put(part)
          .u8(1)
          .u32(2 ** 32 - 1);
    });
    for (const part of parts) expect([read.take(32), read.u8(), read.u32()]).toEqual([part, 1, 2 ** 32 - 1]);
    expect(() => read.finish()).not.toThrow();
  });

  it('is refused if it is missing, damaged, too short or too long', () => {
    expect(() => new PageReader('k', undefined)).toThrow(corrupt('k', 'missing'));
    for (const length of [0, 8]) {
      expect(() => new PageReader('k', new Uint8Array(length))).toThrow(
        corrupt('k', 'damaged, its checksum does not match'),
      );
    }
    const sealed = new PageWriter().u8(1).seal('k');
    expect(() => new PageReader('other', sealed)).toThrow(corrupt('other', 'damaged, its checksum does not match'));
    for (const at of sealed.keys()) {
      const damaged = sealed.slice();
      damaged[at]! ^= 1;
      expect(() => new PageReader('k', damaged)).toThrow(corrupt('k', 'damaged, its checksum does not match'));
    }
    const read = new PageReader('k', sealed);
    expect(read.left).toBe(1);
    expect(() => read.take(2)).toThrow(corrupt('k', 'too short'));
    expect(() => read.finish()).toThrow(corrupt('k', 'too long'));
    expect([read.u8(), read.left]).toEqual([1, 0]);
    expect(() => read.u8()).toThrow(corrupt('k', 'too short'));
    expect(() => read.finish()).not.toThrow();
  });

  it('without content is valid', () => {
    expect(new PageReader('k', new PageWriter().seal('k')).left).toBe(0);
  });

  it('of a later version is refused with what to do', () => {
    const content = Uint8Array.of(2, 5);
    const digest = sha256(concatBytes(new TextEncoder().encode('k\n'), content)).subarray(0, 8);
    expect(() => new PageReader('k', concatBytes(content, digest))).toThrow(
      expect.objectContaining({
        code: 'STORE_TOO_NEW',
        message: 'page k has format 2, this version reads 1; use a newer version of plumbline',
        details: { version: 2, supported: 1 },
      }),
    );
  });
});

describe('the header of a stored state', () => {
  it.each(['mimc', 'poseidon2'] as const)('is read as it was written: %s', (scheme) => {
    for (const block of [0, 5, 2 ** 32, 2 ** 40 + 3]) {
      const header = { scheme, block, root: word(4) };
      expect(decodeHeader(encodeHeader(header))).toEqual(header);
    }
  });

  it('is one byte for the scheme, the block and the root', () => {
    const sealed = encodeHeader({ scheme: 'poseidon2', block: 2 ** 32 + 2, root: word(4) });
    expect(sealed.subarray(0, -8)).toEqual(concatBytes(Uint8Array.of(1, 1, 0, 0, 0, 1, 0, 0, 0, 2), word(4)));
    expect(encodeHeader({ scheme: 'mimc', block: 0, root: word(4) })[1]).toBe(0);
  });

  it('is refused with another scheme or length', () => {
    const header = (write: (writer: PageWriter) => PageWriter) => write(new PageWriter()).seal('state');
    expect(() => decodeHeader(header((writer) => writer.u8(2).u32(0).u32(0).put(word(1))))).toThrow(
      corrupt('state', 'unknown hash scheme'),
    );
    expect(() => decodeHeader(header((writer) => writer.u8(1).u32(0).u32(0).put(word(1)).u8(0)))).toThrow(
      corrupt('state', 'too long'),
    );
    expect(() => decodeHeader(undefined)).toThrow(corrupt('state', 'missing'));
  });
});

describe('the leaves of a block', () => {
  const leaf = { prevLeaf: 1, nextLeaf: 2, hkey: word(3), hval: word(4) };
  const slots: StoredLeaf[] = [
    { position: 0, leaf, stored: undefined },
    { position: 1, leaf, stored: undefined },
    { position: 31, leaf, stored: { value: word(6), hasStorage: false, storageRestarts: false } },
  ];
  const account = (hasStorage: boolean, storageRestarts: boolean) => ({
    value: new Uint8Array(192).fill(7),
    hasStorage,
    storageRestarts,
  });

  it('are read as they were written: slots', () => {
    const read = page((writer) => writeLeaves(writer, 0, slots));
    expect(readLeaves(read, 3, 32, 0)).toEqual(slots);
  });

  it('are a bit for each position in use, then each leaf with its value', () => {
    const read = page((writer) => writeLeaves(writer, 0, slots));
    expect(read.u32()).toBe(0x80000003);
    for (let i = 0; i < 3; i++)
      expect([read.u32(), read.u32(), read.take(64)]).toEqual([1, 2, concatBytes(word(3), word(4))]);
    expect(read.take(32)).toEqual(word(6));
    expect(read.left).toBe(0);
  });

  it.each([
    [false, false, 0],
    [true, false, 1],
    [true, true, 3],
  ])('are read as they were written: accounts, with storage %s, restarting %s', (hasStorage, restarts, flags) => {
    const accounts: StoredLeaf[] = [{ position: 66, leaf, stored: account(hasStorage, restarts) }];
    const write = (writer: PageWriter) => writeLeaves(writer, 64, accounts);
    expect(readLeaves(page(write), 0, 67, 2)).toEqual(accounts);
    const read = page(write);
    expect(read.u32()).toBe(4);
    read.take(8 + 64 + 192);
    expect([read.u8(), read.left]).toEqual([flags, 0]);
  });

  it.each([2, 4, 5, 8])('are refused with the flags %i', (flags) => {
    const read = page(
      (writer) => writer.u32(4).u32(0).u32(0).put(word(1)).put(word(2)).put(account(true, true).value).u8(flags),
      '0',
    );
    expect(() => readLeaves(read, 0, 3, 0)).toThrow(corrupt('0', 'unknown flags'));
  });

  it('are refused after the next free position, or with more bytes', () => {
    const read = () => page((writer) => writeLeaves(writer, 0, slots));
    expect(() => readLeaves(read(), 3, 31, 0)).toThrow(corrupt('3/5/0', 'a leaf after the next free position'));
    const longer = page((writer) => {
      writeLeaves(writer, 0, slots);
      writer.u8(0);
    });
    expect(() => readLeaves(longer, 3, 32, 0)).toThrow(corrupt('3/5/0', 'too long'));
  });
});

describe('other pages', () => {
  it('a row has a hash for each block below', () => {
    const read = () => page((writer) => writer.put(word(1)).put(word(2)));
    expect(readRow(read(), 40, 11, 0)).toEqual([word(1), word(2)]);
    expect(() => readRow(read(), 65, 11, 0)).toThrow(corrupt('3/5/0', 'too short'));
    expect(() => readRow(read(), 32, 11, 0)).toThrow(corrupt('3/5/0', 'too long'));
  });

  it('the next free position is 2 at least, and fits 32 bits', () => {
    const next = (value: number) => readNextFreeNode(page((writer) => writer.u32(value)));
    expect([next(2), next(2 ** 32 - 2)]).toEqual([2, 2 ** 32 - 2]);
    for (const value of [0, 1, 2 ** 32 - 1]) {
      expect(() => next(value)).toThrow(corrupt('3/5/0', 'invalid next free position'));
    }
  });

  it('keys are ascending', () => {
    const entries = [1, 2, 3].map((n) => ({ hkey: word(n), position: n + 5 }));
    const read = (list: typeof entries, more = 0) =>
      readKeys(
        page((writer) => {
          writeKeys(writer, list);
          writer.put(new Uint8Array(more));
        }),
      );
    expect(read(entries)).toEqual(entries);
    expect(read([])).toEqual([]);
    for (const list of [entries.toReversed(), [entries[0]!, entries[0]!]]) {
      expect(() => read(list)).toThrow(corrupt('3/5/0', 'keys out of order'));
    }
    expect(() => read(entries, 35)).toThrow(corrupt('3/5/0', 'too long'));
  });

  it('an empty root is that of the scheme', () => {
    const { emptyRoot } = schemeFormat('mimc');
    expect([isEmptyRoot('mimc', emptyRoot), isEmptyRoot('poseidon2', emptyRoot), isEmptyRoot('mimc', word(0))]).toEqual(
      [true, false, false],
    );
  });
});
