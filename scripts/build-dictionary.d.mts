export function composeDictionary(): Uint8Array;
/** Writes src/dictionary/general.generated.ts; gives the dictionary's length. */
export function buildDictionary(): Promise<number>;
