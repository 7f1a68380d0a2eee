import { concatHex, encodeAbiParameters, encodeFunctionData, type Hex, hashMessage, keccak256, pad, toHex } from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { abi, bystander, FEES, local, owner, ownerKey, pick, receiver, type Scene, shapeOf } from './scene.js';

/** Calls one action. @returns what has to be the same on two chains that had the same calls */
export type Row = (scene: Scene) => Promise<unknown>;

const balanceOf = encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner] });
const slotOf = (holder: Hex) => keccak256(concatHex([pad(holder), pad('0x0')]));
const argsOf = (logs: readonly { args?: unknown }[]) => logs.map(({ args }) => args);
const blockOf = (block: { number: bigint | null; transactions: readonly unknown[]; gasUsed: bigint }) =>
  pick(block, 'number', 'transactions', 'gasUsed', 'logsBloom' as never, 'transactionsRoot' as never);

/**
 * Sends until a watcher has been told, and stops the watcher. The sender is one that no other row sends from: how often it
 * sends is not the same everywhere.
 *
 * @returns what the watcher was told first
 */
async function told(scene: Scene, watch: (tell: (value: unknown) => void, fail: (error: Error) => void) => () => void) {
  let stop = () => {};
  const first = new Promise<unknown>((resolve, reject) => {
    stop = watch(resolve, reject);
  });
  let waiting = true;
  const done = first.finally(() => {
    waiting = false;
  });
  const acting = (async () => {
    while (waiting) await scene.mined(await send(scene, bystander, 0n));
  })();
  try {
    return await Promise.race([done, acting.then(() => done)]);
  } finally {
    stop();
    await acting;
  }
}

/** Signed here, as a light node asks for it. */
const send = ({ wallet, transfer }: Scene, account = ownerKey, amount = 1n) =>
  wallet.writeContract({ ...transfer, account, args: [owner, amount], ...FEES });

/** Makes a filter, sends, and reads. */
async function filtered<Filter extends { readonly type: string }>(
  scene: Scene,
  make: () => Promise<Filter>,
  what: (change: unknown) => unknown,
) {
  const filter = await make();
  const hash = await send(scene);
  await scene.mined(hash);
  let changes: unknown[] = [];
  // A light node learns of a block later than of its transaction.
  while (changes.length === 0) changes = await scene.reader.getFilterChanges({ filter } as never);
  return [filter.type, changes.map((change) => (change === hash ? 'the transaction' : what(change)))];
}

const signedTransfer = async ({ reader, signer }: Scene) =>
  signer.signTransaction({
    ...FEES,
    to: receiver,
    value: 1n,
    nonce: await reader.getTransactionCount({ address: local.address }),
  } as never) as Promise<Hex>;

const typed = {
  domain: { name: 'Table', chainId: 1 },
  types: { Row: [{ name: 'action', type: 'string' }] },
  primaryType: 'Row',
  message: { action: 'verifyTypedData' },
} as const;

/** Code that answers every call with these bytes. */
const answering = (data: Hex): Hex => {
  const size = toHex((data.length - 2) / 2, { size: 2 });
  return concatHex(['0x61', size, '0x600e6000', '0x3961', size, '0x6000f3', data]);
};
const ENS_NAME = { name: 'vitalik.eth' } as const;

