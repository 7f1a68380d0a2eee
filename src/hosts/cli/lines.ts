/** Anything but printable ASCII: other text may move the cursor, change its direction or look like another text. */
const OTHERS = /[^\x20-\x7e]/gu;
/** What begins a line, moves the cursor, changes the direction of text, is not seen, or is no character. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string) => `\\u{${character.codePointAt(0)!.toString(16)}}`;
/** In JSON, which has such characters only within strings. */
const jsonEscaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');

/** Text of others as a part of one line of a terminal: other characters are escaped, a long one is cut. */
export function oneLine(text: string, length = 120): string {
  const plain = text.slice(0, length + 1).replace(OTHERS, escaped);
  return text.length > length ? `${plain.slice(0, length)}...` : plain;
}

/*
 * Everything that a command prints goes through these three. Words of endpoints, contracts, files and arguments are in it, so one
 * argument is one line, whatever is in it.
 */

/** Prints lines. */
export function printLines(...lines: readonly string[]): void {
  console.log(shown(lines));
}

/** Prints lines on standard error. */
export function printErrors(...lines: readonly string[]): void {
  console.error(shown(lines));
}

/** Prints a value as JSON on one line. */
export function printJson(value: unknown): void {
  console.log(JSON.stringify(value).replace(UNSAFE, jsonEscaped));
}

function shown(lines: readonly string[]): string {
  return lines.map((line) => line.replace(UNSAFE, escaped)).join('\n');
}

/** An amount of `decimals` places as decimal text, without zeros at its end: `1500`, 3 gives `1.5`. */
export function decimalText(amount: bigint | string, decimals: number): string {
  const value = BigInt(amount);
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  return `${value < 0n ? '-' : ''}${whole}${fraction.replace(/0+$/, '').replace(/^(?=.)/, '.')}`;
}

/** Wei as ether: `0.5 ETH`. */
export function etherText(wei: bigint | string): string {
  return `${decimalText(wei, 18)} ETH`;
}

/** Wei per gas, in the unit that reads best: `7 wei`, `0.02 gwei`. */
export function priceText(wei: bigint | string): string {
  const value = BigInt(wei);
  return value < 100_000n ? `${value} wei` : `${decimalText(value, 9)} gwei`;
}
