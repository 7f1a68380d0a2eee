/**
 * Tables of options, as plain data. A row says what an option is, whether it is needed, and its default; the checks of
 * `hosts/options/require-known.ts` and the settings of a chain follow from it. The compiler holds a table and the type of the same options
 * together.
 */

/** Forms of a value by name, and the type of the values that have the form. Those without a type have code of their own. */
export interface OptionForms {
  any: unknown;
  text: string;
  flag: boolean;
  /** A whole number, zero or above. */
  count: number;
  wholeAboveZero: number;
  aboveZero: number;
  notNegative: number;
  bytes: Uint8Array;
  hex: string;
  object: object;
  function: (...args: never) => unknown;
  texts: readonly string[];
  textsByName: Readonly<Record<string, string | undefined>>;
  textListsByName: Readonly<Record<string, readonly string[] | undefined>>;
  endpoints: readonly (string | object)[];
  layerOne: unknown;
  profile: { readonly chainId: number };
  prices: object;
  /** Accounts of a devnet, by address. */
  accounts: object;
  /** Accounts with their private keys. */
  keys: readonly { readonly address: string; readonly privateKey: string }[];
  mining: unknown;
  fork: unknown;
  chain: unknown;
  chains: readonly object[];
  dictionary: unknown;
  provider: object;
  worker: unknown;
  scriptUrl: unknown;
  store: object;
  clock: object;
  http: object;
}

/** What a value may be: a form by its name, one of some values, or an object with the options of a table. */
export type OptionForm<Value> =
  | { [Name in keyof OptionForms]: [Value] extends [OptionForms[Name]] ? Name : never }[keyof OptionForms]
  | readonly Value[]
  | ([Value] extends [object] ? TableOf<Value> : never);

/** A row of a table. `or` is the default, or the function that finds it in the other options. */
type OptionRow<Value, Options> = { readonly is: OptionForm<Exclude<Value, undefined>> } & (undefined extends Value
  ? { readonly or?: Exclude<Value, undefined> | ((options: Options) => Exclude<Value, undefined>) }
  : { readonly needed: true });

/** The rows of all members of `Options`. */
export type TableOf<Options> = {
  readonly [Name in keyof Options]-?: OptionRow<Options[Name], Options>;
};

/** A table, whatever its options are. */
export type AnyTable = Readonly<
  Record<string, { readonly is: unknown; readonly needed?: true; readonly or?: unknown }>
>;

/** Names of the options of a table that have a default. */
type Defaulted<Table> = {
  [Name in keyof Table]: Table[Name] extends { readonly or: unknown } ? Name : never;
}[keyof Table];

/** Options with the defaults of their table. */
export type WithDefaults<Options, Table> = Omit<Options, Defaulted<Table>> &
  Required<Pick<Options, Defaulted<Table> & keyof Options>>;

/** The options, with the default of each one that is left out. */
export function withDefaults<Options extends object, Table extends AnyTable>(
  table: Table,
  options: Options,
): WithDefaults<Options, Table> {
  const filled = { ...options } as Record<string, unknown>;
  for (const name in table) {
    const { or } = table[name]!;
    if (or !== undefined) filled[name] ??= typeof or === 'function' ? or(options) : or;
  }
  return filled as WithDefaults<Options, Table>;
}

/** Names of the options that are lists of endpoints. */
export function endpointLists(table: AnyTable): string[] {
  return Object.keys(table).filter((name) => table[name]!.is === 'endpoints');
}
