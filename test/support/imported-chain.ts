import { RLP } from '@ethereumjs/rlp';
import { Devnet } from '../../src/chain/devnet/devnet.js';
import { parseGenesis } from '../../src/chain/devnet/state/genesis-json.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import type { PageStore } from '../../src/store/page-store.js';
import { fixtureBytes, fixtureJson } from './fixtures.js';
import { zkEngine } from './world-state.js';

/** Head of `chain.rlp`, from `headfcu.json` (docs/spec/json-rpc.md 8). */
export const IMPORTED_HEAD = '0xd226371d0b1551adb03fb52b71f08e3e11247fe9b1af994768af8cdaa8e7dcd7';

export const chainRlp = (): Uint8Array => fixtureBytes('execution-apis/chain.rlp');

/** A devnet on the genesis of the execution-apis suite. It seals when told to. */
export async function openOnGenesis(store?: PageStore, now = 1000): Promise<Devnet> {
  const { network, alloc, header } = parseGenesis(fixtureJson('execution-apis/genesis.json'));
  return Devnet.open({
    network,
    alloc,
    genesisHeader: header,
    zk: await zkEngine('poseidon2'),
    genesisTimestamp: 0,
    mining: 'manual',
    finality: {},
    prices: undefined,
    coinbase: hexToBytes('0xc01ba5e000000000000000000000000000059139'),
    now: () => now,
    store,
    onProgress: undefined,
  });
}

export type Item = Uint8Array | Item[];
/** Header, transactions, uncles, and withdrawals from Shanghai on. */
export type BlockItems = [Uint8Array[], Item[], Uint8Array[][], Uint8Array[][]?];

/** The blocks of an RLP file, taken apart by @ethereumjs/rlp alone. */
export function blockItems(bytes: Uint8Array): BlockItems[] {
  const blocks: BlockItems[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const { data, remainder } = RLP.decode(rest, true);
    blocks.push(data as BlockItems);
    rest = remainder;
  }
  return blocks;
}

/** The other way. */
export function rlpOf(blocks: readonly BlockItems[]): Uint8Array {
  return concatBytes(...blocks.map((block) => RLP.encode(block as Item[])));
}
