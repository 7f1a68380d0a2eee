import { styleText } from 'node:util';
import { type ErrorCode, isPlumblineError, messageOf, type PlumblineError } from '../../errors.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { OpenProgress } from '../options/options.js';
import { ProviderRpcError } from '../provider/provider-error.js';
import { EXIT } from './arguments.js';

/** Anything but printable ASCII: other text may move the cursor, change its direction or look like another text. */
const OTHERS = /[^\x20-\x7e]/gu;
/** What begins a line, moves the cursor, changes the direction of text, is not seen, or is no character. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Text that has none of these, as most has. An engine takes long to compile `UNSAFE`, and a start prints plain text only. */
const PLAIN = /^[\x20-\x7e]*$/;

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
  const json = JSON.stringify(value);
  console.log(PLAIN.test(json) ? json : json.replace(UNSAFE, jsonEscaped));
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
  const safe = lines.map((line) => (PLAIN.test(line) ? line : line.replace(UNSAFE, escaped)));
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

/** Stages that can take long, in words. */
const STAGES: Partial<Record<OpenProgress['stage'], string>> = {
  genesis: 'reading the genesis',
  blocks: 'importing blocks',
  state: 'building the zk state',
  'layer-one': 'following layer 1',
  sync: 'following the network',
};

/** Between two lines where there is no terminal; what takes less has none. */
const LINE_MS = 5_000;
/** The same of one line that changes. */
const CHANGE_MS = 200;

/** Back to the begin of the line, and all that is in it away. */
const CLEAR = '\r\u001b[K';

/** What a command prints on standard error while a node opens: on a terminal one line that changes, elsewhere a line now and then. */
export class ProgressLines {
  readonly #stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  readonly #now: () => number;
  #printed: number;
  #isShown = false;

  constructor(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr, now = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
    this.#printed = now();
  }

  /** For `onProgress` of a node. */
  readonly report = ({ stage, fraction, block, target }: OpenProgress): void => {
    const words = STAGES[stage];
    const now = this.#now();
    if (words === undefined || now - this.#printed < (this.#stream.isTTY ? CHANGE_MS : LINE_MS)) return;
    this.#printed = now;
    const line = `${words}: ${target === undefined ? `${Math.floor(fraction * 100)} %` : `block ${block} of ${target}`}`;
    if (this.#stream.isTTY) {
      this.#isShown = true;
      this.#stream.write(`${CLEAR}${line}`);
    } else printErrors(line);
  };

  /** Takes the line away: what follows is printed in its place. */
  readonly end = (): void => {
    if (this.#isShown) this.#stream.write(CLEAR);
    this.#isShown = false;
  };
}
