import { parseArgs } from 'node:util';
import { invalidParameter, messageOf } from '../../errors.js';

/** Exit codes that every command shares; each adds what 1 means. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** One command of the command line. */
export interface Command {
  /** Shown for `--help`: usage, options, exit codes. */
  readonly help: string;
  /** @returns the exit code. @throws PlumblineError `INVALID_PARAMETER` for arguments that cannot be used */
  run(args: readonly string[]): Promise<number>;
}

interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  readonly default?: string | boolean;
}

/** Options by their long names, as `parseArgs` of Node takes them. */
export type OptionTable = Readonly<Record<string, Option>>;

type Single<O extends Option> = O['type'] extends 'string' ? string : boolean;
type Value<O extends Option> = O extends { readonly multiple: true } ? Single<O>[] : Single<O>;

/** Parsed arguments. An option without a default may be missing. */
export interface Arguments<Options extends OptionTable> {
  readonly values: {
    readonly [Name in keyof Options]: Options[Name] extends { readonly default: string | boolean }
      ? Value<Options[Name]>
      : Value<Options[Name]> | undefined;
  };
  readonly positionals: readonly string[];
}

/**
 * Splits arguments into options and the rest.
 *
 * @param positionals - how many arguments are not options, at most if they are `optional`, and the name of such an argument
 * @throws PlumblineError `INVALID_PARAMETER`
 */
export function readArguments<Options extends OptionTable>(
  args: readonly string[],
  options: Options,
  positionals: { readonly count: number; readonly optional?: boolean; readonly name: string },
): Arguments<Options> {
  const parsed = split(args, options);
  const { length } = parsed.positionals;
  const isFew = positionals.optional === true && length < positionals.count;
  if (length !== positionals.count && !isFew) {
    const wanted = positionals.count === 0 ? 'no further argument' : `one ${positionals.name}`;
    throw invalidParameter('arguments', `expected ${wanted}, got ${length}`);
  }
  return parsed;
}

function split<Options extends OptionTable>(args: readonly string[], options: Options): Arguments<Options> {
  try {
    // The return type of parseArgs is not exported, so this function names its own.
    const parsed: unknown = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    return parsed as Arguments<Options>;
  } catch (error) {
    throw invalidParameter('arguments', messageOf(error));
  }
}

/** @returns undefined where the option was left out. @throws PlumblineError `INVALID_PARAMETER` */
export function integer(option: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw invalidParameter(`--${option}`, `must be an integer from ${least} to ${most}, got ${text}`);
}
