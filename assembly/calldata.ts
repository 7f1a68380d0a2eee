/** Entry of calldata.wasm: the exports, and nothing else. */
export { dictionaryPointer, indexDictionary } from './calldata/dictionary';
export { lzssBits } from './calldata/lzss';
export { inputPointer } from './calldata/memory';
