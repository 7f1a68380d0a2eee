import type { LayerOneBlock } from '../consensus/containers.js';
import { type ConsensusAnswer, judgeConsensus } from '../consensus/judge-consensus.js';
import { invalidParameter } from '../errors.js';
import type { HashScheme } from '../kernel/contracts.js';
import { loadHasher } from '../kernel/hasher.js';
import { beaconNetworkOf } from '../networks/beacon-networks.js';
import { schemeAt } from '../networks/network.js';
import { equalBytes, requireLength } from '../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { verifyEthereumProof } from '../proof/ethereum-proof.js';
import { verifyHeader } from '../proof/headers.js';
import { malformed, readArray, readBytes, readExactObject, readObject } from '../proof/json-reader.js';
import { verifyL1Anchor } from '../proof/l1-anchor.js';
import { verifyLineaProof } from '../proof/linea-proof.js';
import { hashInRing, headerOfHash, verifySettledHeader } from '../proof/settled-header.js';
import {
  EVIDENCE_FORMAT,
  type EvidenceBundle,
  type EvidenceClaim,
  type EvidenceHistory,
  type EvidenceLink,
  type EvidenceNetwork,
  type EvidenceRefusal,
  type EvidenceTrust,
  type EvidenceVerdict,
  MAX_HISTORY,
  type UnchangedSlot,
  type VerifiedEvidence,
} from './evidence-bundle.js';

const MEMBERS = ['format', 'chainId', 'claim', 'checkpoint', 'consensus', 'finalized', 'rollup'];
const ANSWER_KINDS: readonly unknown[] = ['updates', 'finality_update', 'optimistic_update'];
/** As of `linea_getProof`. */
const MAX_KEYS = 1024;
const OTHER: Readonly<Record<HashScheme, HashScheme>> = { mimc: 'poseidon2', poseidon2: 'mimc' };

/** See `verifyEvidence`. */
export async function judgeEvidence(
  bundle: unknown,
  { network, checkpoint, now, maxAgeMs }: EvidenceTrust,
): Promise<EvidenceVerdict> {
  requireLength('checkpoint', checkpoint, 32);
  if (network.layerOne === undefined) throw invalidParameter('network.layerOne', 'is missing: layer 1 is not known');
  const { chainId, claim, finalized, ...parts } = readBundle(bundle);
  if (chainId !== network.chainId) {
    return refuse('chainId', 'OTHER_CHAIN', `is ${chainId}, the network is ${network.chainId}`);
  }
  if (!equalBytes(hexToBytes(parts.checkpoint), checkpoint)) {
    return refuse('checkpoint', 'OTHER_CHECKPOINT', `is ${parts.checkpoint}, trusted is ${bytesToHex(checkpoint)}`);
  }
  const { bootstrap, answers } = parts.consensus;
  const limits = { ...(now !== undefined && { now }), ...(maxAgeMs !== undefined && { maxAgeMs }) };
  const from = { root: checkpoint, bootstrap };
  const consensus = await judgeConsensus({ network: beaconNetworkOf(network.layerOne), from, answers, ...limits });
  if (!consensus.verified) {
    return { ...consensus, link: 'consensus', at: `consensus.${consensus.at.replace(/^from\./, '')}` };
  }
  const { finalized: layerOne, participants } = consensus;
  const l1StateRoot = layerOneStateRoot(layerOne, parts.layerOneHeader);
  if (!(l1StateRoot instanceof Uint8Array)) return l1StateRoot;
  const request = { l1StateRoot, rollup: network.rollup, l2BlockNumber: finalized };
  const anchor = verifyL1Anchor(request, parts.rollup);
  if (!anchor.verified) return { ...anchor, link: 'rollup', at: inside('rollup', anchor.at) };
  const { stateRoot, blockHash } = anchor;
  const { finalizedHeader } = parts;
  if (blockHash !== undefined || stateRoot === undefined) {
    const proved = judgeOnHeader(claim, { number: finalized, hash: blockHash! }, parts);
    if (!proved.verified) return proved;
    const verdict = {
      ...proved,
      claim,
      layerOne,
      participants,
      finalized: { number: finalized, blockHash: blockHash! },
    };
    return withHistory(verdict, network, parts.history);
  }
  if (finalizedHeader !== undefined)
    return refuse('finalizedHeader', 'NO_BLOCK_HASH', `layer 1 stores no hash of block ${finalized}`);
  const named = schemeAt(network, finalized);
  const judged = (scheme: HashScheme) => judgeClaim(scheme, claim, { finalized, stateRoot }, parts);
  const first = judged(named);
  let proved = await first.catch(() => undefined);
  // As in a light node: the block at which a network changes its scheme is not published.
  if (proved?.verified !== true) proved = await judged(OTHER[named]).catch(() => undefined);
  if (proved?.verified !== true) proved = await first;
  if (!proved.verified) return proved;
  const verdict = { ...proved, claim, layerOne, participants, finalized: { number: finalized, stateRoot } };
  return withHistory(verdict, network, parts.history);
}

