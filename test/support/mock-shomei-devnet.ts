import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { type BlockRecord, decodeBlockRecord } from '../../src/chain/devnet/records/block-record.js';
import { bigIntToMinimalBytes, bytesToBigInt, compareBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import type { PageStore } from '../../src/store/page-store.js';
import { type MockHandler, MockRpcError } from './mock-upstream-replies.js';

type Item = Uint8Array | Item[];
type Change = BlockRecord['changes'][number];

const NONE = new Uint8Array(0);
const int = (value: bigint | number) => bigIntToMinimalBytes(BigInt(value));
const word = (value: Uint8Array) => bigIntToMinimalBytes(bytesToBigInt(value));
const flag = (value: boolean) => (value ? Uint8Array.of(1) : NONE);
/** Storage roots are left out: they matter for accounts recreated without a slot alone. */
const account = (value: Change['before']): Item =>
  value === undefined ? NONE : [int(value.nonce), int(value.balance), NONE, value.codeHash];

/** The trie log of a devnet's block, in the order that Besu writes (docs/spec/state-trie.md 6). */
function trieLogOf({ block, changes }: BlockRecord): Uint8Array {
  const entries = [...changes]
    .sort((a, b) => compareBytes(a.address, b.address))
    .map(({ address, before, after, destroyed, code, slots }): Item[] => [
      address,
      code === undefined ? NONE : [NONE, code, NONE],
      [account(before), account(after), flag(destroyed)],
      slots
        .map((slot): Item[] => [keccak_256(slot.key), word(slot.before), word(slot.after), NONE, word(slot.key)])
        .sort((a, b) => compareBytes(a[0] as Uint8Array, b[0] as Uint8Array)),
    ]);
  return RLP.encode([block.hash, int(block.header.number), ...entries]);
}

/** A node that has the trie logs of the devnet that keeps its blocks in this store. @param spoil - changes a log */
export function devnetLogs(
  store: PageStore,
  chainId: number,
  spoil: (log: Uint8Array, record: BlockRecord) => Uint8Array = (log) => log,
): MockHandler {
  return async (method, params) => {
    if (method !== 'shomei_getTrieLogsByRange') throw new MockRpcError(-32601, 'Method not found');
    const [from, to] = params as [number, number];
    const numbers = Array.from({ length: to - from }, (_, i) => from + i);
    const found = await store.getMany('blocks', numbers);
    return found.flatMap((bytes) => {
      if (bytes === undefined) return [];
      const record = decodeBlockRecord(bytes, chainId);
      const { hash, header } = record.block;
      const log = spoil(trieLogOf(record), record);
      return [{ blockNumber: header.number, blockHash: bytesToHex(hash), trieLog: bytesToHex(log) }];
    });
  };
}
