import type { NetworkName } from './networks.js';

/** What a page of an operator says. */
export interface Cited<Value> {
  readonly value: Value;
  /** Address of the page. */
  readonly page: string;
  /** Day on which the page was read, as `2026-11-27`. The pages have no date of their own. */
  readonly read: string;
}

/** Somebody who runs endpoints. A member that no page speaks of is left out. */
export interface EndpointProvider {
  readonly operator: string;
  /** URL of the JSON-RPC endpoint of a network. `KEY` stands for the key that the operator gives out, where its page says where the key belongs. */
  readonly urls: { readonly [Name in NetworkName]?: Cited<string> };
  /** Whether a key is needed. */
  readonly key?: Cited<boolean>;
  /** Whether it answers `eth_getProof`, without which a light node can verify no state. */
  readonly ethGetProof?: Cited<boolean>;
  /** Whether it answers `linea_getProof`, which the level of a finalized zk state needs. */
  readonly lineaGetProof?: Cited<boolean>;
  /** Whether it answers `linea_estimateGas` and what else needs the network's own software, such as the tag `finalized`. */
  readonly lineaMethods?: Cited<boolean>;
  /** Routes of the light-client API of the beacon chain that it answers. */
  readonly lightClient?: readonly Cited<string>[];
}

const read = '2026-11-27';
const cited = <Value>(value: Value, page: string): Cited<Value> => ({ value, page, read });

const BY_LINEA = 'https://docs.linea.build/network/build/tools/node-providers';
const TOOLING = 'https://docs.linea.build/get-started/tooling/node-providers';
const LINEA_API = 'https://docs.linea.build/reference/apis/linea-api';
const MORALIS = 'https://docs.moralis.com/rpc-nodes/linea-json-rpc-api';
const ALCHEMY = 'https://www.alchemy.com/docs/chains/linea/linea-api-endpoints/linea-get-proof';
const ALCHEMY_SEPOLIA = 'https://www.alchemy.com/rpc/linea-sepolia';
const DWELLIR = 'https://www.dwellir.com/docs/linea/eth_chainId';
const INFURA = 'https://docs.metamask.io/services/reference/linea/json-rpc-methods/eth_getproof';

/** An operator of which only Linea's own list speaks. */
const listed = (operator: string, lineaMethods: boolean): EndpointProvider => ({
  operator,
  urls: {},
  lineaMethods: cited(lineaMethods, BY_LINEA),
});

/** Operators of endpoints. It is a file of its own because few pages need it: `endpointProviders` loads it. */
export const ENDPOINT_PROVIDERS: readonly EndpointProvider[] = [
  {
    operator: 'Linea, public',
    urls: {
      linea: cited('https://rpc.linea.build', LINEA_API),
      'linea-sepolia': cited('https://rpc.sepolia.linea.build', TOOLING),
    },
    key: cited(false, LINEA_API),
    ethGetProof: cited(true, 'https://docs.linea.build/reference/apis/linea-api/eth-getproof'),
    lineaGetProof: cited(true, 'https://docs.linea.build/api/reference/linea-getproof'),
  },
  {
    operator: 'MetaMask services (Infura)',
    urls: { linea: cited('https://linea-mainnet.infura.io/v3/KEY', INFURA) },
    key: cited(true, INFURA),
    ethGetProof: cited(true, INFURA),
    lineaMethods: cited(true, BY_LINEA),
  },
  {
    operator: 'Alchemy',
    urls: {
      linea: cited('https://linea-mainnet.g.alchemy.com/v2/KEY', ALCHEMY),
      'linea-sepolia': cited('https://linea-sepolia.g.alchemy.com/v2/KEY', ALCHEMY_SEPOLIA),
    },
    key: cited(true, ALCHEMY_SEPOLIA),
    lineaMethods: cited(true, BY_LINEA),
  },
  {
    operator: 'GetBlock',
    urls: {
      linea: cited('https://go.getblock.io/KEY', TOOLING),
      'linea-sepolia': cited('https://go.getblock.io/KEY', TOOLING),
    },
    key: cited(true, TOOLING),
    lineaMethods: cited(true, BY_LINEA),
  },
  {
    operator: 'Moralis',
    urls: {
      linea: cited('https://site1.moralis-nodes.com/linea/', MORALIS),
      'linea-sepolia': cited('https://site1.moralis-nodes.com/linea-sepolia/', MORALIS),
    },
    key: cited(true, TOOLING),
    ethGetProof: cited(true, MORALIS),
    lineaMethods: cited(false, BY_LINEA),
  },
  {
    operator: 'Dwellir',
    urls: { linea: cited('https://api-linea-mainnet-archive.n.dwellir.com/KEY', DWELLIR) },
    key: cited(true, DWELLIR),
  },
  ...['BlockPI', 'Chainstack', 'dRPC', 'NOWNodes'].map((operator) => listed(operator, true)),
  ...['QuickNode', 'ANKR', 'Unifra'].map((operator) => listed(operator, false)),
  {
    operator: 'ZAN',
    urls: {},
    lightClient: [
      cited('finality update', 'https://docs.zan.top/reference/beacon-getbeaconlightclientfinalityupdate'),
      cited('bootstrap', 'https://docs.zan.top/reference/beacon-getbeaconlightclientbootstrapbyblockroot'),
    ],
  },
];
