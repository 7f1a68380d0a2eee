import { PlumblineError } from '../../errors.js';
import { parseExtraData } from '../../fees/extra-data.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { SerialQueue } from '../../scheduling/serial-queue.js';
import { StoreHealth } from '../../store/store-status.js';
import type { BlockReference } from '../block.js';
import { DevnetFinality, NO_LAYER_ONE } from '../devnet/layer-one/finality.js';
import { BlockMaker } from '../devnet/mining/block-maker.js';
import { DevnetControl } from '../devnet/mining/control.js';
import { Mining, requireInterval } from '../devnet/mining/mining.js';
import { TransactionSubmission } from '../devnet/mining/transaction-submission.js';
import type { FinalityOptions, MiningMode } from '../devnet/options.js';
import { Ledger } from '../devnet/records/ledger.js';
import type { MakingSettings } from '../devnet/settings.js';
import { DEV_ACCOUNTS } from '../devnet/state/dev-accounts.js';
import { DEV_BALANCE, type GenesisAlloc } from '../devnet/state/genesis.js';
import { ChainWriter } from '../devnet/storage/chain-writer.js';
import { StoredChain } from '../devnet/storage/stored-chain.js';
import type { LightCache } from '../light/light-cache.js';
import type { LightChain } from '../light/light-chain.js';
import type { StateEdit } from '../state-edits.js';
import { ForkChain } from './fork-chain.js';
import { ForkState } from './fork-state.js';
import { type ForkOrigin, readFork, requireSameBlock, type StoredFork, storeFork } from './fork-store.js';
import { NetworkState } from './network-state.js';

