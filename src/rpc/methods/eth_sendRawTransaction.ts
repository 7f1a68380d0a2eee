import type { Hex } from '../../primitives/hex.js';
import { bytesToHex } from '../../primitives/hex.js';
import { parseBytes } from '../parsing/parse-params.js';
import { SENDS_RAW } from '../protocol/method-rows.js';
import { defineMethod } from './context.js';

export const eth_sendRawTransaction = defineMethod<[transaction: Hex], Hex>(
  'eth_sendRawTransaction',
  SENDS_RAW,
  async ({ chain }, [raw], call) => {
    return bytesToHex(await chain.submit(parseBytes(raw, 'transaction', 'transaction params'), call));
  },
);
