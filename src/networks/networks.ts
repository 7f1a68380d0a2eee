import { devnet } from './devnet.js';
import { ethereum, hoodi, sepolia } from './ethereum.js';
import { linea, lineaSepolia } from './linea.js';
import type { Network } from './network.js';

/** A network that plumbline knows by name. */
export type NetworkName = 'linea' | 'linea-sepolia' | 'ethereum' | 'sepolia' | 'hoodi' | 'devnet';

/**
 * The networks that plumbline knows, by the names of their profiles. The command line, the demo and the tests read this
 * table. `devnet` is the embedded development network with its defaults.
 */
export const NETWORKS: { readonly [Name in NetworkName]: Network } = {
  linea,
  'linea-sepolia': lineaSepolia,
  ethereum,
  sepolia,
  hoodi,
  devnet: devnet(),
};
