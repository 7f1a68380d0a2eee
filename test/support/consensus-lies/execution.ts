import type { UntypedMethod } from '../../../src/hosts/provider/provider.js';
import type { ConsensusLie } from '../consensus-liar.js';
import { liesAt } from '../consensus-liar.js';
import type { Stage } from '../consensus-stage.js';
import {
  edited,
  type Json,
  lengthened,
  nudged,
  nulled,
  otherFirst,
  plusOne,
  removed,
  said,
  shortened,
} from '../lie-edits.js';
import { HEADER } from './places.js';

const layerOneBlock = ({ dev }: Stage, number: string): Promise<Json> =>
  dev.l1.request<UntypedMethod>({ method: 'eth_getBlockByNumber', params: [number, false] });

/** Lies about the header of the final block of layer 1. */
const HEADER_LIES: readonly ConsensusLie[] = [
  ...liesAt('header', /^HASH_MISMATCH$/, HEADER, plusOne),
  ...liesAt('header', /^HASH_MISMATCH$|^OTHER_BLOCK$/, ['hash']),
  ...liesAt('header', /^PROOF_MALFORMED$/, [''], nulled, 'null'),
  ...liesAt('header', /^PROOF_MALFORMED$/, ['stateRoot', 'number'], removed, 'left out'),
  {
    name: 'header: another block',
    on: 'header',
    refused: /^OTHER_BLOCK$/,
    tell: (_, stage) => layerOneBlock(stage, '0x9'),
  },
  {
    name: 'header: another block, under the hash that was asked for',
    on: 'header',
    refused: /^HASH_MISMATCH$/,
    tell: async ({ hash }, stage) => ({ ...(await layerOneBlock(stage, '0x9')), hash }),
  },
];

/** Lies about both proofs of the rollup contract. @param slot - the last slot of the answer */
const proofLies = (on: 'current' | 'root', slot: string): readonly ConsensusLie[] => [
  ...liesAt(on, /^NODE_HASH_MISMATCH$/, ['accountProof.0', `${slot}.proof.0`], nudged),
  ...liesAt(on, /^NODE_HASH_MISMATCH$/, [`${slot}.proof.1`], nudged),
  ...liesAt(on, /^NODE_MISSING$/, ['accountProof'], said([]), 'empty'),
  ...liesAt(on, /^NODE_MISSING$/, [`${slot}.proof`], shortened, 'shorter'),
  ...liesAt(on, /^NODE_UNUSED$/, ['accountProof', `${slot}.proof`], lengthened, 'longer'),
  ...liesAt(on, /^NODE_HASH_MISMATCH$/, [`${slot}.proof`], nudged, 'in another order'),
  ...liesAt(on, /^VALUE_MISMATCH$/, ['nonce', 'balance'], said('0x2'), 'another'),
  ...liesAt(on, /^VALUE_MISMATCH$/, ['codeHash', 'storageHash'], otherFirst),
  ...liesAt(on, /^KEY_MISMATCH$/, ['address'], nudged),
  ...liesAt(on, /^KEY_MISMATCH$/, [`${slot}.key`], said(`0x${'77'.repeat(32)}`), 'another'),
  ...liesAt(on, /^VALUE_MISMATCH$/, [`${slot}.value`], said('0x9'), 'another'),
  ...liesAt(on, /^VALUE_MISMATCH$/, [`${slot}.value`], said('0x0'), 'zero'),
  ...liesAt(on, /^SLOT_COUNT_MISMATCH$/, ['storageProof'], shortened, 'with a slot less'),
  ...liesAt(on, /^SLOT_COUNT_MISMATCH$/, ['storageProof'], lengthened, 'with a slot more'),
  ...liesAt(on, /^PROOF_MALFORMED$/, ['accountProof', 'storageProof', `${slot}.value`], removed, 'left out'),
  ...liesAt(on, /^PROOF_MALFORMED$/, [''], nulled, 'null'),
  ...liesAt(on, /^NODE_|^VALUE_|^KEY_/, [`${slot}.proof`], said([]), 'empty'),
  {
    name: `${on}: of another account`,
    on,
    refused: /^KEY_MISMATCH$/,
    tell: (_, { dev }, [, keys, at]) =>
      dev.l1.request({ method: 'eth_getProof', params: [`0x${'11'.repeat(20)}`, keys, at] }),
  },
  {
    name: `${on}: of another account, said to be the contract`,
    on,
    refused: /^NODE_|^VALUE_/,
    async tell(_, { dev }, [address, keys, at]) {
      const other: Json = await dev.l1.request({ method: 'eth_getProof', params: [`0x${'11'.repeat(20)}`, keys, at] });
      return { ...other, address };
    },
  },
  {
    name: `${on}: after another block`,
    on,
    refused: /^NODE_HASH_MISMATCH$/,
    tell: (_, { dev }, [address, keys]) => dev.l1.request({ method: 'eth_getProof', params: [address, keys, '0x9'] }),
  },
  {
    name: `${on}: of other slots`,
    on,
    refused: /^KEY_MISMATCH$/,
    tell: (_, { dev }, [address, keys, at]) =>
      dev.l1.request({ method: 'eth_getProof', params: [address, keys.map(() => `0x${'55'.repeat(32)}`), at] }),
  },
  {
    name: `${on}: of another slot, said to be the one asked for`,
    on,
    refused: /^NODE_|^VALUE_/,
    async tell(answer, { dev }, [address, keys, at]) {
      const others = keys.map(() => `0x${'55'.repeat(32)}`);
      const other: Json = await dev.l1.request({ method: 'eth_getProof', params: [address, others, at] });
      return edited(answer, slot, (own) => ({ ...other.storageProof.at(-1), key: own.key }));
    },
  },
];

/** Lies about layer 1's execution: docs/spec/settled.md 1. */
export const EXECUTION_LIES: readonly ConsensusLie[] = [
  ...HEADER_LIES,
  ...proofLies('current', 'storageProof.0'),
  ...proofLies('root', 'storageProof.1'),
  {
    name: 'root: the value of one slot for the other',
    on: 'root',
    refused: /^NODE_|^VALUE_/,
    tell: (answer) => {
      const [first, second] = answer.storageProof;
      return {
        ...answer,
        storageProof: [
          { ...second, key: first.key },
          { ...first, key: second.key },
        ],
      };
    },
  },
];
