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
 * Announces a provider to the libraries of this page, as a wallet's extension does, now and whenever one of them asks.
 *
 * As with a wallet, the page has no permission at first: a node is announced once its `eth_accounts` is empty, and stays so until
 * `eth_requestAccounts`.
 *
 * @param provider - the node of a devnet, which has accounts; or a provider of your own that signs. Other nodes answer 4200
 * @param info - parts of the presentation. The uuid is new for each call when left out
 * @returns a function that ends the announcement
 * @throws PlumblineError `INVALID_PARAMETER` outside of pages
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
