/** Entry of calldata.wasm: exports only. */
export { dictionaryPointer, indexDictionary } from './calldata/dictionary';
export { lzssBits } from './calldata/lzss';
export { inputPointer } from './calldata/memory';
