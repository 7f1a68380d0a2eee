export function composeDictionary(): Uint8Array;
/** Writes src/fees/general.generated.ts; gives the dictionary's length. */
export function buildDictionary(): Promise<number>;
