export const REPOSITORY = 'https://github.com/plumbline-l2/plumbline';

/** Where the documents are: index.html says it, and `npm run site` puts them beside the page. */
export function documents(): string {
  return document.querySelector<HTMLLinkElement>('link[rel="help"]')?.href ?? REPOSITORY;
}
