import type { Hex } from 'viem';
import { tokenCode } from '../endpoint.js';
import type { Row } from './public-rows.js';
import { abi, bystander, FEES, local, owner, pick, receiver, type Scene } from './scene.js';

/** What a row answers where anvil has no such method: of the EIP that describes it. */
export interface Expected {
  readonly run: Row;
  readonly is: unknown;
}

const typed = {
  domain: { name: 'Table', version: '1', chainId: 59_139 },
  types: { Row: [{ name: 'action', type: 'string' }] },
  primaryType: 'Row',
  message: { action: 'signTypedData' },
} as const;
const call = { to: receiver, value: 1n } as const;
const calls = { account: bystander.address, calls: [call, call], forceAtomic: false } as const;
/** EIP-5792: 200 for a batch that is included without a revert, and a receipt for each of its transactions. */
const CONFIRMED = { status: 'success', statusCode: 200, atomic: false, receipts: ['success', 'success'] };
const batchOf = ({ receipts = [], ...status }: Awaited<ReturnType<Scene['wallet']['getCallsStatus']>>) => ({
  ...pick(status, 'status', 'statusCode', 'atomic'),
  receipts: receipts.map((receipt) => receipt.status),
});
const nonceOf = ({ reader }: Scene) => reader.getTransactionCount({ address: local.address });
const signed = async (scene: Scene) => ({
  serializedTransaction: (await scene.signer.signTransaction({
    ...FEES,
    ...call,
    nonce: await nonceOf(scene),
  } as never)) as Hex,
});

/** Waits until it is mined: the nonce of the next depends on it. */
async function mined(scene: Scene, hash: Hex) {
  return [hash, (await scene.mined(hash)).status];
}

/** The wallet actions of viem, for an account whose key the node holds; and for one whose key it does not hold, where viem asks for that. */
export const WALLET_ROWS: Readonly<Record<string, Row | Expected>> = {
  // EIP-3085: null if the chain was added, or was there.
  addChain: { run: ({ wallet }) => wallet.addChain({ chain: wallet.chain }), is: undefined },
  deployContract: async (scene) => {
    const hash = await scene.wallet.deployContract({ abi, bytecode: await tokenCode(), ...FEES });
    return [hash, (await scene.mined(hash)).contractAddress];
  },
  fillTransaction: async ({ wallet }) => {
    const { transaction } = await wallet.fillTransaction({ ...call, gas: 50_000n });
    return [transaction.nonce, transaction.value, transaction.gas];
  },
  getAddresses: ({ wallet }) => wallet.getAddresses(),
  getCallsStatus: {
    run: async (scene) => {
      const { id } = await scene.wallet.sendCalls(calls);
      await scene.wallet.waitForCallsStatus({ id });
      return batchOf(await scene.wallet.getCallsStatus({ id }));
    },
    is: CONFIRMED,
  },
  // EIP-5792: a member for each chain; of `atomic`, the status is one of three.
  getCapabilities: {
    run: ({ wallet }) => wallet.getCapabilities(),
    is: { 59139: { atomic: { status: 'unsupported' } } },
  },
  getChainId: ({ wallet }) => wallet.getChainId(),
  // EIP-2255.
  getPermissions: {
    run: async ({ wallet }) => (await wallet.getPermissions()).map(({ parentCapability }) => parentCapability),
    is: ['eth_accounts'],
  },
  prepareAuthorization: ({ signer, token }) => signer.prepareAuthorization({ contractAddress: token }),
  prepareTransactionRequest: async ({ wallet }) => {
    // A copy: viem changes what it is given.
    const request = await wallet.prepareTransactionRequest({ ...call });
    return pick(request as never, 'to' as never, 'value' as never, 'nonce' as never, 'type' as never, 'gas' as never);
  },
  requestAddresses: ({ wallet }) => wallet.requestAddresses(),
  requestPermissions: {
    run: async ({ wallet }) =>
      (await wallet.requestPermissions({ eth_accounts: {} })).map(({ parentCapability }) => parentCapability),
    is: ['eth_accounts'],
  },
  sendCalls: { run: async ({ wallet }) => typeof (await wallet.sendCalls(calls)).id, is: 'string' },
  sendCallsSync: { run: async ({ wallet }) => batchOf(await wallet.sendCallsSync(calls)), is: CONFIRMED },
  sendRawTransaction: async (scene) => mined(scene, await scene.wallet.sendRawTransaction(await signed(scene))),
  sendRawTransactionSync: async (scene) => (await scene.wallet.sendRawTransactionSync(await signed(scene))).status,
  sendTransaction: async (scene) => {
    const nonce = await scene.reader.getTransactionCount({ address: receiver });
    return mined(scene, await scene.wallet.sendTransaction({ ...FEES, to: owner, account: receiver, nonce }));
  },
  sendTransactionSync: async ({ wallet }) => (await wallet.sendTransactionSync({ ...FEES, ...call })).status,
  showCallsStatus: ({ wallet }) => wallet.showCallsStatus({ id: '0x1' }),
  signAuthorization: ({ signer, token }) => signer.signAuthorization({ contractAddress: token }),
  signMessage: ({ wallet }) => wallet.signMessage({ message: 'table' }),
  signTransaction: ({ wallet }) => wallet.signTransaction({ ...FEES, ...call, nonce: 7, type: 'eip1559' } as never),
  signTypedData: ({ wallet }) => wallet.signTypedData(typed),
  // EIP-3326: null for the chain that is active already.
  switchChain: { run: ({ wallet }) => wallet.switchChain({ id: wallet.chain.id }), is: undefined },
  'token.approve': async (scene) => {
    const approval = { token: scene.token, spender: receiver, amount: 5n, ...FEES } as const;
    return mined(scene, await scene.wallet.token.approve(approval as never));
  },
  'token.approveSync': async ({ wallet, token }) => {
    const { value } = await wallet.token.approveSync({ token, spender: receiver, amount: 6n, ...FEES } as never);
    return value;
  },
  'token.transfer': async (scene) => {
    const transfer = { token: scene.token, to: receiver, amount: 5n, ...FEES } as const;
    return mined(scene, await scene.wallet.token.transfer(transfer as never));
  },
  'token.transferSync': async ({ wallet, token }) => {
    const { value } = await wallet.token.transferSync({ token, to: receiver, amount: 6n, ...FEES } as never);
    return value;
  },
  waitForCallsStatus: {
    run: async ({ wallet }) => {
      const { id } = await wallet.sendCalls(calls);
      return batchOf(await wallet.waitForCallsStatus({ id }));
    },
    is: CONFIRMED,
  },
  watchAsset: ({ wallet, token }) =>
    wallet.watchAsset({ type: 'ERC20', options: { address: token, decimals: 18, symbol: 'TT' } }),
  writeContract: async (scene) => {
    const hash = await scene.wallet.writeContract({ ...scene.transfer, args: [receiver, 1n], ...FEES });
    return (await scene.mined(hash)).gasUsed;
  },
  writeContractSync: async ({ wallet, transfer }) =>
    (await wallet.writeContractSync({ ...transfer, args: [receiver, 1n], ...FEES } as never)).gasUsed,
};
