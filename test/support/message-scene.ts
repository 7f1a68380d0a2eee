import { concatHex, encodeAbiParameters, keccak256, numberToHex, toHex } from 'viem';
import { onTestFinished } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Network } from '../../src/networks/network.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { anchorSlots } from '../../src/proof/l1-anchor.js';
import { attestedScene } from './attested-chain.js';
import { layerOneOf } from './bridge.js';
import { accountAt, type DevNode, devNode, stranger, word } from './dev-node.js';
import { serveMock } from './mock-chain.js';

/** A message as a test names it. */
export interface TestMessage {
  readonly from: Hex;
  readonly to: Hex;
  readonly fee: bigint;
  readonly value: bigint;
  readonly nonce: bigint;
  readonly data: Hex;
}

/** Where the message service of the rollup is. */
export const MESSAGE_SERVICE = stranger('5e');
export const ROLLUP = devnet().rollup.address;

const FIELDS = ['address', 'address', 'uint256', 'uint256', 'uint256', 'bytes'].map((type) => ({ type }));

/** By viem: a second implementation. */
export const hashOf = ({ from, to, fee, value, nonce, data }: TestMessage): Hex =>
  keccak256(encodeAbiParameters(FIELDS, [from, to, fee, value, nonce, data]));

/** A whole tree with all its zero leaves: its levels, the leaves first. */
export function treeOf(hashes: readonly Hex[], depth = 5): Hex[][] {
  const levels = [Array.from({ length: 2 ** depth }, (_, i) => hashes[i] ?? word(0n))];
  for (let level = levels[0]!; level.length > 1; ) {
    level = Array.from({ length: level.length / 2 }, (_, i) =>
      keccak256(concatHex([level[2 * i]!, level[2 * i + 1]!])),
    );
    levels.push(level);
  }
  return levels;
}

/** Logs what its calldata says: records of the number of data bytes, four topics (three if the last is zero) and the data. */
const LOGGER: Hex =
  '0x5f5b803614604b578035808260a0015f3781608001358060305750816060013582604001358360200135835fa36043565b826060013583604001358460200135845fa45b0160a0016001565b00';
const MESSAGE_SENT: Hex = '0xe856c2b8bd4eb0027ce32eeaf595c21b0b6b4644b326e5b7bd80a1cf8db72e6c';
const DATA_FINALIZED: Hex = '0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb';
const ROOT_ADDED: Hex = '0x300e6f978eee6a4b0bba78dd8400dc64fd5652dbfc868a2258e16d0977be222b';
const padded = (address: Hex): Hex => concatHex(['0x000000000000000000000000', address]);

/** One log, as `LOGGER` reads it. */
export const record = (topics: readonly Hex[], data: Hex): Hex =>
  concatHex([word(BigInt(data.length / 2 - 1)), ...Array.from({ length: 4 }, (_, i) => topics[i] ?? word(0n)), data]);

/** The log of a message. @param hash - that the log names */
export function messageRecord(message: TestMessage, hash = hashOf(message)): Hex {
  const { from, to, fee, value, nonce, data } = message;
  const body = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
    [fee, value, nonce, data],
  );
  return record([MESSAGE_SENT, padded(from), padded(to), hash], body);
}

/** Blocks of the rollup that are final together. */
export interface TestFinalization {
  readonly first: number;
  readonly last: number;
  /** Of its trees; those of `anchored` are in the contract. */
  readonly roots: readonly Hex[];
  readonly anchored: readonly Hex[];
  readonly depth: number;
}

export const depthSlot = (root: Hex): Hex => keccak256(concatHex([root, word(336n)]));
export const claimedSlot = (nonce: bigint): Hex => keccak256(concatHex([word(nonce >> 8n), word(335n)]));

/** What the contract on layer 1 holds beside the roots. */
export interface TestContract {
  readonly claimed?: readonly bigint[];
  readonly pauseBits?: bigint;
  readonly limit?: bigint;
  readonly used?: bigint;
  readonly periodEnd?: bigint;
  readonly balance?: bigint;
  /** Hashes of old messages that layer 1 has recorded itself. */
  readonly inbox?: readonly Hex[];
  /** It executes claims as the rollup of a devnet does, and this stands behind its code; else its code logs alone. */
  readonly codeEnd?: string;
  /** Other accounts of layer 1. */
  readonly beside?: readonly TestAccount[];
  /** What they are after the final block of layer 1. */
  readonly later?: readonly TestAccount[];
}

export interface TestAccount {
  readonly at: Hex;
  readonly code?: Hex;
  readonly balance?: bigint;
  /** What its slots 0, 1 and so on hold. */
  readonly slots?: readonly bigint[];
}

async function putAccounts({ ask }: Pick<DevNode, 'ask'>, accounts: readonly TestAccount[]): Promise<void> {
  for (const { at, code, balance, slots = [] } of accounts) {
    if (code !== undefined) await ask('anvil_setCode', at, code);
    if (balance !== undefined) await ask('anvil_setBalance', at, numberToHex(balance));
    for (const [slot, value] of slots.entries()) await ask('anvil_setStorageAt', at, word(BigInt(slot)), word(value));
  }
}

