import type { Hex } from 'plumbline-l2';
import { asked } from '../state/requests.js';
import type { Devnet } from './servers.js';
import { stage } from './state.js';

/** Two of four blocks are final, and the state of the second holds the hash of the first. */
const BLOCKS = 4;
/** The simulated beacon chain has slots of a second, and calls a block final within five of them. */
const [TRIES, TRY_MS] = [40, 500];
const SLOTS_OF_PERIOD = 64;

/** How many blocks a devnet lacks before some are final. */
async function blocksLacking(devnet: Devnet): Promise<number> {
  return Math.max(0, BLOCKS - Number(await devnet.request('layer-2', 'eth_blockNumber', [])));
}

/** Whether evidence can be shown without a block that is mined for it. */
export async function isFilled(devnet: Devnet): Promise<boolean> {
  return (await blocksLacking(devnet)) === 0;
}

/** Mines a devnet that has hardly any blocks, and waits until its beacon chain calls one of them final. */
export async function fillChain(devnet: Devnet): Promise<void> {
  stage.value = 'Blocks are mined, so that some are final.';
  for (let left = await blocksLacking(devnet); left > 0; left--) await devnet.request('layer-2', 'evm_mine', []);
  // The line of the page that shows the head looks again.
  asked.value++;
  for (let i = 0; i < TRIES; i++) {
    const update = await beacon<FinalityUpdate>(devnet, 'light_client/finality_update');
    if (Number(update.data?.finalized_header.execution.block_number ?? 0) > 0) return;
    stage.value = 'The simulated beacon chain needs some seconds to call a block final.';
    await new Promise((resolve) => setTimeout(resolve, TRY_MS));
  }
}

interface FinalityUpdate {
  readonly data?: { readonly finalized_header: { readonly execution: { readonly block_number: string } } };
}

interface Header {
  readonly data: { readonly root: Hex; readonly header: { readonly message: { readonly slot: string } } };
}

/** Root of a final beacon block of the period before, so that the light node has a change of committees to follow. */
export async function olderCheckpoint(devnet: Devnet): Promise<Hex> {
  const { data } = await beacon<Header>(devnet, 'headers/finalized');
  const period = Math.floor(Number(data.header.message.slot) / SLOTS_OF_PERIOD) - 1;
  // The beacon chain of a devnet makes earlier blocks when their update is asked for.
  await beacon(devnet, `light_client/updates?start_period=${period}&count=1`);
  return (await beacon<Header>(devnet, `headers/${period * SLOTS_OF_PERIOD}`)).data.root;
}

async function beacon<Answer>(devnet: Devnet, path: string): Promise<Answer> {
  const response = await devnet.beacon(`/eth/v1/beacon/${path}`);
  return (await response.json()) as Answer;
}
