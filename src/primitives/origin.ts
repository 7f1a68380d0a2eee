/** Origin of a URL, without user, password, path and query. Errors and events may contain nothing else of a URL. */
export function originOf(url: string): string {
  try {
    const { protocol, host } = new URL(url);
    return host === '' ? protocol : `${protocol}//${host}`;
  } catch {
    return 'an invalid URL';
  }
}
