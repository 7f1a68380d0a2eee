/** Origin of an URL, which is all that errors and events may show of it: no user, password, path or query. */
export function originOf(url: string): string {
  try {
    const { protocol, host } = new URL(url);
    return host === '' ? protocol : `${protocol}//${host}`;
  } catch {
    return 'an invalid URL';
  }
}
