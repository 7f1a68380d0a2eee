import { INITIAL_BASE_FEE } from '../../../ethereum/base-fee.js';
import { EMPTY_REQUESTS_HASH, EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from '../../../ethereum/constants.js';
import type { BlockHeader } from '../../../ethereum/header.js';
import { rulesAt } from '../../../evm/common.js';
import { encodeExtraData } from '../../../fees/extra-data.js';
import type { Prices } from '../../../fees/prices.js';
import type { Network } from '../../../networks/network.js';
import { ZERO_WORD } from '../../../primitives/bytes.js';
import type { Block } from '../../block.js';
import { type BlockRecord, blockWithHash } from '../records/block-record.js';
import type { DevnetState } from './devnet-state.js';
import { type GenesisAlloc, type GenesisHeader, genesisChanges } from './genesis.js';

/** Settings that determine block 0 of a devnet. */
export interface GenesisSettings {
  readonly network: Network;
  readonly alloc: GenesisAlloc;
  /** Seconds. Part of the chain's identity. */
  readonly genesisTimestamp: number;
  /** Header of the genesis block; the devnet's own if undefined. */
  readonly genesisHeader?: GenesisHeader | undefined;
  /** Prices in each header; undefined for none. */
  readonly prices: Prices | undefined;
  /** Receives the priority fees, 20 bytes. */
  readonly coinbase: Uint8Array;
  /**
   * Reports the progress of opening: share of genesis accounts, stored blocks or stored state that is loaded, 0 to 1. A
   * stored state is loaded after the devnet has opened.
   */
  readonly onProgress: ((stage: 'genesis' | 'blocks' | 'state', fraction: number) => void) | undefined;
}

function devnetHeader(settings: GenesisSettings): GenesisHeader {
  return {
    parentHash: ZERO_WORD,
    coinbase: settings.coinbase,
    difficulty: 0n,
    gasLimit: settings.network.blockGasLimit,
    gasUsed: 0n,
    timestamp: settings.genesisTimestamp,
    extraData: settings.prices === undefined ? new Uint8Array(0) : encodeExtraData(settings.prices),
    mixHash: ZERO_WORD,
    nonce: new Uint8Array(8),
    baseFeePerGas: settings.network.baseFeePerGas,
  };
}

/** Applies the genesis accounts to an empty state and builds block 0. */
export async function sealGenesis(settings: GenesisSettings, state: DevnetState): Promise<BlockRecord> {
  const changes = genesisChanges(settings.alloc);
  const { stateRoot, zkRoot } = await state.load(changes, (fraction) => settings.onProgress?.('genesis', fraction));
  return { block: genesisBlock(settings, stateRoot), receipts: [], changes, zkRoot };
}

/** Block 0. @param stateRoot - ordinary state root of the genesis accounts, 32 bytes */
export function genesisBlock(settings: GenesisSettings, stateRoot: Uint8Array): Block {
  const given = settings.genesisHeader ?? devnetHeader(settings);
  const rules = rulesAt(settings.network, 0, given.timestamp);
  const header: BlockHeader = {
    parentHash: given.parentHash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    miner: given.coinbase,
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: given.difficulty,
    number: 0,
    gasLimit: given.gasLimit,
    gasUsed: given.gasUsed,
    timestamp: given.timestamp,
    extraData: given.extraData,
    mixHash: given.mixHash,
    nonce: given.nonce,
    ...(rules.london && { baseFeePerGas: given.baseFeePerGas ?? INITIAL_BASE_FEE }),
    ...(rules.shanghai && { withdrawalsRoot: EMPTY_TRIE_ROOT }),
    ...(rules.cancun && {
      blobGasUsed: given.blobGasUsed ?? 0n,
      excessBlobGas: given.excessBlobGas ?? 0n,
      parentBeaconBlockRoot: ZERO_WORD,
    }),
    ...(rules.prague && { requestsHash: EMPTY_REQUESTS_HASH }),
  };
  return blockWithHash({ header, transactions: [], uncles: [], withdrawals: [] });
}
