import { describe, expect, it } from 'vitest';
import { archiveFiles } from '../../conformance/archive.js';

/** Folders, a short file, and one whose name is too long for its header; packed by GNU tar 1.34, in two formats. */
const ARCHIVES = {
  gnu:
    'H4sIAAAAAAAAA+3W3QqCMBgG4F3K8AL2Y/uBjroAb8KDCCsU1CiK7qyzbqwldKCEIjSH+T4nExzsw3f7HOPEO+FYrZvR6Y5fnq3RMaHaf2mEnK' +
    'o6LSklZVHUffOG3s8U4ynbV0Xuc413qEapnvxtO3/pNoDLX/gs6mPh+d+iNFrLe+gyIBDGj0W+8/sTGN3/pTBSov9PgXHGN4nbAkmWHzytMdT/' +
    'Y6E6+UttLaGJp3paFp9/c/7zQFh9+cevOh9T5D/6/rdS2hrc/6ZwPW8z+nyELgMAAAAAAAAAAAAAAAB+5AWwUM9tACgAAA==',
  pax:
    'H4sIAAAAAAAAA+3W3QqCMBgG4B13FeIFTDfdhKDzDruFQdIPoaGLpOjOOuvGWmEHGWiCzsL3OZmg8G3fK9uoR3rnG5EQz9Gojp/PjDHBiSP6nx' +
    'ohh1yrzJTP0lTXfdf0vrq4P0E9Rbd5mvRZ49EPGYY1+UeV/DmXJn8rTRx5/mdXuVN2GXoaMBDq7dJk1e8h0H7/5+YEwP5vQ5n/QhXzWC3jLPeS' +
    'zjXt/5yJ9/wDLiOTf2GjAa/8bdT6QSxkzl7p9az8EbpP/ztUF3oydDNGyEbsre9/gfQjifufDadjvHFu16GnAQAAAAAAAAAAAAAAAB25A5FSP4' +
    'sAKAAA',
};

const LONG = `./long/${'n'.repeat(120)}.txt`;

describe('an archive', () => {
  it.each(Object.entries(ARCHIVES))('of format %s gives its files', (_, packed) => {
    const files = [...archiveFiles(Buffer.from(packed, 'base64'))].map(({ name, text }) => [name, text()]);
    expect(files).toEqual([
      ['./a.json', '{"a":1}'],
      [LONG, 'zwei ü'],
    ]);
  });

  it('that is cut is refused', () => {
    const cut = Buffer.from(ARCHIVES.gnu, 'base64').subarray(0, -20);
    expect(() => [...archiveFiles(cut)]).toThrow();
  });
});
