import { Command as CommanderCommand, CommanderError, Option as CommanderOption } from 'commander';
import { invalidParameter } from '../../errors.js';

/** Exit codes that every command shares; each adds what 1 means. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** One command of the command line. */
export interface Command {
  /** Shown for `--help`: usage, options, exit codes. */
  readonly help: string;
  readonly options: OptionTable;
  /** @returns the exit code. @throws PlumblineError `INVALID_PARAMETER` for arguments that cannot be used */
  run(args: readonly string[]): Promise<number>;
}

interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  readonly default?: string | boolean;
  /** Its value where it is given without one. */
  readonly preset?: string;
  /** What a shell proposes as its value; others may be possible. */
  readonly values?: readonly string[];
}

/** Options by their long names. */
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
  const command = parser().argument('[argument...]');
  const added = Object.entries(options).map(([name, option]) => {
    const one = commanderOption(name, option, options);
    command.addOption(one);
    return [name, one.attributeName()] as const;
  });
  parsed(() => command.parse(args, { from: 'user' }));
  const values = Object.fromEntries(added.map(([name, attribute]) => [name, command.getOptionValue(attribute)]));
  return { values, positionals: command.args } as unknown as Arguments<Options>;
}

/** It prints nothing and ends nothing: what it would say is thrown. */
const parser = () =>
  new CommanderCommand()
    .helpOption(false)
    .exitOverride()
    .configureOutput({ writeErr() {} });

function commanderOption(name: string, option: Option, all: OptionTable): CommanderOption {
  if (option.type === 'boolean') return new CommanderOption(`--${name}`).default(option.default);
  const value = option.preset === undefined ? '<value>' : '[value]';
  const one = new CommanderOption(`--${name} ${value}`).default(option.default).preset(option.preset);
  return one.argParser((value: string, before: readonly string[] | string | undefined) => {
    // A value that was forgotten would take the next option in its place.
    if (value.startsWith('--') && Object.hasOwn(all, value.slice(2)))
      throw invalidParameter('arguments', `option --${name} has no value: ${value} follows it`);
    return option.multiple === true ? [...(before ?? []), value] : value;
  });
}

/** @throws PlumblineError `INVALID_PARAMETER` with commander's words */
function parsed(parse: () => void): void {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw invalidParameter('arguments', error.message.replace(/^error: /, '').replaceAll('\n', ' '));
  }
}

/** Says that there is no such command, and which was meant: `unknown command 'serv' (Did you mean serve?)`. */
export function unknownCommand(name: string, names: readonly string[]): string {
  const program = parser();
  for (const known of names) program.command(known);
  try {
    program.parse([name], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    throw error;
  }
  return `unknown command '${name}'`;
}

/** @returns undefined where the option was left out. @throws PlumblineError `INVALID_PARAMETER` */
export function integer(option: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw invalidParameter(`--${option}`, `must be an integer from ${least} to ${most}, got ${text}`);
}
