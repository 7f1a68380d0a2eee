/** Members of a beacon header. */
export const BEACON = ['slot', 'proposer_index', 'parent_root', 'state_root', 'body_root'];

/** Members of an execution header. */
export const EXECUTION = [
  'parent_hash',
  'fee_recipient',
  'state_root',
  'receipts_root',
  'logs_bloom',
  'prev_randao',
  'block_number',
  'gas_limit',
  'gas_used',
  'timestamp',
  'extra_data',
  'base_fee_per_gas',
  'block_hash',
  'transactions_root',
  'withdrawals_root',
  'blob_gas_used',
  'excess_blob_gas',
];

/** Members of a header of a block of layer 1 that its hash covers. */
export const HEADER = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
  'baseFeePerGas',
];

/** Those that layer 2 has too, besides. */
export const LATER_HEADER = [
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
];

export const places = (under: string, names: readonly (string | number)[]) => names.map((name) => `${under}.${name}`);
