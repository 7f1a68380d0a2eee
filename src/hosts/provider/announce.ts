import { invalidParameter } from '../../errors.js';
import type { Eip1193Provider } from '../../upstream/json-rpc.js';

/** How a wallet presents itself to pages. @source EIP-6963, "Provider Info" */
export interface ProviderInfo {
  /** Version 4 UUID of this announcement. */
  readonly uuid: string;
  readonly name: string;
  /** A `data:` URI of a square image, at least 96 by 96 pixels. */
  readonly icon: string;
  /** Domain name in reverse order. */
  readonly rdns: string;
}

/** A plumb line. */
const ICON =
  'data:image/svg+xml,' +
  "%3Csvg xmlns='http://www.w3.org/2000/svg' width='96' height='96' viewBox='0 0 24 24'%3E" +
  "%3Cpath d='M12 2v12M12 14l4 3-4 5-4-5z' fill='%23557' stroke='%23557'/%3E%3C/svg%3E";

const ANNOUNCE = 'eip6963:announceProvider';
const REQUEST = 'eip6963:requestProvider';

/**
 * Announces a provider to the libraries of this page, as a wallet extension does. It does so now, and whenever a library asks.
 *
 * The page has no permission at first, as with a wallet. A node's `eth_accounts` becomes empty before it is announced, and stays empty
 * until `eth_requestAccounts`.
 *
 * @param provider - a devnet, which has accounts, or your own provider that signs. Other nodes answer 4200
 * @param info - how the provider presents itself. Default for the uuid: a new one for each call
 * @returns a function that ends the announcement
 * @throws PlumblineError `INVALID_PARAMETER` if this is not a page
 * @source EIP-6963
 *
 * @example
 * ```ts
 * import { announceProvider, createNode } from 'plumbline-l2';
 *
 * const node = await createNode();
 * const withdraw = announceProvider(node, { name: 'My devnet' });
 * withdraw();
 * await node.close();
 * ```
 */
export function announceProvider(provider: Eip1193Provider, info: Partial<ProviderInfo> = {}): () => void {
  const { window } = globalThis;
  if (window === undefined) throw invalidParameter('provider', 'can be announced in a page only; this is not one');
  const presentation = {
    uuid: crypto.randomUUID(),
    name: 'plumbline',
    icon: ICON,
    rdns: 'io.github.plumbline-l2',
    ...info,
  };
  const detail = Object.freeze({ info: Object.freeze(presentation), provider });
  const announce = () => window.dispatchEvent(new CustomEvent(ANNOUNCE, { detail }));
  let withdrawn = false;
  const begin = () => {
    if (withdrawn) return;
    window.addEventListener(REQUEST, announce);
    announce();
  };
  // Another provider keeps its own permissions, and knows them now.
  if ('explainEstimate' in provider) void withoutPermission(provider).then(begin);
  else begin();
  return () => {
    withdrawn = true;
    window.removeEventListener(REQUEST, announce);
  };
}

/** Takes the accounts of a devnet from its page. Nodes without keys have none. */
async function withoutPermission(node: Eip1193Provider): Promise<void> {
  await node.request({ method: 'wallet_revokePermissions', params: [{ eth_accounts: {} }] }).catch(() => {});
}