/** The public actions of viem. */
export const PUBLIC_ROWS: Readonly<Record<string, Row>> = {
  call: ({ reader, token }) => reader.call({ to: token, data: balanceOf }),
  createAccessList: ({ reader, token }) => reader.createAccessList({ account: owner, to: token, data: balanceOf }),
  createBlockFilter: (scene) =>
    filtered(
      scene,
      () => scene.reader.createBlockFilter(),
      (hash) => typeof hash,
    ),
  createContractEventFilter: (scene) =>
    filtered(
      scene,
      () => scene.reader.createContractEventFilter({ abi, address: scene.token, eventName: 'Transfer' }),
      (log) => (log as { args: unknown }).args,
    ),
  createEventFilter: (scene) =>
    filtered(
      scene,
      () => scene.reader.createEventFilter({ address: scene.token, event: abi[3] }),
      (log) => (log as { args: unknown }).args,
    ),
  createPendingTransactionFilter: (scene) =>
    filtered(
      scene,
      () => scene.reader.createPendingTransactionFilter(),
      (hash) => hash,
    ),
  estimateContractGas: ({ reader, transfer }) =>
    reader.estimateContractGas({ ...transfer, account: owner, args: [receiver, 1n] }).then((gas) => gas > 21_000n),
  estimateFeesPerGas: async ({ reader }) => shapeOf(await reader.estimateFeesPerGas()),
  estimateGas: ({ reader }) => reader.estimateGas({ account: owner, to: receiver, value: 1n }),
  estimateMaxPriorityFeePerGas: async ({ reader }) => shapeOf(await reader.estimateMaxPriorityFeePerGas()),
  fillTransaction: async ({ reader }) => {
    const { transaction } = await reader.fillTransaction({ account: local, to: receiver, value: 5n, gas: 50_000n });
    return pick(
      transaction as never,
      'to' as never,
      'value' as never,
      'nonce' as never,
      'chainId' as never,
      'gas' as never,
    );
  },
  getBalance: ({ reader }) => reader.getBalance({ address: receiver, blockNumber: 3n }),
  getBlobBaseFee: async ({ reader }) => shapeOf(await reader.getBlobBaseFee()),
  getBlock: async ({ reader }) => blockOf(await reader.getBlock({ blockNumber: 3n })),
  getBlockNumber: ({ reader }) => reader.getBlockNumber(),
  getBlockReceipts: async ({ reader }) => {
    const receipts = await reader.getBlockReceipts({ blockNumber: 3n });
    return receipts.map((one) => pick(one, 'transactionHash', 'status', 'gasUsed', 'from', 'to', 'type'));
  },
  getBlockTransactionCount: ({ reader }) => reader.getBlockTransactionCount({ blockNumber: 3n }),
  getBytecode: ({ reader, token }) => reader.getBytecode({ address: token }),
  getChainId: ({ reader }) => reader.getChainId(),
  getCode: ({ reader, token }) => reader.getCode({ address: token }),
  getContractEvents: async ({ reader, token }) =>
    argsOf(await reader.getContractEvents({ abi, address: token, eventName: 'Transfer', fromBlock: 1n, toBlock: 3n })),
  getDelegation: async ({ reader, token }) => [
    await reader.getDelegation({ address: '0x00000000000000000000000000000000000000d1' }),
    await reader.getDelegation({ address: token }),
  ],
  getEip712Domain: ({ reader }) => reader.getEip712Domain({ address: '0x00000000000000000000000000000000000000d2' }),
  getEnsAddress: ({ reader }) => reader.getEnsAddress(ENS_NAME),
  getEnsAvatar: ({ reader }) => reader.getEnsAvatar(ENS_NAME),
  getEnsName: ({ reader }) => reader.getEnsName({ address: owner }),
  getEnsResolver: ({ reader }) => reader.getEnsResolver(ENS_NAME),
  getEnsText: ({ reader }) => reader.getEnsText({ ...ENS_NAME, key: 'url' }),
  getFeeHistory: async ({ reader }) => {
    const history = await reader.getFeeHistory({ blockCount: 2, rewardPercentiles: [50], blockNumber: 3n });
    return [history.oldestBlock, history.baseFeePerGas.length, history.reward!.length, history.gasUsedRatio.length];
  },
  getFilterChanges: (scene) =>
    filtered(
      scene,
      () => scene.reader.createEventFilter(),
      (log) => pick(log as { data: Hex; topics: Hex[] }, 'data', 'topics'),
    ),
  getFilterLogs: async ({ reader, token }) => {
    const filter = await reader.createEventFilter({ address: token, event: abi[3], fromBlock: 1n, toBlock: 3n });
    return argsOf(await reader.getFilterLogs({ filter }));
  },
  getGasPrice: async ({ reader }) => shapeOf(await reader.getGasPrice()),
  getLogs: async ({ reader, token }) =>
    argsOf(await reader.getLogs({ address: token, event: abi[3], fromBlock: 1n, toBlock: 3n })),
  getProof: async ({ reader, token }) => {
    const proof = await reader.getProof({ address: token, storageKeys: [slotOf(owner), pad('0x77')] });
    return { ...proof, accountProof: proof.accountProof.length > 0 };
  },
  getRawTransaction: ({ reader, hash }) => reader.getRawTransaction({ hash }),
  getStorageAt: ({ reader, token }) => reader.getStorageAt({ address: token, slot: slotOf(owner) }),
  getStorageValues: ({ reader, token }) => reader.getStorageValues({ requests: { [token]: [slotOf(owner)] } }),
  getTransaction: async ({ reader, hash }) => {
    const { blockHash, blockTimestamp, gasPrice, ...transaction } = await reader.getTransaction({ hash });
    return transaction;
  },
  getTransactionConfirmations: async ({ reader, hash }) => (await reader.getTransactionConfirmations({ hash })) > 0n,
  getTransactionCount: ({ reader }) => reader.getTransactionCount({ address: owner, blockNumber: 3n }),
  getTransactionReceipt: async ({ reader, hash }) => {
    const receipt = await reader.getTransactionReceipt({ hash });
    const logs = receipt.logs.map((log) => pick(log, 'address', 'topics', 'data', 'logIndex', 'removed'));
    const names = [
      'status',
      'gasUsed',
      'cumulativeGasUsed',
      'logsBloom',
      'type',
      'from',
      'to',
      'contractAddress',
    ] as const;
    return { ...pick(receipt, ...names), logs };
  },
  multicall: ({ reader, token }) =>
    reader.multicall({
      deployless: true,
      contracts: [owner, receiver].map((holder) => ({
        address: token,
        abi,
        functionName: 'balanceOf',
        args: [holder],
      })),
    } as never),
  prepareTransactionRequest: async ({ reader }) => {
    const request = await reader.prepareTransactionRequest({ account: local, to: receiver, value: 1n });
    return pick(request as never, 'to' as never, 'value' as never, 'nonce' as never, 'type' as never, 'gas' as never);
  },
  readContract: ({ reader, token }) =>
    reader.readContract({ address: token, abi, functionName: 'balanceOf', args: [receiver], blockNumber: 3n }),
  sendRawTransaction: async (scene) => {
    const hash = await scene.reader.sendRawTransaction({ serializedTransaction: await signedTransfer(scene) });
    return (await scene.mined(hash)).status;
  },
  sendRawTransactionSync: async (scene) =>
    (await scene.reader.sendRawTransactionSync({ serializedTransaction: await signedTransfer(scene) })).status,
  simulate: (scene) => simulated(scene, 'simulate'),
  simulateBlocks: (scene) => simulated(scene, 'simulateBlocks'),
  simulateCalls: async ({ reader, token }) => {
    const calls = [
      { to: receiver, value: 1n },
      { to: token, abi, functionName: 'transfer', args: [receiver, 10n ** 9n] },
    ];
    const { results } = await reader.simulateCalls({ account: owner, calls } as never);
    return results.map(({ status, gasUsed, data }) => [status, gasUsed, data]);
  },
  simulateContract: async ({ reader, transfer }) => {
    const call = (amount: bigint) => reader.simulateContract({ ...transfer, account: owner, args: [receiver, amount] });
    const refused = await call(10n ** 9n).catch((error: Error) => /Error: (\w+)\(/.exec(error.message)?.[1]);
    return [(await call(1n)).result, refused];
  },
  'token.getAllowance': ({ reader, token }) => reader.token.getAllowance({ token, account: owner, spender: receiver }),
  'token.getBalance': ({ reader, token }) => reader.token.getBalance({ token, account: receiver, blockNumber: 3n }),
  'token.getMetadata': ({ reader, token }) => reader.token.getMetadata({ token }),
  'token.getTotalSupply': ({ reader, token }) => reader.token.getTotalSupply({ token }),
  uninstallFilter: async ({ reader }) => {
    const filter = await reader.createBlockFilter();
    return [await reader.uninstallFilter({ filter }), await reader.uninstallFilter({ filter })];
  },
  verifyHash: async ({ reader }) => {
    const hash = hashMessage('table');
    const signature = await local.sign({ hash });
    return [
      await reader.verifyHash({ address: local.address, hash, signature }),
      await reader.verifyHash({ address: owner, hash, signature }),
    ];
  },
  verifyMessage: async ({ reader }) => {
    const signature = await local.signMessage({ message: 'table' });
    return [
      await reader.verifyMessage({ address: local.address, message: 'table', signature }),
      await reader.verifyMessage({ address: local.address, message: 'chair', signature }),
    ];
  },
  verifySiweMessage: async ({ reader }) => {
    const message = createSiweMessage({
      address: local.address,
      chainId: 1,
      domain: 'example.com',
      nonce: 'abcdefgh',
      uri: 'https://example.com',
      version: '1',
    });
    const signature = await local.signMessage({ message });
    return [
      await reader.verifySiweMessage({ message, signature, domain: 'example.com' }),
      await reader.verifySiweMessage({ message, signature, domain: 'example.org' }),
    ];
  },
  verifyTypedData: async ({ reader }) => {
    const signature = await local.signTypedData(typed);
    return [
      await reader.verifyTypedData({ ...typed, address: local.address, signature }),
      await reader.verifyTypedData({ ...typed, address: owner, signature }),
    ];
  },
  waitForTransactionReceipt: async ({ reader, hash }) => (await reader.waitForTransactionReceipt({ hash })).blockNumber,
  watchBlockHeaders: (scene) =>
    told(scene, (tell, onError) =>
      scene.socket.watchBlockHeaders({ onBlockHeader: ({ number }) => tell(typeof number), onError }),
    ),
  watchBlockNumber: (scene) =>
    told(scene, (tell, onError) =>
      scene.reader.watchBlockNumber({ onBlockNumber: (number) => tell(typeof number), onError }),
    ),
  watchBlocks: (scene) =>
    told(scene, (tell, onError) => scene.reader.watchBlocks({ onBlock: ({ number }) => tell(typeof number), onError })),
  watchContractEvent: (scene) =>
    told(scene, (tell, onError) =>
      scene.reader.watchContractEvent({ abi, address: scene.token, onLogs: ([log]) => tell(log!.args), onError }),
    ),
  watchEvent: (scene) =>
    told(scene, (tell, onError) =>
      scene.reader.watchEvent({ address: scene.token, event: abi[3], onLogs: ([log]) => tell(log!.args), onError }),
    ),
  watchPendingTransactions: (scene) =>
    told(scene, (tell, onError) =>
      scene.reader.watchPendingTransactions({ onTransactions: ([hash]) => tell(hash!.length), onError }),
    ),
};

async function simulated({ reader, token }: Scene, name: 'simulate' | 'simulateBlocks') {
  const calls = [{ account: owner, to: token, data: balanceOf }];
  const blocks = [{ calls }, { calls, stateOverrides: [{ address: token, code: '0x' as Hex }] }];
  const results = await reader[name]({ blocks } as never);
  return results.map((block) =>
    (block.calls as unknown as { data: Hex; status: string }[]).map((call) => pick(call, 'data', 'status')),
  );
}

/** State that some rows read: to be set on both chains. */
export async function setPublicState({ tester, token }: Scene): Promise<void> {
  await tester.setCode({
    address: '0x00000000000000000000000000000000000000d1',
    bytecode: concatHex(['0xef0100', token]),
  });
  // ERC-5267.
  const domain = encodeAbiParameters(
    ['bytes1', 'string', 'string', 'uint256', 'address', 'bytes32', 'uint256[]'].map((type) => ({ type })),
    ['0x0f', 'Table', '1', 5n, token, pad('0x0'), []],
  );
  await tester.setCode({ address: '0x00000000000000000000000000000000000000d2', bytecode: answering(domain) });
}