/** Settings of a fork. */
export interface ForkSettings extends Omit<MakingSettings, 'forkedFrom' | 'prices'> {
  /** The network. Closed with the fork, and by the caller when the fork does not open. */
  readonly light: LightChain;
  /** The block to begin with; its newest when left out. */
  readonly at: BlockReference | undefined;
  /** A fork that this one replaces: its block, and what is known of its network. */
  readonly before?: ForkChain | undefined;
  readonly mining: MiningMode;
  readonly finality: FinalityOptions;
  /** Changes to the state before the first block. */
  readonly edits: readonly StateEdit[];
  /** Keeps what is read of the network for later sessions. */
  readonly cache: LightCache | undefined;
  readonly health: StoreHealth | undefined;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

/**
 * Opens a fork: the one in its store, or a new one.
 *
 * @throws PlumblineError `BLOCK_NOT_FOUND`; `INVALID_PARAMETER` for another block than that of the stored fork; `STORE_CORRUPT` for a
 *   store with another chain; of the network
 */
export async function openFork(given: ForkSettings): Promise<ForkChain> {
  const { light, at, store, network, cache, health = new StoreHealth('durable') } = given;
  requireInterval(given.mining);
  const found = store && (await readFork(store, network.chainId, health));
  if (found !== undefined) requireSameBlock(found, at);
  const origin = found?.origin ?? given.before?.origin ?? (await originOf(light, at));
  const { block } = origin;
  const { number } = block.header;
  const reading = parseExtraData(block.header.extraData);
  const settings: MakingSettings = {
    ...given,
    prices: reading.status === 'prices' ? reading.prices : undefined,
    forkedFrom: { number, hash: block.hash },
  };
  const { proofs: nodes, codes } = cache ?? {};
  const networkState = new NetworkState({ network: light, block, nodes, codes }, given.before?.networkState);
  const state = new ForkState(networkState);
  const hashOf = (below: number) => light.contextOf(block).blockHash(below);
  const ledger = new Ledger(network.chainId, { first: number, hashOf });
  ledger.append(block, []);
  const finality = new DevnetFinality(NO_LAYER_ONE, ledger, state, given.finality);
  const queue = new SerialQueue();
  const stored = found ?? (store && (await storeFork(store, network.chainId, origin)));
  const own = { head: stored?.head ?? number, hashOf: (of: number) => ledger.hashOf(of) };
  const writer = stored && new ChainWriter(stored.blocks, own, health, (work) => queue.run(work));
  const maker = new BlockMaker(settings, ledger, state, finality, writer, undefined);
  if (found !== undefined)
    await replay(found, { state, ledger, finality, maker, health, onProgress: given.onProgress });
  const mining = new Mining(maker, queue);
  const submission = new TransactionSubmission(settings, ledger, maker, mining);
  const control = new DevnetControl({ settings, maker, mining, submission, ledger, state, queue });
  if (found === undefined) {
    // In as few requests as possible: edits read one account after another.
    const reader = networkState.reader({});
    await Promise.all(given.edits.map(({ address }) => reader.account(address)));
    await control.editAll(given.edits);
  }
  await mining.set(given.mining);
  const storedChain = (end: () => Promise<void>) => new StoredChain({ queue, ledger, stored, writer, end });
  const parts = { settings, light, origin, networkState, state, ledger, finality, maker, mining, submission, control };
  return new ForkChain({ ...parts, queue, writer, storedChain });
}

async function originOf(light: LightChain, at: BlockReference = { tag: 'latest' }): Promise<ForkOrigin> {
  const block = await light.block(at);
  if (block !== undefined) return { block, level: await light.trust(block) };
  const name = 'number' in at ? String(at.number) : 'hash' in at ? bytesToHex(at.hash) : at.tag;
  throw new PlumblineError('BLOCK_NOT_FOUND', `the network has no block ${name} to fork; name an earlier one`, {
    block: name,
  });
}

interface Replaying {
  readonly state: ForkState;
  readonly ledger: Ledger;
  readonly finality: DevnetFinality;
  readonly maker: BlockMaker;
  readonly health: StoreHealth;
  readonly onProgress: ((fraction: number) => void) | undefined;
}

/** Takes over the stored blocks of a fork. @throws PlumblineError `STORE_CORRUPT` */
async function replay({ blocks, origin, head }: StoredFork, parts: Replaying): Promise<void> {
  const { state, ledger, finality, maker, health, onProgress } = parts;
  await blocks.each(
    origin.block.header.number + 1,
    head,
    ({ block, receipts, changes }) => {
      maker.checkLink(block.header.number, block.header.parentHash);
      state.replay(block.header.number, changes, block.header.stateRoot);
      ledger.append(block, receipts);
      finality.advance();
    },
    onProgress,
  );
  await maker.resume(await blocks.edits((repair) => health.repaired(repair)));
}

/**
 * The edits of a new fork. The dev accounts have as much as on any devnet, and no code: on networks, others have set some. Of the
 * accounts that the options name, what they name replaces what the network has.
 *
 * @param alloc - by address
 * @throws PlumblineError `INVALID_HEX`, `INVALID_LENGTH`
 */
export function openingEdits(alloc: GenesisAlloc = {}): StateEdit[] {
  const dev = DEV_ACCOUNTS.flatMap((account): StateEdit[] => {
    const address = hexToBytes(account.address, 20);
    return [
      { kind: 'balance', address, balance: DEV_BALANCE },
      { kind: 'code', address, code: new Uint8Array(0) },
    ];
  });
  const named = Object.entries(alloc).flatMap(([name, { balance, nonce, code, storage = {} }]): StateEdit[] => {
    const address = hexToBytes(name, 20);
    return [
      ...(balance === undefined ? [] : [{ kind: 'balance', address, balance } as const]),
      ...(nonce === undefined ? [] : [{ kind: 'nonce', address, nonce } as const]),
      ...(code === undefined ? [] : [{ kind: 'code', address, code: hexToBytes(code) } as const]),
      ...Object.entries(storage).map(([key, value]): StateEdit => {
        return { kind: 'slot', address, key: hexToBytes(key, 32), value: hexToBytes(value, 32) };
      }),
    ];
  });
  return [...dev, ...named];
}
