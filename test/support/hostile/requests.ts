import fc from 'fast-check';
import { TEST_TOKEN as token } from '../../../src/chain/devnet/state/test-token.js';
import type { Hex } from '../../../src/primitives/hex.js';
import type { METHOD_INFO } from '../../../src/rpc/protocol/method-info.js';
import type { Json } from '../damage.js';
import { accountAt, type DevNode, PRICE, stranger, word } from '../dev-node.js';
import { fixtureBytes, listFixtures } from '../fixtures.js';
import { signTransaction, transferCalldata, type Unsigned } from '../sign.js';
import { mutated, mutatedText, strangeValue } from './mutations.js';

/** Valid parameters of methods, by name. */
export type Examples = Readonly<Record<string, readonly (readonly Json[])[]>>;

/** Init code of a contract that returns 42. */
const CREATION: Hex = '0x600a600c600039600a6000f3602a60005260206000f3';

const raw = (nonce: number, more: object = {}): Hex =>
  signTransaction(1, { nonce, to: stranger('51'), value: 1n, gasLimit: 21_000n, ...PRICE, ...more });

/** Blocks of each kind, a token transfer with logs, and a pool that holds a transaction behind a nonce gap. */
export async function history(ask: DevNode['ask']): Promise<void> {
  const send = (account: number, fields: Pick<Unsigned, 'nonce'> & Partial<Unsigned>) =>
    ask('eth_sendRawTransaction', signTransaction(account, { gasLimit: 200_000n, ...PRICE, ...fields }));
  await send(0, { nonce: 0, to: stranger('11'), value: 1n });
  await ask('evm_mine');
  await send(0, { nonce: 1, to: token, data: transferCalldata(stranger('77'), 5n) });
  await ask('evm_mine');
  await send(0, { nonce: 2, data: CREATION });
  await ask('evm_mine');
  await send(2, { nonce: 3, to: stranger('11') });
}

/**
 * Valid requests of every JSON-RPC method, for a chain with `history`. Its hashes are asked of the node itself: only whether
 * the requests are answered matters.
 */
