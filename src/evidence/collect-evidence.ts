import { AT_ONCE } from '../chain/light/heads/light-block.js';
import type { ConsensusSource, LightChainParts } from '../chain/light/light-parts.js';
import { answerRefused, missing, notReached } from '../chain/light/refused.js';
import type { Settlement } from '../chain/light/settlement/settlement.js';
import type { ZkQuestion } from '../chain/light/settlement/zk-proofs.js';
import { invalidParameter, PlumblineError } from '../errors.js';
import { HISTORY_CONTRACT } from '../ethereum/constants.js';
import type { BlockHeader } from '../ethereum/header.js';
import { rollupOf } from '../networks/network.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { verifyAccessList } from '../proof/access-list.js';
import { verifyEthereumProof } from '../proof/ethereum-proof.js';
import { verifyHeader } from '../proof/headers.js';
import { anchorSlots, verifyL1Anchor } from '../proof/l1-anchor.js';
import { hashInRing, historySlot } from '../proof/settled-header.js';
import { upstreamError } from '../upstream/failure.js';
import type { EndpointGroup } from '../upstream/group.js';
import {
  EVIDENCE_FORMAT,
  type EvidenceBundle,
  type EvidenceClaim,
  type EvidenceHistory,
  type UnchangedSlot,
} from './evidence-bundle.js';
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
 *   `ANSWER_REFUSED`, of the endpoints; `INVALID_PARAMETER` for a slot that is changed; `METHOD_NOT_ENABLED` where lists are not complete
 */
export async function collectEvidence(
  { network, upstream, clock, layerOne, consensus, settlement }: EvidenceSources,
  claim: EvidenceClaim,
): Promise<EvidenceBundle> {
  const unchanged = 'block' in claim ? claim.unchanged : undefined;
  if (unchanged !== undefined && network.accessLists !== 'complete') throw listsNotComplete();
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
    ...('block' in claim && unchanged && { history: await historyOf(claim.block, unchanged, settlement, upstream) }),
  };
  const verdict = await verifyEvidence(bundle, { network: rollupNetwork, checkpoint, now: clock.now(), maxAgeMs });
  // What the lists say is proved; the claim is not so.
  if (!verdict.verified && ['SLOT_CHANGED', 'ACCOUNT_MAY_HAVE_GONE'].includes(verdict.reason))
    throw invalidParameter('claim.unchanged', `is not so: ${verdict.message}`);
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
  const { answer: finalizedHeader, header: top } = await headerOf(newest, settlement, upstream);
  const { stateRoot } = top;
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

/** The header of a settled block. */
async function headerOf(number: number, settlement: Settlement, upstream: Upstream): Promise<FoundHeader> {
  const block = await (await settlement.blocks!()).byNumber(number);
  if (block === undefined) throw notReached('settled', undefined, `block ${number} is not settled`);
  const accept = (answer: unknown) => {
    if (answer === null) throw missing(`header of block ${number}`);
    const verdict = verifyHeader(answer, { hash: block.hash });
    if (!verdict.verified) throw answerRefused(`header of block ${number}`, verdict);
    return { answer, header: verdict.header, hash: verdict.hash };
  };
  return upstream.request('eth_getBlockByHash', [bytesToHex(block.hash), false], { tryNext: () => true, accept });
}

function listsNotComplete(): PlumblineError<'METHOD_NOT_ENABLED'> {
  const reason =
    'that a slot is unchanged rests on access lists, which the profile of this network does not call complete (accessLists)';
  return new PlumblineError('METHOD_NOT_ENABLED', reason, { method: 'exportEvidence', reason });
}

/** A header as an endpoint answers it, and verified. */
interface FoundHeader {
  readonly answer: unknown;
  readonly header: BlockHeader;
  readonly hash: Uint8Array;
}

/** What shows that a slot is unchanged up to a settled block. */
async function historyOf(
  block: number,
  { address, key, from }: UnchangedSlot,
  settlement: Settlement,
  upstream: Upstream,
): Promise<EvidenceHistory> {
  const blocks: { header: unknown; list: unknown }[] = [];
  let lowest = await headerOf(block, settlement, upstream);
  while (lowest.header.number > from) {
    const linked = await headersBelow(lowest, Math.max(from, lowest.header.number - AT_ONCE), upstream);
    const listed = [lowest, ...linked.slice(0, -1)];
    const lists = await Promise.all(listed.map((found) => listOf(found, upstream)));
    blocks.unshift(...listed.map(({ answer }, i) => ({ header: answer, list: lists[i] })).reverse());
    lowest = linked.at(-1)!;
  }
  const { stateRoot } = lowest.header;
  const accept = (answer: unknown) => {
    const request = { address: hexToBytes(address), storageKeys: [hexToBytes(key)], stateRoot };
    const verdict = verifyEthereumProof(request, answer);
    if (!verdict.verified) throw answerRefused(`state after block ${from}`, verdict);
    return answer;
  };
  const params = [address, [key], toQuantity(from)];
  const state = await upstream.request('eth_getProof', params, { tryNext: () => true, accept });
  return { header: lowest.answer, state, blocks };
}

/** The headers from the parent of one down to `number`, each with the hash that the one before names. */
function headersBelow(top: FoundHeader, number: number, upstream: Upstream): Promise<FoundHeader[]> {
  const numbers = Array.from({ length: top.header.number - number }, (_, i) => top.header.number - 1 - i);
  const calls = numbers.map((height) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(height), false] }));
  return upstream.requestMany(calls, {
    accept: (answers, from) => {
      let above = top.header;
      return answers.map((answer, i) => {
        if (answer.kind === 'error') throw upstreamError(from, calls[i]!, answer.error);
        if (answer.result === null) throw missing(`header of block ${numbers[i]!}`);
        const verdict = verifyHeader(answer.result, { hash: above.parentHash });
        if (!verdict.verified) throw answerRefused(`header of block ${numbers[i]!}`, verdict);
        above = verdict.header;
        return { answer: answer.result, header: verdict.header, hash: verdict.hash };
      });
    },
  });
}

/** The access list of a block, as an endpoint answers it. */
function listOf({ header, hash }: FoundHeader, upstream: Upstream): Promise<unknown> {
  const what = `access list of block ${header.number}`;
  const accept = async (answer: unknown) => {
    if (answer === null) throw missing(what);
    const verdict = await verifyAccessList(header, answer);
    if (!verdict.verified) throw answerRefused(what, verdict);
    return answer;
  };
  return upstream.request('eth_getBlockAccessList', [bytesToHex(hash)], { tryNext: () => true, accept });
}
