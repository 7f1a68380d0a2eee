import { TEST_TOKEN as token } from '../../../src/chain/devnet/state/dev-accounts.js';
import type { Json } from '../damage.js';
import { none, one, type Requests, type RequestValues } from './request-values.js';

/** Valid requests of what a wallet answers. */
export function walletRequests({ holder, other, priced, listed }: RequestValues) {
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

  return {
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
  } satisfies Requests;
}