export async function validRequests(ask: DevNode['ask']): Promise<Examples> {
  const { hash, transactions } = await ask<{ hash: Hex; transactions: Hex[] }>('eth_getBlockByNumber', '0x3', false);
  const [holder, other, transaction] = [accountAt(0), stranger('a1'), transactions[0]!];
  const data = transferCalldata(stranger('77'), 5n);
  const slot = word(1n);
  const call: Json = { from: holder, to: token, data, gas: '0x186a0' };
  const priced: Json = {
    from: holder,
    to: other,
    value: '0x1',
    maxFeePerGas: '0x3b9aca00',
    maxPriorityFeePerGas: '0x5f5e100',
  };
  const listed: Json = { ...call, gasPrice: '0x3b9aca00', accessList: [{ address: token, storageKeys: [slot] }] };
  const creation: Json = { from: holder, input: CREATION, nonce: '0x3', chainId: '0xe703' };
  const overrides: Json = {
    [other]: {
      balance: '0xde0b6b3a7640000',
      nonce: '0x5',
      code: '0x602a60005260206000f3',
      state: { [slot]: word(7n) },
    },
  };
  const diff: Json = { [token]: { stateDiff: { [slot]: word(7n) } } };
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
  const typedData: Json = {
    types: {
      EIP712Domain: [{ name: 'chainId', type: 'uint256' }],
      Mail: [
        { name: 'to', type: 'address[]' },
        { name: 'parts', type: 'Part[2]' },
      ],
      Part: [
        { name: 'size', type: 'int64' },
        { name: 'body', type: 'bytes' },
      ],
    },
    primaryType: 'Mail',
    domain: { chainId: 59_139 },
    message: {
      to: [other],
      parts: [
        { size: -1, body: '0x' },
        { size: '2', body: '0x0102' },
      ],
    },
  };
  const none: Json[][] = [[]];
  const numbers: Json[][] = [['0x1'], ['latest']];
  const amount: Json[][] = [
    [other, '0x5'],
    [holder, '1000000000000000000000'],
  ];
  const nonces: Json[][] = [
    [other, '0x5'],
    [other, 9],
  ];
  const codes: Json[][] = [
    [other, '0x602a60005260206000f3'],
    [other, '0x'],
  ];
  const slots: Json[][] = [
    [token, '0x1', word(9n)],
    [other, word(2n), word(0n)],
  ];
  const one = (...params: Json[]): Json[][] => [params];

  const l2: Record<keyof typeof METHOD_INFO.l2, Json[][]> = {
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
    eth_getBlockByHash: [
      [hash, false],
      [hash, true],
    ],
    eth_getBlockByNumber: [
      ['latest', false],
      ['0x2', true],
      ['pending', true],
    ],
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
    linea_getProof: [
      [token, [slot, '0x0'], 'latest'],
      [holder, [], '0x2'],
      [other, [], 'finalized'],
    ],
    linea_getTransactionExclusionStatusV1: one(transaction),
    net_listening: none,
    net_peerCount: none,
    net_version: none,
    web3_clientVersion: none,
    web3_sha3: one('0x68656c6c6f'),
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
    admin_nodeInfo: none,
    anvil_addBalance: amount,
    anvil_deal: amount,
    anvil_dealERC20: one(other, token, '0x5'),
    anvil_dumpState: none,
    anvil_getGenesisTime: none,
    anvil_loadState: one(STATE),
    anvil_metadata: none,
    anvil_mine_detailed: [[], [{ blocks: 2 }]],
    anvil_nodeInfo: none,
    anvil_removePoolTransactions: one(other),
    anvil_reorg: [
      [1, []],
      [2, [[raw(0), 0]]],
    ],
    anvil_rollback: [[], [1]],
    anvil_setChainId: one(59_139),
    anvil_setERC20Allowance: one(other, holder, token, '0x5'),
    anvil_setERC20Balance: one(other, token, '0x5'),
    anvil_setLoggingEnabled: one(false),
    anvil_setMinGasPrice: one('0x1'),
    anvil_setRpcUrl: one('http://127.0.0.1:1'),
    anvil_setTime: one(0xfffffff),
    eth_sendTransactionSync: one(priced),
    evm_mine_detailed: none,
    evm_setTime: one(0xfffffff),
    hardhat_addBalance: amount,
    hardhat_autoImpersonateAccount: [[true], [false]],
    hardhat_dealERC20: one(other, token, '0x5'),
    hardhat_dropAllTransactions: none,
    hardhat_dumpState: none,
    hardhat_loadState: one(STATE),
    hardhat_metadata: none,
    hardhat_setLoggingEnabled: one(false),
    hardhat_setMinGasPrice: one('0x1'),
    hardhat_setPrevRandao: one(word(7n)),
    tenderly_addBalance: amount,
    tenderly_setBalance: amount,
    txpool_contentFrom: one(holder),
    anvil_autoImpersonateAccount: [[true], [false]],
    anvil_dropAllTransactions: none,
    anvil_dropTransaction: one(transaction),
    anvil_getAutomine: none,
    anvil_getIntervalMining: none,
    anvil_impersonateAccount: one(other),
    anvil_increaseTime: [[60], ['0x3c']],
    anvil_mine: [['0x2', '0x5'], [1]],
    anvil_removeBlockTimestampInterval: none,
    anvil_revert: one('0x1'),
    anvil_setAutomine: [[true], [false]],
    anvil_setBalance: amount,
    anvil_setBlockGasLimit: one('0x1c9c380'),
    anvil_setBlockTimestampInterval: one(2),
    anvil_setCode: codes,
    anvil_setCoinbase: one(other),
    anvil_setIntervalMining: [[10], [0]],
    anvil_setNextBlockBaseFeePerGas: one('0x7'),
    anvil_setNextBlockTimestamp: one('0xffffffff'),
    anvil_setNonce: nonces,
    anvil_setStorageAt: slots,
    anvil_snapshot: none,
    anvil_stopImpersonatingAccount: one(other),
    eth_sendTransaction: [[priced], [{ ...(call as object), gas: '0x30000' }]],
    eth_sendUnsignedTransaction: one({ ...(priced as object), from: stranger('66'), value: '0x0' }),
    eth_simulateV1: [[simulation, 'latest'], [{ ...(simulation as object), validation: true }]],
    evm_increaseTime: [[60], ['0x3c']],
    evm_mine: [[], [{ blocks: 2 }], ['0x1ffffffff']],
    evm_revert: one('0x1'),
    evm_setAccountBalance: amount,
    evm_setAccountCode: codes,
    evm_setAccountNonce: nonces,
    evm_setAccountStorageAt: slots,
    evm_setAutomine: [[true], [false]],
    evm_setBlockGasLimit: one('0x1c9c380'),
    evm_setIntervalMining: [[10], [0]],
    evm_setNextBlockTimestamp: one('0x2ffffffff'),
    evm_snapshot: none,
    hardhat_dropTransaction: one(transaction),
    hardhat_getAutomine: none,
    hardhat_impersonateAccount: one(other),
    hardhat_mine: [['0x2', '0x5'], [1]],
    hardhat_removeBlockTimestampInterval: none,
    hardhat_setBalance: amount,
    hardhat_setBlockTimestampInterval: one(2000),
    hardhat_setCode: codes,
    hardhat_setCoinbase: one(other),
    hardhat_setNextBlockBaseFeePerGas: one('0x7'),
    hardhat_setNonce: nonces,
    hardhat_setStorageAt: slots,
    hardhat_stopImpersonatingAccount: one(other),
    txpool_content: none,
    txpool_inspect: none,
    txpool_status: none,
    eth_requestAccounts: none,
    eth_sign: one(holder, '0x1234'),
    eth_signTransaction: [[priced], [listed]],
    eth_signTypedData_v4: [
      [holder, typedData],
      [holder, JSON.stringify(typedData)],
    ],
    personal_sign: one('0x1234', holder),
    wallet_addEthereumChain: one({ chainId: '0xe703' }),
    wallet_getCallsStatus: one('0x01'),
    wallet_getCapabilities: [[holder], [holder, ['0xe703']]],
    wallet_getPermissions: none,
    wallet_requestPermissions: one({ eth_accounts: {} }),
    wallet_revokePermissions: one({ eth_accounts: {} }),
    wallet_sendCalls: one({
      version: '2.0.0',
      id: '0x01',
      from: holder,
      chainId: '0xe703',
      atomicRequired: false,
      calls: [{ to: other, value: '0x1' }],
    }),
    wallet_switchEthereumChain: one({ chainId: '0xe703' }),
    wallet_watchAsset: one({ type: 'ERC20', options: { address: token } }),
    // The last ones: they remove what the others ask for.
    anvil_reset: none,
    hardhat_reset: [[], [{}]],
  };
  return l2;
}

