import type { Hex, PlumblineNode } from 'plumbline-l2';
import { ask } from '../state/requests.js';
import { stage } from './state.js';

/** Two of four blocks are final, and the state of the second holds the hash of the first. */
const BLOCKS = 4;
/** The simulated beacon chain has slots of a second, and calls a block final within five of them. */
const [TRIES, TRY_MS] = [40, 500];
const SLOTS_OF_PERIOD = 64;

/** Mines a devnet that has hardly any blocks, and waits until its beacon chain calls one of them final. */
export async function fillChain(node: PlumblineNode): Promise<void> {
  stage.value = 'Blocks are mined, so that some are final.';
  const head = Number(await node.request({ method: 'eth_blockNumber' }));
  for (let block = head; block < BLOCKS; block++) await ask('evm_mine');
  for (let i = 0; i < TRIES; i++) {
    const update = await beacon<FinalityUpdate>(node, 'light_client/finality_update');
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
export async function olderCheckpoint(node: PlumblineNode): Promise<Hex> {
  const { data } = await beacon<Header>(node, 'headers/finalized');
  const period = Math.floor(Number(data.header.message.slot) / SLOTS_OF_PERIOD) - 1;
  // The beacon chain of a devnet makes earlier blocks when their update is asked for.
  await beacon(node, `light_client/updates?start_period=${period}&count=1`);
  return (await beacon<Header>(node, `headers/${period * SLOTS_OF_PERIOD}`)).data.root;
}

async function beacon<Answer>(node: PlumblineNode, path: string): Promise<Answer> {
  const response = await node.handleL1(new Request(`https://beacon.example/eth/v1/beacon/${path}`));
  return (await response.json()) as Answer;
}
