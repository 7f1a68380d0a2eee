import { TEST_TOKEN as token } from '../../../src/chain/devnet/state/dev-accounts.js';
import type { Json } from '../damage.js';
import { type DevNode, PRICE, stranger } from '../dev-node.js';
import { fixtureBytes, listFixtures } from '../fixtures.js';
import { signTransaction, transferCalldata, type Unsigned } from '../sign.js';
import { chainRequests } from './chain-requests.js';
import { devnetRequests } from './devnet-requests.js';
import { CREATION, none, type Requests, requestValues } from './request-values.js';
import { walletRequests } from './wallet-requests.js';

/** Valid parameters of methods, by name. */
export type Examples = Readonly<Record<string, readonly (readonly Json[])[]>>;

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
  const values = await requestValues(ask);
  return {
    ...chainRequests(values),
    ...devnetRequests(values),
    ...walletRequests(values),
    // The last ones: they remove what the others ask for.
    anvil_reset: none,
    hardhat_reset: [[], [{}]],
  } satisfies Required<Requests>;
}

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
