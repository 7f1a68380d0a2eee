import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { type BridgeMessage, claimCalldata, hashMessage, messageTrees, siblingsOf } from '../../src/proof/messages.js';
import type { DevNode } from './dev-node.js';

export const ROLLUP = devnet().rollup.address;
export const SERVICE = devnet().messageService!;

/** Runtime code that reverts with the text `no`: Error(string). */
export const REFUSES: Hex = `0x7f08c379a0${'00'.repeat(28)}5f526020600452600260245261${Buffer.from('no').toString('hex')}60f01b60445260645ffd`;

const word = (value: bigint | string) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');

/** `sendMessage(to, fee, data)` of either layer. */
export function sendMessage(to: Hex, fee = 0n, data: Hex = '0x'): Hex {
  const bytes = data.slice(2);
  const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0');
  return `0x9f3ce55a${word(to)}${word(fee)}${word(96n)}${word(BigInt(bytes.length / 2))}${padded}`;
}

/** A request to the layer 1 of a devnet. */
export function layerOneOf({ node }: Pick<DevNode, 'node'>) {
  return <T = Hex>(method: string, ...params: unknown[]) => node.l1.request({ method, params } as never) as Promise<T>;
}

/** Sends a message from a dev account, without data. @returns the receipt */
export async function withdraw(
  { ask }: Pick<DevNode, 'ask'>,
  from: Hex,
  to: Hex,
  value: bigint,
  { fee = 0n, data = '0x' as Hex } = {},
) {
  const call = { from, to: SERVICE, value: `0x${(value + fee).toString(16)}`, data: sendMessage(to, fee, data) };
  const hash = await ask<Hex>('eth_sendTransaction', call);
  const receipt = await ask<{ status: Hex; blockNumber: Hex; logs: { topics: Hex[] }[] }>(
    'eth_getTransactionReceipt',
    hash,
  );
  return { hash: receipt.logs[0]!.topics[3]!, blockNumber: Number(receipt.blockNumber), status: receipt.status };
}

/** A message, and its claim in the tree of its finalization. @param all - messages of the finalization, in order */
export function claimOf(message: BridgeMessage, all: readonly BridgeMessage[] = [message]): Hex {
  const hashes = all.map(hashMessage);
  const index = all.indexOf(message);
  const tree = messageTrees(hashes)[index >> 5]!;
  const leafIndex = index & 31;
  return bytesToHex(claimCalldata({ message, siblings: siblingsOf(tree, leafIndex), leafIndex, root: tree.root }));
}

export const messageFrom = (from: Hex, to: Hex, value: bigint, nonce: bigint, fee = 0n): BridgeMessage => ({
  from: hexToBytes(from),
  to: hexToBytes(to),
  fee,
  value,
  nonce,
  data: new Uint8Array(),
});
