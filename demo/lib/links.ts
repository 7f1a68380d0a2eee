import { PUBLISHED } from '../../scripts/lib/published.mjs';

const REPOSITORY = 'https://github.com/plumbline-l2/plumbline';

/** Where to read on. `npm run site` puts the documents beside the page, and index.html says so; what is not published is no link. */
export function readOn(): { readonly name: string; readonly href: string }[] {
  const documents = document.querySelector<HTMLLinkElement>('link[rel="help"]')?.href;
  return [
    ...(documents === undefined ? [] : [{ name: 'Documents', href: documents }]),
    ...(PUBLISHED.github ? [{ name: 'Source', href: REPOSITORY }] : []),
  ];
}