/** JSON text of a state with one account, as `anvil_loadState` takes it. */
const STATE = `0x${Buffer.from(JSON.stringify({ accounts: { [`0x${'77'.repeat(20)}`]: { nonce: 1, balance: '0x5' } } })).toString('hex')}`;

/** Requests of the execution-apis suite, of methods that `names` has; none where its files are not there. */
export function recordedRequests(names: ReadonlySet<string>): Examples {
  const found: Record<string, Json[][]> = {};
  for (const method of listFixtures('execution-apis', /_/)) {
    const name = method.slice('execution-apis/'.length);
    if (!names.has(name)) continue;
    for (const file of listFixtures(method, /\.io$/)) {
      for (const [, text] of new TextDecoder().decode(fixtureBytes(file)).matchAll(/^>> (.*)$/gm)) {
        found[name] ??= [];
        found[name].push((JSON.parse(text!) as { params?: Json[] }).params ?? []);
      }
    }
  }
  return found;
}

/** Texts of request bodies: of each ten, about six requests with changed parameters, then envelopes, batches, broken text. */
export function hostileBodies(...examples: readonly Examples[]): fc.Arbitrary<string> {
  const methods = [...new Set(examples.flatMap((one) => Object.keys(one)))];
  const sets = methods.map((method) => ({ method, params: examples.flatMap((one) => one[method] ?? []) as Json[][] }));
  const valid: fc.Arbitrary<Json> = fc.tuple(fc.constantFrom(...sets), fc.nat(999), fc.nat(999)).map(([set, n, id]) => {
    return { params: set.params[n % set.params.length]!, jsonrpc: '2.0', id, method: set.method };
  });
  const damaged = valid.chain((request) => {
    const { params, ...rest } = request as { params: Json[] };
    return mutated(fc.constant(params)).map((changed): Json => ({ ...rest, params: changed }));
  });
  const envelope = mutated(valid);
  const strangeId = fc.tuple(valid, strangeValue).map(([request, id]): Json => ({ ...(request as object), id }));
  const notification = damaged.map((request): Json => {
    const { id: _, ...rest } = request as { id: Json };
    return rest;
  });
  const any = fc.oneof({ arbitrary: damaged, weight: 6 }, valid, envelope, strangeId, notification, strangeValue);
  const batch = fc
    .tuple(fc.array(any, { maxLength: 4 }), fc.nat(3))
    .map(([items, times]): Json => (items.length === 0 ? [] : [...items, ...Array<Json>(times).fill(items[0]!)]));
  const text = (value: fc.Arbitrary<Json>) => value.map((json) => JSON.stringify(json));
  return fc.oneof(
    { arbitrary: text(damaged), weight: 12 },
    { arbitrary: text(any), weight: 4 },
    { arbitrary: text(batch), weight: 1 },
    { arbitrary: mutatedText(text(fc.oneof(valid, damaged))), weight: 3 },
  );
}
