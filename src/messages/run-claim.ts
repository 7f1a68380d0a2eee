import { isNotAvailableYet } from '../chain/light/refused.js';
import { prefetchAccesses, prefetchBudget } from '../chain/light/state/prepared-call.js';
import { CodeCache, LightState, ProvedStates } from '../chain/light/state/proved-state.js';
import { stateBatch } from '../chain/light/state/state-batch.js';
import { timeOfFork } from '../consensus/slots.js';
import { PlumblineError } from '../errors.js';
import { contextOfHeader } from '../evm/block-context.js';
import { simulateCallAt } from '../evm/call.js';
import type { RunLimits } from '../evm/run-budget.js';
import { beaconNetworkOf } from '../networks/beacon-networks.js';
import { layerOneOfDevnet } from '../networks/devnet.js';
import { ethereum, hoodi, sepolia } from '../networks/ethereum.js';
import type { Network } from '../networks/network.js';
import type { CallRequest } from '../primitives/call-request.js';
import { hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { HashedHeader } from '../proof/headers.js';
import type { EndpointGroup } from '../upstream/group.js';
import type { ClaimRunner } from './message-logs.js';

/** `l2MerkleRootsDepths(0)`. */
const READS_DEPTH = hexToBytes(`0x60e83cf3${'00'.repeat(32)}`, 36);

/**
 * Runs claims on states that endpoints supply and headers prove.
 *
 * @param own - the network of the contract
 * @param layerOne - the network below it
 * @returns undefined if no profile is known of its layer 1
 */
export function claimRunner(
  group: Pick<EndpointGroup, 'requestMany'>,
  own: Network,
  layerOne = profileOfLayerOne(own),
): ClaimRunner | undefined {
  if (layerOne === undefined) return undefined;
  const network = layerOne;
  const address = hexToBytes(own.rollup!.address, 20);
  const states = new ProvedStates(new CodeCache());
  const execute = ({ header, hash }: HashedHeader, call: CallRequest, limits: RunLimits) => {
    const blockHash = async (number: number) => {
      if (number === header.number - 1) return header.parentHash;
      throw new PlumblineError('BLOCK_NOT_FOUND', `block ${number} is not held`, { block: String(number) });
    };
    const context = contextOfHeader(header, blockHash, network);
    const state = states.after({ header, hash });
    const left = prefetchBudget();
    const reader = new LightState(state, async (accesses) => {
      accesses.addAll(await prefetchAccesses(state, { call, context, network, left, ...limits }));
      const open = state.missing(accesses);
      if (open.isEmpty) return;
      const batch = stateBatch(open, toQuantity(header.number), (holder) => state.hasCodeOf(holder));
      await group.requestMany(batch.calls, {
        ...(limits.signal && { signal: limits.signal }),
        isTransient: isNotAvailableYet,
        accept: (answers, from) => batch.read(state, answers, from),
      });
    });
    return simulateCallAt(reader, context, call, { network, ...limits });
  };
  return {
    async warm(at, limits) {
      await execute(at, { to: address, data: READS_DEPTH }, limits);
    },
    run: execute,
  };
}

/** The profile of the layer 1 of a rollup, by its beacon chain; undefined if no profile here has it. */
function profileOfLayerOne({ layerOne }: Network): Network | undefined {
  if (layerOne === undefined) return undefined;
  const beacon = beaconNetworkOf(layerOne);
  const amsterdam = timeOfFork(beacon, 'gloas');
  const own = layerOneOfDevnet({ layerOne, ...(amsterdam !== undefined && { amsterdam }) });
  return [ethereum, sepolia, hoodi, own].find(({ chainId }) => chainId === beacon.depositChainId);
}
