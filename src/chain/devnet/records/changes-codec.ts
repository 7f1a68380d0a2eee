import { RLP } from '@ethereumjs/rlp';
import type { AccountChange } from '../../../evm/state-overlay.js';
import type { Account } from '../../../evm/state-reader.js';
import { bigIntToMinimalBytes, bytesToBigInt } from '../../../primitives/bytes.js';
import { encodedList } from '../../../primitives/rlp-list.js';

type Item = Uint8Array | Item[];

const account = (value: Account | undefined): Item[] =>
  value === undefined ? [] : [bigIntToMinimalBytes(value.nonce), bigIntToMinimalBytes(value.balance), value.codeHash];

/** Encodes the changes of a block as RLP. */
export function encodeChanges(changes: readonly AccountChange[]): Uint8Array {
  return encodedList(
    changes.map((change) =>
      encodedList([
        ...[
          change.address,
          account(change.before),
          account(change.after),
          Uint8Array.of(change.destroyed ? 1 : 0),
          change.code === undefined ? [] : [change.code],
        ].map((item) => RLP.encode(item)),
        encodedList(change.slots.map(({ key, before, after }) => RLP.encode([key, before, after]))),
      ]),
    ),
  );
}

/** @param encoded - RLP, or its decoded items, as in block records up to format 2 */
export function decodeChanges(encoded: Uint8Array | Item[][]): AccountChange[] {
  return (encoded instanceof Uint8Array ? (RLP.decode(encoded) as Item[][]) : encoded).map(parseChange);
}

function parseChange(item: Item[]): AccountChange {
  const [address, before, after, destroyed, code, slots] = item as [
    Uint8Array,
    Uint8Array[],
    Uint8Array[],
    Uint8Array,
    Uint8Array[],
    Uint8Array[][],
  ];
  return {
    address,
    before: parseAccount(before),
    after: parseAccount(after),
    destroyed: destroyed[0] === 1,
    code: code[0],
    slots: slots.map(([key, old, now]) => ({ key: key!, before: old!, after: now! })),
  };
}

function parseAccount(fields: Uint8Array[]): Account | undefined {
  if (fields.length === 0) return undefined;
  return { nonce: bytesToBigInt(fields[0]!), balance: bytesToBigInt(fields[1]!), codeHash: fields[2]! };
}
