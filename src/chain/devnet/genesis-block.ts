import { EMPTY_REQUESTS_HASH, EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from '../../ethereum/constants.js';
import { type BlockHeader, headerHash } from '../../ethereum/header.js';
import { encodeExtraData } from '../../fees/extra-data.js';
import type { Block } from '../chain.js';
import { type BlockRecord, blockBytes } from './block-record.js';
import type { DevnetState } from './devnet-state.js';
import { genesisChanges } from './genesis.js';
import type { DevnetSettings } from './options.js';

const ZERO_WORD = new Uint8Array(32);

/** What every header of the devnet says alike. */
export function constantFields(settings: DevnetSettings) {
  return {
    sha3Uncles: EMPTY_UNCLES_HASH,
    miner: settings.coinbase,
    difficulty: 0n,
    gasLimit: settings.network.blockGasLimit,
    extraData: settings.prices === undefined ? new Uint8Array(0) : encodeExtraData(settings.prices),
    mixHash: ZERO_WORD,
    nonce: new Uint8Array(8),
    withdrawalsRoot: EMPTY_TRIE_ROOT,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: ZERO_WORD,
    requestsHash: EMPTY_REQUESTS_HASH,
  };
}

/** Applies the genesis accounts to an empty state and makes block 0. */
export async function sealGenesis(settings: DevnetSettings, state: DevnetState): Promise<BlockRecord> {
  const changes = genesisChanges(settings.alloc);
  const { stateRoot, zkRoot } = await state.load(changes, (fraction) => settings.onProgress?.('genesis', fraction));
  const header: BlockHeader = {
    ...constantFields(settings),
    parentHash: ZERO_WORD,
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    number: 0,
    gasUsed: 0n,
    timestamp: settings.genesisTimestamp,
    baseFeePerGas: settings.network.baseFeePerGas,
  };
  const block: Block = { header, hash: headerHash(header), transactions: [], size: blockBytes(header, []).length };
  return { block, receipts: [], changes, zkRoot };
}