/**
 * A rollup whose message service logs, and the layer 1 that anchors its trees, attested by consensus.
 *
 * @param blocks - records of the logs of each block of the rollup from block 1 on, and at which address
 */
export async function messageScene(
  blocks: readonly (readonly { readonly at?: Hex; readonly records: readonly Hex[] }[])[],
  finalizations: readonly TestFinalization[],
  contract: TestContract = {},
) {
  const l2 = await devNode({ chain: { kind: 'devnet', network: devnet(), mining: 'manual' } } as never);
  const places = new Set([MESSAGE_SERVICE, ...blocks.flat().map(({ at = MESSAGE_SERVICE }) => at)]);
  for (const at of places) await l2.ask('anvil_setCode', at, LOGGER);
  for (const own of blocks) {
    for (const [i, { at = MESSAGE_SERVICE, records }] of own.entries())
      await l2.ask('eth_sendTransaction', {
        from: accountAt(i % 10),
        to: at,
        data: concatHex(records),
        gas: '0x989680',
      });
    await l2.ask('anvil_mine', 1);
  }
  const final = finalizations.at(-1)!.last;
  const { limit = 10n ** 24n, used = 0n, periodEnd = 2n ** 40n, pauseBits = 0n, balance = 10n ** 21n } = contract;

  async function prepare(l1: DevNode): Promise<void> {
    const store = (slot: Hex, value: bigint) => l1.ask('anvil_setStorageAt', ROLLUP, slot, word(value));
    await l1.ask('anvil_setCode', ROLLUP, LOGGER);
    await l1.ask('anvil_setBalance', ROLLUP, numberToHex(balance));
    const [current, rootOf] = anchorSlots(devnet().rollup, final).map(bytesToHex) as [Hex, Hex];
    await store(current, BigInt(final));
    // Any root: the zk state is not read here.
    await store(rootOf, 1n);
    await store(word(152n), limit);
    await store(word(153n), periodEnd);
    await store(word(154n), used);
    await store(word(218n), pauseBits);
    const words = new Map<Hex, bigint>();
    for (const nonce of contract.claimed ?? [])
      words.set(claimedSlot(nonce), (words.get(claimedSlot(nonce)) ?? 0n) | (1n << (nonce & 255n)));
    for (const [slot, value] of words) await store(slot, value);
    for (const hash of contract.inbox ?? []) await store(keccak256(concatHex([hash, word(166n)])), 1n);
    for (const { first, last, roots, anchored, depth } of finalizations) {
      for (const root of anchored) await store(depthSlot(root), BigInt(depth));
      const range = [DATA_FINALIZED, word(BigInt(first)), word(BigInt(last)), toHex(1, { size: 32 })];
      const added = roots.map((root) => record([ROOT_ADDED, root, word(BigInt(depth))], '0x'));
      await l1.ask('eth_sendTransaction', {
        from: accountAt(0),
        to: ROLLUP,
        data: concatHex([...added, record(range, `0x${'00'.repeat(64)}`)]),
        gas: '0x989680',
      });
    }
    if (contract.codeEnd !== undefined) {
      const code = await layerOneOf(l2)('eth_getCode', ROLLUP, 'latest');
      await l1.ask('anvil_setCode', ROLLUP, `${code}${contract.codeEnd}`);
    }
    await putAccounts(l1, contract.beside ?? []);
  }

  const l1 = await attestedScene({ prepare, blocks: 6 });
  if (contract.later !== undefined) {
    await putAccounts(l1.dev, contract.later);
    await l1.dev.ask('anvil_mine', 1);
  }
  const network: Network = {
    ...devnet(),
    name: 'own rollup',
    layerOne: l1.network.layerOne!,
    messageService: MESSAGE_SERVICE,
    rollup: { ...devnet().rollup, rootDepthsSlot: 336n, claimedSlot: 335n },
  };
  const endpoint = await serveMock(l2.node);
  onTestFinished(() => endpoint.close());
  const [execution] = l1.endpoints;
  const honest = [await serveMock(l2.node), await serveMock(l1.dev.node)] as const;
  for (const one of honest) onTestFinished(() => one.close());
  const consensus = { consensus: l1.servers.map(({ url }) => url), checkpoint: { root: bytesToHex(l1.genesis.root) } };

  /** @param how - `endpoints`: no consensus is followed; `second`: each layer has a second endpoint */
  async function open(how: 'consensus' | 'endpoints' | 'second' = 'consensus') {
    const [l2Urls, l1Urls] = [
      [endpoint.url, honest[0].url],
      [execution!.url, honest[1].url],
    ].map((urls) => (how === 'second' ? urls : urls.slice(0, 1))) as [string[], string[]];
    const node = await createInlineNode({
      clock: l1.clock,
      chain: {
        kind: 'light',
        network,
        endpoints: l2Urls,
        level: 'plain',
        layerOne: how === 'endpoints' ? l1Urls : { ...consensus, execution: l1Urls },
      },
    });
    onTestFinished(() => node.close());
    return node;
  }
  return { l2, l1, network, endpoint, execution: execution!, open };
}
