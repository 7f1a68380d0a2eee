import type { Hex } from '../../primitives/hex.js';
import { bytesToHex } from '../../primitives/hex.js';
import { SENDS_RAW } from '../method-rows.js';
import { parseBytes } from '../parse-params.js';
import { defineMethod } from './context.js';

export const eth_sendRawTransaction = defineMethod<[transaction: Hex], Hex>(
  'eth_sendRawTransaction',
  SENDS_RAW,
  async ({ chain }, [raw], call) => {
    return bytesToHex(await chain.submit(parseBytes(raw, 'transaction', 'transaction params'), call));
  },
);
