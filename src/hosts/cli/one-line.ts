/** Anything but printable ASCII: other text may move the cursor, change its direction or look like another text. */
const OTHERS = /[^\x20-\x7e]/gu;

/** Text of others as a part of one line of a terminal: other characters are escaped, a long one is cut. */
export function oneLine(text: string, length = 120): string {
  const plain = text
    .slice(0, length + 1)
    .replace(OTHERS, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  return text.length > length ? `${plain.slice(0, length)}...` : plain;
}
