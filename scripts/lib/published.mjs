/**
 * Where plumbline can be had besides a clone: the one place that says so. The demo page and the site follow it, test/docs/published.test.ts
 * compares the documents with it, and `npm run release -- --tag` asks for `npm`.
 */
export const PUBLISHED = { npm: false, github: false };

/** What a package manager is told to add; the file is what `npm run pack` makes in a clone. */
export const PACKAGE = PUBLISHED.npm ? 'plumbline-l2' : './plumbline-l2-0.1.0.tgz';