/** Adds to the proved header of a block that a slot is unchanged up to it, where the claim says so. */
async function withHistory(
  verdict: VerifiedEvidence,
  { accessLists }: EvidenceNetwork,
  history: EvidenceHistory | undefined,
): Promise<EvidenceVerdict> {
  const { claim, header } = verdict;
  if (!('block' in claim) || claim.unchanged === undefined) return verdict;
  if (accessLists !== 'complete')
    return refuse('history', 'LISTS_NOT_COMPLETE', 'rests on access lists, which the profile does not call complete');
  const { address, key, from } = claim.unchanged;
  const { verifyUnchanged } = await import('../proof/unchanged-slot.js');
  const request = { address: hexToBytes(address, 20), key: hexToBytes(key, 32), from, hash: header!.hash };
  const unchanged = await verifyUnchanged(request, history!);
  if (unchanged.verified) return { ...verdict, value: unchanged.value };
  return { ...unchanged, link: 'history', at: inside('history', unchanged.at) };
}

/** The state root of the final layer-1 block. A header of Gloas proves its hash alone: then the bundle has the header of that hash. */
function layerOneStateRoot({ blockHash, stateRoot }: LayerOneBlock, header: unknown): Uint8Array | EvidenceRefusal {
  if (header === undefined)
    return (
      stateRoot ??
      refuse('consensus', 'NO_STATE_ROOT', 'proves no state root of layer 1, and there is no layerOneHeader')
    );
  const verdict = verifyHeader(header, { hash: blockHash });
  if (verdict.verified) return verdict.header.stateRoot;
  return { ...verdict, link: 'layerOneHeader', at: inside('layerOneHeader', verdict.at) };
}

/** A claim where layer 1 stores the hash of the finalized block: all rests on its header (docs/spec/rollup-versions.md 5). */
function judgeOnHeader(
  claim: EvidenceClaim,
  finalized: { readonly number: number; readonly hash: Uint8Array },
  { finalizedHeader, state, header }: Pick<EvidenceBundle, 'finalizedHeader' | 'state' | 'header'>,
) {
  if (finalizedHeader === undefined)
    return refuse(
      'finalizedHeader',
      'HEADER_MISSING',
      `is missing: layer 1 stores the hash of block ${finalized.number}`,
    );
  const top = headerOfHash(finalized.hash, finalized.number, finalizedHeader);
  if (!top.verified) return { ...top, link: 'finalizedHeader', at: inside('finalizedHeader', top.at) } as const;
  const { stateRoot } = top.header;
  if ('address' in claim) {
    const address = hexToBytes(claim.address, 20);
    const storageKeys = claim.storageKeys.map((key) => hexToBytes(key, 32));
    const verdict = verifyEthereumProof({ address, storageKeys, stateRoot }, state);
    if (verdict.verified) return { verified: true, ethereumProof: verdict } as const;
    return { ...verdict, link: 'state', at: inside('state', verdict.at) } as const;
  }
  if (claim.block === finalized.number) return { verified: true, header: top } as const;
  const hash = hashInRing(claim.block, finalized.number, stateRoot, state);
  if (!hash.verified) return { ...hash, link: 'state', at: inside('state', hash.at) } as const;
  const verdict = headerOfHash(hash.hash, claim.block, header);
  if (verdict.verified) return { verified: true, header: verdict } as const;
  return { ...verdict, link: 'header', at: inside('header', verdict.at) } as const;
}

async function judgeClaim(
  scheme: HashScheme,
  claim: EvidenceClaim,
  { finalized, stateRoot }: { readonly finalized: number; readonly stateRoot: Uint8Array },
  { state, header }: Pick<EvidenceBundle, 'state' | 'header'>,
) {
  const hasher = await loadHasher(scheme);
  if ('block' in claim) {
    const verdict = verifySettledHeader(hasher, { block: claim.block, finalized, stateRoot }, state, header);
    if (verdict.verified) return { verified: true, header: verdict } as const;
    const link = verdict.reason.startsWith('HEADER_') ? 'header' : 'state';
    return { ...verdict, link, at: inside(link, verdict.at) } as const;
  }
  const address = hexToBytes(claim.address, 20);
  const storageKeys = claim.storageKeys.map((key) => hexToBytes(key, 32));
  const verdict = verifyLineaProof(hasher, { address, storageKeys, stateRoot }, state);
  if (verdict.verified) return { verified: true, proof: verdict } as const;
  return { ...verdict, link: 'state', at: inside('state', verdict.at) } as const;
}

const inside = (link: EvidenceLink, at: string) => (at === '' ? link : `${link}.${at}`);

function refuse(link: EvidenceLink, reason: string, message: string): EvidenceRefusal {
  return { verified: false, link, reason, at: link, message };
}

