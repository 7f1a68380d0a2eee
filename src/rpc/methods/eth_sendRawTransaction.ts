import { bytesToHex } from '../../primitives/hex.js';
import { parseBytes } from '../parsing/parse-params.js';
import { defineMethod } from './context.js';

export const eth_sendRawTransaction = defineMethod('eth_sendRawTransaction', async ({ chain }, [raw], call) => {
  return bytesToHex(await chain.submit(parseBytes(raw, 'transaction', 'transaction params'), call));
});
