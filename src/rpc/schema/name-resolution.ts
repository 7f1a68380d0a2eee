import type { TrustLevel } from '../../chain/block.js';
import type { ForwardOutcome, ReverseOutcome } from '../../names/resolve.js';
import type { Hex } from '../../primitives/hex.js';
import type { LineaBlockJson } from './json.js';

/** Options of `node.resolveName` and `node.lookupAddress`. */
export interface NameOptions {
  /**
   * Of which kind of address, as ENSIP-9 and ENSIP-11 count them. Default 60: ether on layer 1. `0x80000000 + chainId` is the address on
   * another chain, such as `0x8000e708` for Linea.
   */
  readonly coinType?: number;
  /** The state that is read: a number, a hash or a tag. Default `latest`. */
  readonly block?: LineaBlockJson;
}

/** What an answer about a name rests on. */
export interface NameTrust {
  /** Level of the block whose state was read. */
  readonly level: TrustLevel;
  readonly block: { readonly number: number; readonly hash: Hex };
}

/**
 * What a name resolves to. `status` says what was found; `address` is there only if it is `resolved`. It is in lower case; of coin types
 * that have no addresses of the EVM, it is the record as it is stored (ENSIP-9).
 */
export type NameResolution = {
  /** The name as it was asked for, normalised (ENSIP-15). */
  readonly name: string;
  readonly coinType: number;
  readonly trust: NameTrust;
} & ForwardOutcome;

/** The name of an address. `name` is there only if `status` is `found`: the reverse record names it, and it resolves to the address. */
export type AddressLookup = {
  readonly address: Hex;
  readonly coinType: number;
  readonly trust: NameTrust;
} & ReverseOutcome;
