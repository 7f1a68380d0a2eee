import { devnet } from './devnet.js';
import { linea, lineaSepolia } from './linea.js';
import type { Network } from './network.js';

const PROFILES = {
  linea,
  'linea-sepolia': lineaSepolia,
  devnet: devnet(),
} satisfies Readonly<Record<string, Network>>;

/** A network that plumbline knows by name. */
export type NetworkName = keyof typeof PROFILES;

/**
 * The networks that plumbline knows, by the names of their profiles. The command line, the demo and the tests read this
 * table. `devnet` is the embedded development network with its defaults.
 */
export const NETWORKS: { readonly [Name in NetworkName]: Network } = PROFILES;
