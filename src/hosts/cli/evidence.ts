import { type ErrorCode, invalidParameter, isPlumblineError } from '../../errors.js';
import { EVIDENCE_FORMAT, type EvidenceVerdict, type VerifiedEvidence } from '../../evidence/evidence-bundle.js';
import { verifyEvidence } from '../../evidence/verify-evidence.js';
import type { Network } from '../../networks/network.js';
import { NETWORKS } from '../../networks/networks.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { type Arguments, EXIT, integer } from './arguments.js';
import { printJson, printLines } from './lines.js';
import { readNetwork } from './network.js';
import { accountInWords, shownAccount } from './saved-proof.js';

/** Options of `plumbline verify` for a bundle. */
export const EVIDENCE_OPTIONS = {
  checkpoint: { type: 'string' },
  network: { type: 'string' },
  'max-age-days': { type: 'string' },
} as const;

type Values = Arguments<typeof EVIDENCE_OPTIONS>['values'] & { readonly json: boolean };

interface Bundle {
  readonly format: typeof EVIDENCE_FORMAT;
  readonly chainId?: unknown;
  readonly checkpoint?: unknown;
}

const DAY_MS = 86_400_000;

/** Whether a file says that it holds a bundle of `node.exportEvidence`. */
export function isEvidence(file: unknown): file is Bundle {
  return typeof file === 'object' && file !== null && 'format' in file && file.format === EVIDENCE_FORMAT;
}

const UNREADABLE: readonly ErrorCode[] = ['PROOF_MALFORMED', 'FORK_UNSUPPORTED', 'FORK_SCHEDULE', 'HEADER_UNSUPPORTED'];

/** `plumbline verify` of a bundle. @returns the exit code. @throws PlumblineError `INVALID_PARAMETER` */
export async function verifyBundle(bundle: Bundle, values: Values): Promise<number> {
  const days = integer('max-age-days', values['max-age-days'], 1, 36_500);
  const trust = {
    network: await networkOf(bundle, values.network),
    checkpoint: rootOf(values.checkpoint ?? bundle.checkpoint),
    ...(days !== undefined && { maxAgeMs: days * DAY_MS }),
  };
  let verdict: EvidenceVerdict;
  try {
    verdict = await verifyEvidence(bundle, trust);
  } catch (error) {
    if (isPlumblineError(error) && UNREADABLE.includes(error.code))
      throw invalidParameter('FILE', `does not hold evidence that can be checked: ${error.message}`);
    throw error;
  }
  const isTrusted = values.checkpoint !== undefined;
  if (values.json) printJson(shown(verdict, isTrusted));
  else printLines(...inWords(verdict, isTrusted));
  if (!verdict.verified) return EXIT.failed;
  return isTrusted ? EXIT.ok : EXIT.usage;
}

async function networkOf({ chainId }: Bundle, name: string | undefined): Promise<Network> {
  const known = Object.values(NETWORKS);
  const found =
    name === undefined ? known.find((one) => one.chainId === chainId) : known.find((one) => one.name === name);
  if (found !== undefined) return found;
  if (name !== undefined) return readNetwork(name);
  throw invalidParameter('--network', `is missing; no named network has the chain id ${String(chainId)} of the bundle`);
}

function rootOf(text: unknown): Uint8Array {
  try {
    return hexToBytes(text as string, 32);
  } catch {
    throw invalidParameter('--checkpoint', 'must be 32 bytes of hex with 0x');
  }
}

function shown(verdict: EvidenceVerdict, checkpointTrusted: boolean): unknown {
  if (!verdict.verified) return verdict;
  const { claim, layerOne, participants, finalized, proof, ethereumProof, header } = verdict;
  const { number, stateRoot, blockHash } = finalized;
  return {
    verified: true,
    checkpointTrusted,
    claim,
    layerOne: { slot: layerOne.slot, number: layerOne.number, blockHash: bytesToHex(layerOne.blockHash) },
    participants,
    finalized: {
      number,
      ...(stateRoot && { stateRoot: bytesToHex(stateRoot) }),
      ...(blockHash && { blockHash: bytesToHex(blockHash) }),
    },
    ...(proof && shownAccount(proof)),
    ...(ethereumProof && shownAccount(ethereumProof)),
    ...(header && { block: { hash: bytesToHex(header.hash), stateRoot: bytesToHex(header.header.stateRoot) } }),
  };
}

function inWords(verdict: EvidenceVerdict, isTrusted: boolean): string[] {
  if (!verdict.verified)
    return [`refused in the link ${verdict.link}: ${verdict.reason} at ${verdict.at}: ${verdict.message}`];
  const { layerOne, participants, finalized } = verdict;
  const { stateRoot, blockHash } = finalized;
  const stored = blockHash ? `hash ${bytesToHex(blockHash)}` : `zk state root ${bytesToHex(stateRoot!)}`;
  const signed = participants.length === 0 ? 'no update was needed' : `signed by ${participants.join(', ')} members`;
  return [
    ...(isTrusted
      ? ['verified']
      : [
          'not verified: every link below holds, but they begin with the checkpoint of the file itself.',
          'Give the root of a beacon block that you trust with --checkpoint.',
        ]),
    `consensus  layer-1 block ${layerOne.number ?? ''} ${bytesToHex(layerOne.blockHash)}, slot ${layerOne.slot}; ${signed}`,
    `rollup     block ${finalized.number} is finalized, ${stored}`,
    ...claimInWords(verdict),
  ];
}

function claimInWords({ claim, proof, ethereumProof, header }: VerifiedEvidence): string[] {
  const account = proof ?? ethereumProof;
  if ('address' in claim) return [`state      account ${claim.address}`, ...(account ? accountInWords(account) : [])];
  const { hash, header: block } = header!;
  return [
    `state      holds the hash of block ${claim.block}`,
    `header     ${bytesToHex(hash)}, state root ${bytesToHex(block.stateRoot)}, time ${block.timestamp}`,
  ];
}