/** @throws PlumblineError `PROOF_MALFORMED` */
function readBundle(value: unknown): EvidenceBundle {
  const { format, layerOneHeader, finalizedHeader } = readObject(value, 'bundle');
  if (format !== EVIDENCE_FORMAT) throw malformed('format', `is not ${EVIDENCE_FORMAT}`);
  const claim = readClaim(readObject(value, '').claim);
  const isTop = finalizedHeader !== undefined && 'block' in claim && claim.block === readObject(value, '').finalized;
  const more = [
    ...(layerOneHeader === undefined ? [] : ['layerOneHeader']),
    ...(finalizedHeader === undefined ? [] : ['finalizedHeader']),
    ...(isTop ? [] : ['state']),
    ...('block' in claim && !isTop ? ['header'] : []),
    ...(isOfHistory(claim) ? ['history'] : []),
  ];
  const bundle = readExactObject(value, [...MEMBERS, ...more], '');
  const consensus = readExactObject(bundle.consensus, ['bootstrap', 'answers'], 'consensus');
  return {
    format,
    chainId: readCount(bundle.chainId, 'chainId'),
    claim,
    checkpoint: bytesToHex(readBytes(bundle.checkpoint, 'checkpoint', 32)),
    consensus: {
      bootstrap: consensus.bootstrap,
      answers: readArray(consensus.answers, 'consensus.answers').map(readConsensusAnswer),
    },
    ...(layerOneHeader !== undefined && { layerOneHeader }),
    finalized: readCount(bundle.finalized, 'finalized'),
    rollup: bundle.rollup,
    ...(finalizedHeader !== undefined && { finalizedHeader }),
    ...(!isTop && { state: bundle.state }),
    ...('block' in claim && !isTop && { header: bundle.header }),
    ...(isOfHistory(claim) && { history: readHistory(bundle.history, claim.block - claim.unchanged.from) }),
  };
}

type BlockClaim = Extract<EvidenceClaim, { readonly block: number }>;

const isOfHistory = (claim: EvidenceClaim): claim is Required<BlockClaim> =>
  'block' in claim && claim.unchanged !== undefined;

/** @param count - of blocks after the first */
function readHistory(value: unknown, count: number): EvidenceHistory {
  const { header, state, blocks } = readExactObject(value, ['header', 'state', 'blocks'], 'history');
  const each = readArray(blocks, 'history.blocks');
  if (each.length !== count) throw malformed('history.blocks', `has ${each.length} blocks, expected ${count}`);
  const read = (block: unknown, i: number) => {
    const { header, list } = readExactObject(block, ['header', 'list'], `history.blocks[${i}]`);
    return { header, list };
  };
  return { header, state, blocks: each.map(read) };
}

function readConsensusAnswer(value: unknown, index: number): ConsensusAnswer {
  const at = `consensus.answers[${index}]`;
  const { kind, answer } = readExactObject(value, ['kind', 'answer'], at);
  if (!ANSWER_KINDS.includes(kind)) throw malformed(`${at}.kind`, `is not one of ${ANSWER_KINDS.join(', ')}`);
  return { kind: kind as ConsensusAnswer['kind'], answer };
}

function readClaim(value: unknown): EvidenceClaim {
  const { unchanged } = readObject(value, 'claim');
  if (Object.hasOwn(readObject(value, 'claim'), 'block')) {
    const members = unchanged === undefined ? ['block'] : ['block', 'unchanged'];
    const block = readCount(readExactObject(value, members, 'claim').block, 'claim.block');
    return unchanged === undefined ? { block } : { block, unchanged: readUnchanged(unchanged, block) };
  }
  const { address, storageKeys } = readExactObject(value, ['address', 'storageKeys'], 'claim');
  const keys = readArray(storageKeys, 'claim.storageKeys');
  if (keys.length > MAX_KEYS) throw malformed('claim.storageKeys', `has more than ${MAX_KEYS} keys`);
  return {
    address: bytesToHex(readBytes(address, 'claim.address', 20)),
    storageKeys: keys.map((key, i) => bytesToHex(readBytes(key, `claim.storageKeys[${i}]`, 32))),
  };
}

function readUnchanged(value: unknown, block: number): UnchangedSlot {
  const { address, key, from } = readExactObject(value, ['address', 'key', 'from'], 'claim.unchanged');
  const first = readCount(from, 'claim.unchanged.from');
  if (first > block || block - first > MAX_HISTORY)
    throw malformed('claim.unchanged.from', `is not from 0 to ${MAX_HISTORY} below the block`);
  return {
    address: bytesToHex(readBytes(address, 'claim.unchanged.address', 20)),
    key: bytesToHex(readBytes(key, 'claim.unchanged.key', 32)),
    from: first,
  };
}

function readCount(value: unknown, path: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw malformed(path, 'is not a whole number');
  return value as number;
}
