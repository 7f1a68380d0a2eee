/** Depth up to which JSON is parsed. Requests and answers of this library nest up to 10 deep. */
export const MAX_JSON_DEPTH = 256;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether arrays and objects of a JSON text are nested deeper than the limit. `JSON.parse` returns such a value, but what
 * walks through it then, such as `JSON.stringify` and `structuredClone`, runs out of stack. One pass; strings are skipped. It
 * does not check that the text is JSON.
 */
export function isDeeperThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > limit) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return false;
}

/** Index of the quote that ends a string; the end of the text for one without an end. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}
