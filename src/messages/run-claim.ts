import { isNotAvailableYet } from '../chain/light/refused.js';
import { LightState } from '../chain/light/state/light-state.js';
import { prefetchAccesses, prefetchBudget } from '../chain/light/state/prepared-call.js';
import { CodeCache, ProvedStates } from '../chain/light/state/proved-state.js';
import { stateBatch } from '../chain/light/state/state-batch.js';
import { PlumblineError } from '../errors.js';
import { contextOfHeader } from '../evm/block-context.js';
import { revertReason, simulateCallAt } from '../evm/call.js';
import type { RunLimits } from '../evm/run-budget.js';
import type { Network } from '../networks/network.js';
import { equalBytes } from '../primitives/bytes.js';
import type { CallRequest } from '../primitives/call-request.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { HashedHeader } from '../proof/headers.js';
import type { EndpointGroup } from '../upstream/group.js';
import type { PreparedClaim } from './withdrawal.js';

/** Runs claims on the state of layer-1 blocks, which endpoints supply and headers prove. */
export interface ClaimRunner {
  /** Fetches the code of the contract, which every claim needs. */
  warm(at: HashedHeader, limits: RunLimits): Promise<void>;
  /**
   * @param call - the claim
   * @param hash - of the message, 32 bytes
   * @throws PlumblineError of the endpoints; `GAS_BUDGET_EXCEEDED`, `ABORTED`
   */
  run(at: HashedHeader, call: CallRequest, hash: Uint8Array, limits: RunLimits): Promise<ClaimRun>;
}

/** What a claim did. */
export type ClaimRun = Required<Pick<PreparedClaim, 'wouldPass'>> & Pick<PreparedClaim, 'revert'>;

/** `MessageClaimed(bytes32)`. @source docs/spec/messages.md 6 */
const MESSAGE_CLAIMED = hexToBytes('0xa4c827e719e911e8f19393ccdb85b5102f08f0910604d340ba38390b7ff2ab0e', 32);
/** `l2MerkleRootsDepths(0)`. */
const READS_DEPTH = hexToBytes(`0x60e83cf3${'00'.repeat(32)}`, 36);

/**
 * @param network - of layer 1
 * @param rollup - address of the contract
 */
export function claimRunner(group: EndpointGroup, network: Network, rollup: string): ClaimRunner {
  const address = hexToBytes(rollup, 20);
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
    async run(at, call, hash, limits) {
      const { succeeded, exception, returnData, logs } = await execute(at, call, limits);
      const isClaimed = logs.some(
        ({ address: by, topics: [event, of] }) =>
          of !== undefined && equalBytes(by, address) && equalBytes(event!, MESSAGE_CLAIMED) && equalBytes(of, hash),
      );
      if (succeeded && isClaimed) return { wouldPass: true };
      const reason = succeeded ? 'the contract claimed nothing' : (revertReason(returnData) ?? exception);
      return { wouldPass: false, revert: { data: bytesToHex(returnData), ...(reason && { reason }) } };
    },
  };
}
