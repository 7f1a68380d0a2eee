import { TEST_TOKEN as token } from '../../../src/chain/devnet/state/dev-accounts.js';
import type { Json } from '../damage.js';
import { word } from '../dev-node.js';
import { DOMAINS, orderComponents, typed } from '../signatures.js';
import { none, one, type Requests, type RequestValues, raw } from './request-values.js';

/** Valid requests of what is read of a chain, estimated, traced or sent signed. */
export function chainRequests({
  hash,
  transaction,
  holder,
  other,
  slot,
  call,
  priced,
  listed,
  creation,
  overrides,
  diff,
}: RequestValues) {
  const blockOverrides: Json = {
    number: '0x9',
    time: '0x99999999',
    gasLimit: '0x1000000',
    baseFeePerGas: '0x7',
    feeRecipient: other,
  };
  const filter: Json = { fromBlock: '0x0', toBlock: 'latest', address: [token], topics: [null, [word(1n), word(2n)]] };
  const simulation: Json = {
    blockStateCalls: [
      { blockOverrides: { number: '0x99' }, stateOverrides: overrides, calls: [priced, call] },
      {
        calls: [creation],
        blockOverrides: { withdrawals: [{ index: '0x1', validatorIndex: '0x2', address: other, amount: '0x3' }] },
      },
    ],
    validation: false,
    traceTransfers: true,
    returnFullTransactions: true,
  };
  const calls: Json[][] = [
    [call, 'latest'],
    [priced],
    [listed, '0x1'],
    [creation, 'pending'],
    [call, { blockHash: hash, requireCanonical: true }],
  ];
  const overridden: Json[][] = [
    [call, 'latest', overrides],
    [call, 'latest', diff, blockOverrides],
  ];
  const blocks: Json[][] = [
    ['latest'],
    ['0x1'],
    ['earliest'],
    ['finalized'],
    [hash],
    [{ blockNumber: '0x1' }],
    [{ blockHash: hash }],
  ];
  const accounts: Json[][] = blocks.flatMap(([block]) => [
    [holder, block!],
    [token, block!],
  ]);
  const numbers: Json[][] = [['0x1'], ['latest']];

  return {
    debug_getRawBlock: blocks,
    debug_getRawHeader: blocks,
    debug_getRawReceipts: blocks,
    debug_getRawTransaction: one(transaction),
    debug_traceBlockByHash: one(hash, { tracer: 'callTracer', tracerConfig: { withLog: true } }),
    debug_traceBlockByNumber: one('0x2', { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }),
    debug_traceCall: calls.map(([call]) => [call!, 'latest', { tracer: '4byteTracer', timeout: '2s' }]),
    debug_traceTransaction: one(transaction, { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } }),
    eth_accounts: none,
    eth_baseFee: none,
    eth_blobBaseFee: none,
    eth_blockNumber: none,
    eth_call: [...calls, ...overridden],
    eth_chainId: none,
    eth_createAccessList: calls,
    eth_estimateGas: [...calls, ...overridden],
    eth_feeHistory: [
      ['0x3', 'latest', [10, 50.5, 100]],
      [2, '0x2', []],
    ],
    eth_gasPrice: none,
    eth_getBalance: accounts,
    eth_getHeaderByHash: [[hash]],
    eth_getHeaderByNumber: [['latest'], ['0x1']],
    eth_getBlockByHash: [
      [hash, false],
      [hash, true],
    ],
    eth_getBlockByNumber: [
      ['latest', false],
      ['0x2', true],
      ['pending', true],
    ],
    eth_getBlockAccessList: blocks,
    eth_getBlockReceipts: blocks,
    eth_getBlockTransactionCountByHash: one(hash),
    eth_getBlockTransactionCountByNumber: numbers,
    eth_getCode: accounts,
    eth_getFilterChanges: [['0x1'], ['0x2']],
    eth_getFilterLogs: [['0x1']],
    eth_getLogs: [[filter], [{ blockHash: hash, address: token }], [{}]],
    eth_getProof: [
      [token, [slot], 'latest'],
      [holder, [], hash],
    ],
    eth_getStorageAt: [
      [token, '0x1', 'latest'],
      [token, slot, hash],
    ],
    eth_getStorageValues: one({ [token]: [slot, word(2n)] }, 'latest'),
    eth_getTransactionByBlockHashAndIndex: one(hash, '0x0'),
    eth_getTransactionByBlockNumberAndIndex: one('0x2', '0x0'),
    eth_getTransactionByHash: one(transaction),
    eth_getTransactionCount: [...accounts, [holder, 'pending']],
    eth_getTransactionReceipt: one(transaction),
    eth_getUncleByBlockHashAndIndex: one(hash, '0x0'),
    eth_getUncleByBlockNumberAndIndex: one('0x2', '0x0'),
    eth_getUncleCountByBlockHash: one(hash),
    eth_getUncleCountByBlockNumber: numbers,
    eth_maxPriorityFeePerGas: none,
    eth_newBlockFilter: none,
    eth_newFilter: one(filter),
    eth_newPendingTransactionFilter: none,
    eth_sendRawTransaction: [
      [raw(0)],
      [raw(1)],
      [raw(9)],
      [raw(0, { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: 10n ** 9n })],
    ],
    eth_subscribe: [['newHeads'], ['logs', { address: token, topics: [] }], ['newPendingTransactions', true]],
    eth_syncing: none,
    eth_uninstallFilter: one('0x3'),
    eth_unsubscribe: one('0x1'),
    linea_estimateGas: [[call], [priced, overrides], [call, 'latest', diff], [{ ...(priced as object), value: '7' }]],
    linea_getMessageProof: [[`0x${'11'.repeat(32)}`]],
    linea_getProof: [
      [token, [slot, '0x0'], 'latest'],
      [holder, [], '0x2'],
      [other, [], 'finalized'],
    ],
    linea_getTransactionExclusionStatusV1: one(transaction),
    net_listening: none,
    net_peerCount: none,
    net_version: none,
    plumbline_lookupAddress: [[holder], [holder, { coinType: 60, block: 'latest' }]],
    plumbline_previewSignature: [
      ...[
        typed('permit', DOMAINS.token, { owner: holder, spender: holder, value: 5n, nonce: 0n, deadline: 5n }),
        typed('permitSingle', DOMAINS.permit2, {
          details: { token: holder, amount: 5n, expiration: 5n, nonce: 0n },
          spender: holder,
          sigDeadline: 5n,
        }),
        orderComponents(holder, [{ itemType: 1, token: holder, id: 0n, amount: 5n }], []),
      ].map((typedData) => [{ typedData }, { account: holder }] as unknown as Json[]),
      [{ message: '0x68656c6c6f' }, { account: holder, origin: 'https://app.example' }],
      [{ authorization: { chainId: '0x0', address: holder, nonce: '0x0' } }, { account: holder, block: 'latest' }],
      [{ calls: [{ to: holder, value: '0x1' }], atomicRequired: true }, { account: holder }],
    ],
    plumbline_resolveName: [['alice.eth'], ['Alice.eth', { coinType: '0x8000e708', block: '0x2' }]],
    web3_clientVersion: none,
    web3_sha3: one('0x68656c6c6f'),
    'rpc.discover': none,
    rpc_modules: none,
    eth_coinbase: none,
    eth_config: none,
    eth_fillTransaction: [[call], [priced]],
    eth_getAccount: accounts,
    eth_getAccountInfo: accounts,
    eth_getRawTransactionByBlockHashAndIndex: one(hash, '0x0'),
    eth_getRawTransactionByBlockNumberAndIndex: one('0x2', '0x0'),
    eth_getRawTransactionByHash: one(transaction),
    eth_hashrate: none,
    eth_mining: none,
    eth_pendingTransactions: none,
    eth_protocolVersion: none,
    eth_sendRawTransactionSync: [[raw(0)], [raw(1), 20]],
    linea_getForcedTransactionInclusionStatus: one(6),
    linea_sendForcedRawTransaction: one([
      { forcedTransactionNumber: 6, transaction: raw(0), deadlineBlockNumber: '9' },
    ]),
    infura_simulateTransactions: one({ transactions: [call], withCallTrace: true, withLogs: true }),
    eth_simulateV1: [[simulation, 'latest'], [{ ...(simulation as object), validation: true }]],
  } satisfies Requests;
}
