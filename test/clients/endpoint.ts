import { serve } from '../../src/hosts/cli/server.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { Contracts } from '../support/contracts.js';
import { contracts } from '../support/contracts.js';

/** A devnet that clients reach in every way there is. */
export interface Endpoint {
  /** An EIP-1193 provider. */
  readonly node: PlumblineNode;
  readonly http: string;
  readonly webSocket: string;
  close(): Promise<void>;
}

export async function openEndpoint(options: InlineOptions = {}): Promise<Endpoint> {
  const node = await createInlineNode(options);
  const server = await serve(node, { port: 0 });
  const address = `127.0.0.1:${server.port}`;
  return {
    node,
    http: `http://${address}`,
    webSocket: `ws://${address}`,
    async close() {
      await server.close({ graceMs: 100 });
      await node.close();
    },
  };
}

/** What clients need of the test token, in the words that all three understand. */
export const TOKEN_ABI = [
  'function transfer(address to, uint256 value) returns (bool)',
  'function mint(address to, uint256 value)',
  'function balanceOf(address owner) view returns (uint256)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'error InsufficientBalance(address owner, uint256 balance, uint256 needed)',
] as const;

/** Creation code of the test token. */
export async function tokenCode(): Promise<`0x${string}`> {
  const { TestToken }: Contracts = await contracts();
  return TestToken!.creationCode as `0x${string}`;
}
