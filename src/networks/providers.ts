import type { NetworkName } from './networks.js';

/** What a page of an operator says. */
export interface Said<Value> {
  readonly value: Value;
  /** Address of the page. */
  readonly page: string;
  /** Day on which the page was read, as `2026-11-27`. The pages have no date of their own. */
  readonly read: string;
}

/** Somebody who runs endpoints. A member that no page speaks of is left out. */
export interface Provider {
  readonly operator: string;
  /** URL of the JSON-RPC endpoint of a network. `KEY` stands for the key that the operator gives out, where its page says where the key belongs. */
  readonly urls: { readonly [Name in NetworkName]?: Said<string> };
  /** Whether a key is needed. */
  readonly key?: Said<boolean>;
  /** Whether it answers `eth_getProof`, without which a light node can verify no state. */
  readonly ethGetProof?: Said<boolean>;
  /** Whether it answers `linea_getProof`, which the level of a finalized zk state needs. */
  readonly lineaGetProof?: Said<boolean>;
  /** Whether it answers `linea_estimateGas` and what else needs the network's own software, such as the tag `finalized`. */
  readonly lineaMethods?: Said<boolean>;
  /** Routes of the light-client API of the beacon chain that it answers. */
  readonly lightClient?: readonly Said<string>[];
}

const read = '2026-11-27';
const said = <Value>(value: Value, page: string): Said<Value> => ({ value, page, read });

const BY_LINEA = 'https://docs.linea.build/network/build/tools/node-providers';
const TOOLING = 'https://docs.linea.build/get-started/tooling/node-providers';
const LINEA_API = 'https://docs.linea.build/reference/apis/linea-api';
const MORALIS = 'https://docs.moralis.com/rpc-nodes/linea-json-rpc-api';
const ALCHEMY = 'https://www.alchemy.com/docs/chains/linea/linea-api-endpoints/linea-get-proof';
const ALCHEMY_SEPOLIA = 'https://www.alchemy.com/rpc/linea-sepolia';
const DWELLIR = 'https://www.dwellir.com/docs/linea/eth_chainId';
const INFURA = 'https://docs.metamask.io/services/reference/linea/json-rpc-methods/eth_getproof';

/** An operator of which only Linea's own list speaks. */
const listed = (operator: string, lineaMethods: boolean): Provider => ({
  operator,
  urls: {},
  lineaMethods: said(lineaMethods, BY_LINEA),
});

/**
 * Operators of endpoints, with what their pages say of what a node needs (docs/providers.md). None is a default: who answers sees what is
 * asked, and from where. Nobody of this project has tried them.
 *
 * @example
 * ```ts
 * import { PROVIDERS } from 'plumbline-l2';
 *
 * const choices = PROVIDERS.flatMap(({ operator, urls, key }) =>
 *   urls.linea === undefined ? [] : [{ operator, url: urls.linea.value, needsKey: key?.value }],
 * );
 * ```
 */
export const PROVIDERS: readonly Provider[] = [
  {
    operator: 'Linea, public',
    urls: {
      linea: said('https://rpc.linea.build', LINEA_API),
      'linea-sepolia': said('https://rpc.sepolia.linea.build', TOOLING),
    },
    key: said(false, LINEA_API),
    ethGetProof: said(true, 'https://docs.linea.build/reference/apis/linea-api/eth-getproof'),
    lineaGetProof: said(true, 'https://docs.linea.build/api/reference/linea-getproof'),
  },
  {
    operator: 'MetaMask services (Infura)',
    urls: { linea: said('https://linea-mainnet.infura.io/v3/KEY', INFURA) },
    key: said(true, INFURA),
    ethGetProof: said(true, INFURA),
    lineaMethods: said(true, BY_LINEA),
  },
  {
    operator: 'Alchemy',
    urls: {
      linea: said('https://linea-mainnet.g.alchemy.com/v2/KEY', ALCHEMY),
      'linea-sepolia': said('https://linea-sepolia.g.alchemy.com/v2/KEY', ALCHEMY_SEPOLIA),
    },
    key: said(true, ALCHEMY_SEPOLIA),
    lineaMethods: said(true, BY_LINEA),
  },
  {
    operator: 'GetBlock',
    urls: {
      linea: said('https://go.getblock.io/KEY', TOOLING),
      'linea-sepolia': said('https://go.getblock.io/KEY', TOOLING),
    },
    key: said(true, TOOLING),
    lineaMethods: said(true, BY_LINEA),
  },
  {
    operator: 'Moralis',
    urls: {
      linea: said('https://site1.moralis-nodes.com/linea/', MORALIS),
      'linea-sepolia': said('https://site1.moralis-nodes.com/linea-sepolia/', MORALIS),
    },
    key: said(true, TOOLING),
    ethGetProof: said(true, MORALIS),
    lineaMethods: said(false, BY_LINEA),
  },
  {
    operator: 'Dwellir',
    urls: { linea: said('https://api-linea-mainnet-archive.n.dwellir.com/KEY', DWELLIR) },
    key: said(true, DWELLIR),
  },
  ...['BlockPI', 'Chainstack', 'dRPC', 'NOWNodes'].map((operator) => listed(operator, true)),
  ...['QuickNode', 'ANKR', 'Unifra'].map((operator) => listed(operator, false)),
  {
    operator: 'ZAN',
    urls: {},
    lightClient: [
      said('finality update', 'https://docs.zan.top/reference/beacon-getbeaconlightclientfinalityupdate'),
      said('bootstrap', 'https://docs.zan.top/reference/beacon-getbeaconlightclientbootstrapbyblockroot'),
    ],
  },
];
