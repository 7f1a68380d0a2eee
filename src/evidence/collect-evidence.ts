import type { ConsensusSource, LightChainParts } from '../chain/light/light-parts.js';
import { answerRefused, missing, notReached } from '../chain/light/refused.js';
import type { Settlement } from '../chain/light/settlement/settlement.js';
import type { ZkQuestion } from '../chain/light/settlement/zk-proofs.js';
import { HISTORY_CONTRACT } from '../ethereum/constants.js';
import { rollupOf } from '../networks/network.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { verifyEthereumProof } from '../proof/ethereum-proof.js';
import { verifyHeader } from '../proof/headers.js';
import { anchorSlots, verifyL1Anchor } from '../proof/l1-anchor.js';
import { hashInRing, historySlot } from '../proof/settled-header.js';
import type { EndpointGroup } from '../upstream/group.js';
import { EVIDENCE_FORMAT, type EvidenceBundle, type EvidenceClaim } from './evidence-bundle.js';
import { verifyEvidence } from './verify-evidence.js';

/** What a light node has that follows the consensus of layer 1. */
export interface EvidenceSources extends Pick<LightChainParts, 'network' | 'upstream' | 'clock'> {
  readonly layerOne: EndpointGroup;
  readonly consensus: ConsensusSource;
  readonly settlement: Settlement;
}

/**
 * Collects the answers of endpoints from the trusted beacon block to a claim, and verifies them together as a reader of the bundle will.
 *
 * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` for a block that the zk state does not hold; `BLOCK_NOT_PROVABLE`,
 *   `ANSWER_REFUSED`, of the endpoints
 */
export async function collectEvidence(
  { network, upstream, clock, layerOne, consensus, settlement }: EvidenceSources,
  claim: EvidenceClaim,
): Promise<EvidenceBundle> {
  const newest = (await settlement.newest())!;
  const { at, ...answered } =
    newest.hash === undefined
      ? await onZkState(claim, newest.number, settlement, upstream)
      : await onHeader(claim, newest.number, settlement, upstream);
  const { checkpoint, bootstrap, answers, finalized, maxAgeMs } = await consensus.answers();
  const rollupNetwork = rollupOf(network);
  const { chainId, rollup } = rollupNetwork;
  const layerOneHeader =
    finalized.stateRoot === undefined ? await layerOneHeaderOf(finalized.blockHash, layerOne) : undefined;
  const anchored = layerOneHeader?.verified.header ?? finalized;
  const params = [rollup.address, anchorSlots(rollup, at).map(bytesToHex), toQuantity(anchored.number!)];
  const accept = (answer: unknown) => {
    const request = { l1StateRoot: anchored.stateRoot!, rollup, l2BlockNumber: at };
    const verdict = verifyL1Anchor(request, answer);
    if (!verdict.verified) throw answerRefused('rollup contract', verdict);
    return answer;
  };
  const bundle: EvidenceBundle = {
    format: EVIDENCE_FORMAT,
    chainId,
    claim,
    checkpoint: bytesToHex(checkpoint),
    consensus: { bootstrap, answers },
    ...(layerOneHeader && { layerOneHeader: layerOneHeader.answer }),
    finalized: at,
    rollup: await layerOne.request('eth_getProof', params, { tryNext: () => true, accept }),
    ...answered,
  };
  const verdict = await verifyEvidence(bundle, { network: rollupNetwork, checkpoint, now: clock.now(), maxAgeMs });
  if (!verdict.verified) throw answerRefused(`evidence, link ${verdict.link}`, verdict);
  return bundle;
}

/** The header of a layer-1 block, as an endpoint answers it, and verified. */
function layerOneHeaderOf(hash: Uint8Array, layerOne: EndpointGroup) {
  const accept = (answer: unknown) => {
    if (answer === null) throw missing('layer-1 header');
    const verified = verifyHeader(answer, { hash });
    if (!verified.verified) throw answerRefused('layer-1 header', verified);
    return { answer, verified };
  };
  return layerOne.request('eth_getBlockByHash', [bytesToHex(hash), false], { tryNext: () => true, accept });
}

type Upstream = LightChainParts['upstream'];

/** What proves a claim in the zk state, whose root layer 1 stores. */
async function onZkState(claim: EvidenceClaim, newest: number, settlement: Settlement, upstream: Upstream) {
  const { proof: state, at } = await settlement.prove(questionOf(claim, newest), { tag: 'finalized' });
  return {
    at: at.number,
    state,
    ...('block' in claim && { header: (await headerOf(claim.block, settlement, upstream)).answer }),
  };
}

/** What proves a claim in the state of the finalized block, whose hash layer 1 stores. */
async function onHeader(claim: EvidenceClaim, newest: number, settlement: Settlement, upstream: Upstream) {
  const { answer: finalizedHeader, stateRoot } = await headerOf(newest, settlement, upstream);
  const isTop = 'block' in claim && claim.block === newest;
  if (isTop) return { at: newest, finalizedHeader };
  const { address, storageKeys } = questionOf(claim, newest);
  const params = [bytesToHex(address), storageKeys.map(bytesToHex), toQuantity(newest)];
  const accept = (answer: unknown) => {
    const verdict =
      'block' in claim
        ? hashInRing(claim.block, newest, stateRoot, answer)
        : verifyEthereumProof({ address, storageKeys, stateRoot }, answer);
    if (!verdict.verified) throw answerRefused(`state after block ${newest}`, verdict);
    return answer;
  };
  const state = await upstream.request('eth_getProof', params, { tryNext: () => true, accept });
  if ('address' in claim) return { at: newest, finalizedHeader, state };
  const { answer: header } = await headerOf(claim.block, settlement, upstream);
  return { at: newest, finalizedHeader, state, header };
}

function questionOf(claim: EvidenceClaim, finalized: number): ZkQuestion {
  if ('address' in claim) {
    return { address: hexToBytes(claim.address, 20), storageKeys: claim.storageKeys.map((key) => hexToBytes(key, 32)) };
  }
  const key = historySlot(claim.block, finalized);
  if (key !== undefined) return { address: HISTORY_CONTRACT, storageKeys: [key] };
  const reason = `the state after block ${finalized} does not hold the hash of block ${claim.block} (OUT_OF_RING)`;
  throw notReached('settled', undefined, reason);
}

/** The header of a settled block, as an endpoint answers it, and its state root. */
async function headerOf(number: number, settlement: Settlement, upstream: LightChainParts['upstream']) {
  const block = await (await settlement.blocks!()).byNumber(number);
  if (block === undefined) throw notReached('settled', undefined, `block ${number} is not settled`);
  const accept = (answer: unknown) => {
    if (answer === null) throw missing(`header of block ${number}`);
    const verdict = verifyHeader(answer, { hash: block.hash });
    if (!verdict.verified) throw answerRefused(`header of block ${number}`, verdict);
    return { answer, stateRoot: verdict.header.stateRoot };
  };
  return upstream.request('eth_getBlockByHash', [bytesToHex(block.hash), false], { tryNext: () => true, accept });
}
