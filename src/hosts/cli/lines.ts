import { styleText } from 'node:util';
import { type ErrorCode, isPlumblineError, messageOf, type PlumblineError } from '../../errors.js';
import { bytesToHex } from '../../primitives/hex.js';
import { ProviderRpcError } from '../provider/provider-error.js';
import { EXIT } from './arguments.js';

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
  console.log(shown(lines, process.stdout));
}

/** Prints lines on standard error. */
export function printErrors(...lines: readonly string[]): void {
  console.error(shown(lines, process.stderr));
}

/** Prints a value as JSON on one line. */
export function printJson(value: unknown): void {
  console.log(JSON.stringify(value).replace(UNSAFE, jsonEscaped));
}

/** How lines begin that a reader looks for, and in which colour a terminal shows that. */
const COLOURS = [
  [/^(?:verified|included|will-be-included|succeeds)\b/, 'green'],
  [/^(?:refused|will-be-refused|could not check|reverted|danger|plumbline(?: [\w-]+)?:)|^ +fails\b/, 'red'],
  [/^(?:will-wait|cannot-tell|warning)\b|^ +(?:WARNING|unknown)\b/, 'yellow'],
  [/^\d\d:\d\d:\d\d\.\d{3}/, 'dim'],
] as const;

/** Lines as they are printed: in colour only on a terminal that has some, and without `NO_COLOR`. */
function shown(lines: readonly string[], stream: NodeJS.WriteStream): string {
  const safe = lines.map((line) => line.replace(UNSAFE, escaped));
  if (!stream.isTTY || !stream.hasColors()) return safe.join('\n');
  const painted = safe.map((line) => {
    const [begins, colour] = COLOURS.find(([pattern]) => pattern.test(line)) ?? [];
    return begins === undefined
      ? line
      : line.replace(begins, (found) => styleText(colour!, found, { validateStream: false }));
  });
  return painted.join('\n');
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

/** The same with the wei: `0.5 ETH (500000000000000000 wei)`. */
export function exactEtherText(wei: bigint | string): string {
  return `${etherText(wei)} (${BigInt(wei)} wei)`;
}

/** Wei per gas, in the unit that reads best: `7 wei`, `0.02 gwei (20000000 wei)`. */
export function priceText(wei: bigint | string): string {
  const value = BigInt(wei);
  return value < 100_000n ? `${value} wei` : `${decimalText(value, 9)} gwei (${value} wei)`;
}

/** Errors that say that something was checked and is false. All others leave it open. */
const CHECKED: readonly ErrorCode[] = [
  'ANSWER_REFUSED',
  'EXECUTION_REVERTED',
  'EXECUTION_FAILED',
  'GAS_ALLOWANCE_EXCEEDED',
  'INSUFFICIENT_FUNDS',
  'UPFRONT_COST_EXCEEDS_BALANCE',
  'TRANSACTION_REJECTED',
  'TRANSACTION_TYPE_UNSUPPORTED',
  'MODULE_LIMIT_EXCEEDED',
  'CALLDATA_TOO_LARGE',
  'SIMULATION_REFUSED',
];

/**
 * Prints why a command has no answer: as text on standard error, or as one JSON object on standard output.
 *
 * @param error - what was thrown, as near to its origin as it is known
 * @returns 1 for something that was checked and is false, 2 for something that could not be checked
 */
export function reportFailure(error: unknown, json: boolean): number {
  if (!isPlumblineError(error) || !CHECKED.includes(error.code)) return reportUnchecked(error, json);
  if (json) printJson({ outcome: 'refused', error: asData(error) });
  else printErrors(`refused: ${error.message}${revertData(error, ', which returned ')}`);
  return EXIT.failed;
}

/** As `reportFailure`, of something that was not checked. @returns 2 */
export function reportUnchecked(error: unknown, json: boolean): number {
  if (json) printJson({ outcome: 'unknown', error: asData(error) });
  else printErrors(`could not check: ${messageOf(error)}`);
  return EXIT.usage;
}

/** What a call that reverted returned. */
function revertData(error: PlumblineError, before: string): string {
  if (!isPlumblineError(error, 'EXECUTION_REVERTED') || error.details.data.length === 0) return '';
  return before + bytesToHex(error.details.data);
}

function asData(error: unknown): unknown {
  const message = messageOf(error);
  if (error instanceof ProviderRpcError) return { code: error.code, message };
  if (!isPlumblineError(error)) return { message };
  const data = revertData(error, '');
  return { code: error.code, message, ...(data !== '' && { data }) };
}
