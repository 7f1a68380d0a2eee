import { type ErrorCode, invalidParameter, isPlumblineError, PlumblineError } from '../../errors.js';
import { EVIDENCE_FORMAT, type EvidenceVerdict, type VerifiedEvidence } from '../../evidence/evidence-bundle.js';
import { verifyEvidence } from '../../evidence/verify-evidence.js';
import type { HashScheme } from '../../kernel/contracts.js';
import { loadHasher } from '../../kernel/hasher.js';
import { type Network, rollupOf } from '../../networks/network.js';
import { NETWORKS } from '../../networks/networks.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { type LineaProofVerdict, verifyLineaProof } from '../../proof/linea-proof.js';
import { type Arguments, type Command, EXIT, integer, readArguments } from './arguments.js';
import { readJson } from './call-options.js';
import { devnetLayerOne } from './endpoints.js';
import type { FoundRoot } from './layer-one-root.js';
import { printErrors, printJson, printLines, reportUnchecked } from './lines.js';
import { namedNetwork, readNetwork } from './network.js';
import {
  accountInWords,
  readClaim,
  readSavedProof,
  readStorageKey,
  requiredBytes,
  type SavedProof,
  shownAccount,
} from './saved-proof.js';

const SCHEMES: readonly HashScheme[] = ['poseidon2', 'mimc'];

/** Options of `plumbline verify` for a bundle. */
const EVIDENCE_OPTIONS = {
  checkpoint: { type: 'string' },
  network: { type: 'string', values: Object.keys(NETWORKS) },
  'max-age-days': { type: 'string' },
} as const;

const OPTIONS = {
  root: { type: 'string' },
  l1: { type: 'string', multiple: true },
  devnet: { type: 'string' },
  block: { type: 'string' },
  scheme: { type: 'string', values: SCHEMES },
  address: { type: 'string' },
  key: { type: 'string', multiple: true },
  ...EVIDENCE_OPTIONS,
  json: { type: 'boolean', default: false },
} as const;

type Values = Arguments<typeof OPTIONS>['values'];

/** `plumbline verify`: a saved proof against a root. */
export const verifyCommand: Command = {
  help: `plumbline verify FILE [options]

  FILE            - reads standard input: curl ... | plumbline verify - --l1 URL

 an answer of linea_getProof, against a state root
  FILE            JSON: the response of linea_getProof as curl saves it, or its result alone, or an object with one of
                  them as "response" or "result". Such an object may also have "request" (with the method's "params"),
                  "address", "storageKeys", "block", "stateRoot" and "scheme"
  --root HEX      state root to check against, 32 bytes, from a source you trust: stateRootHashes of the rollup
                  contract on layer 1
  --l1 URL        endpoint of layer 1 to read the root from. It is believed. If you give several, all must agree
  --devnet URL    a devnet that plumbline serve runs: the root is read from its layer 1
  --block N       block of the proof. Without it, the command tries the newest finalized blocks
  --network NAME|FILE
                  network of --l1: ${Object.keys(NETWORKS).join(', ')}, or a JSON file with a network profile
                  (default: linea; devnet with --devnet)
  --scheme NAME   poseidon2 or mimc (default with --root: poseidon2; otherwise the one that fits the proof)
  --address HEX   account that the proof must be for, 20 bytes
  --key HEX       storage key of the request, at most 32 bytes; once for each key, in the order of the request
  --json          one JSON object

An option overrides the member of the file. If neither has a value, it is taken from the proof. Then read in the output which
account the proof is for. A state root from the file is only as trustworthy as the file.

 a bundle of node.exportEvidence, from layer-1 consensus on
  --checkpoint HEX      root of a beacon block that you trust, 32 bytes; the evidence must begin with it
  --network NAME|FILE   (default: the named network with the chain id of the bundle)
  --max-age-days N      age that the checkpoint may have (default 14)
  --json                one JSON object

Exit codes: 0 verified, 1 refused: the proof or the evidence does not hold, 2 could not be checked. A bundle without
--checkpoint is checked from its own checkpoint on, which proves nothing to you: 2.`,

  options: OPTIONS,

  async run(args) {
    const { values, positionals } = readArguments(args, OPTIONS, { count: 1, name: 'FILE' });
    const parsed = await readJson('FILE', positionals[0]!);
    if (isEvidence(parsed)) return verifyBundle(parsed, values);
    const saved = readSavedProof(parsed);
    const { root, l1, devnet, address = saved.address, key = saved.storageKeys } = values;
    const sources = [root, l1, devnet].filter((source) => source !== undefined).length;
    if (sources > 1) throw invalidParameter('--root', '--l1 and --devnet are three sources of one root; give one');
    const question = { address: requiredBytes('--address', 20, address), storageKeys: key.map(readStorageKey) };
    if (l1 !== undefined || devnet !== undefined) return againstLayerOne(saved, question, values);
    const given = root ?? saved.stateRoot;
    if (given === undefined) {
      printErrors(...(await rootMissing(values)));
      return EXIT.usage;
    }
    const stateRoot = requiredBytes('--root', 32, given);
    const named = values.scheme ?? saved.scheme;
    const hasher = await loadHasher(readScheme(named ?? 'poseidon2'));
    const verdict = await orMalformed(async () => {
      try {
        return verifyLineaProof(hasher, { ...question, stateRoot }, saved.answer);
      } catch (error) {
        if (named !== undefined || !isPlumblineError(error, 'PROOF_MALFORMED')) throw error;
        await readClaim(saved.answer, ['mimc']).catch(() => {
          throw error;
        });
        throw invalidParameter('--scheme', 'must be mimc: the proof has the form of that scheme; give --scheme mimc');
      }
    });
    return print(verdict, { ...question, stateRoot }, values.json);
  },
};

type Question = Parameters<typeof verifyLineaProof>[1];

async function againstLayerOne(
  saved: SavedProof,
  question: Omit<Question, 'stateRoot'>,
  values: Values,
): Promise<number> {
  const { devnet, json } = values;
  const network = await namedNetwork(values.network ?? (devnet === undefined ? 'linea' : 'devnet'));
  const endpoints = devnet === undefined ? values.l1! : [devnetLayerOne(devnet)];
  const block = integer('block', values.block, 0, Number.MAX_SAFE_INTEGER) ?? saved.block;
  const named = values.scheme ?? saved.scheme;
  const schemes = named === undefined ? SCHEMES : [readScheme(named)];
  const { hasher, root: claimed } = await orMalformed(() => readClaim(saved.answer, schemes));
  let roots: FoundRoot;
  try {
    const { rootsOnLayerOne } = await import('./layer-one-root.js');
    roots = await rootsOnLayerOne(endpoints, rollupOf(network), claimed, block);
  } catch (error) {
    if (!(error instanceof PlumblineError) || isPlumblineError(error, 'INVALID_PARAMETER')) throw error;
    return reportUnchecked(error, json);
  }
  const { at, fits, oldest } = roots;
  const asked = { ...question, stateRoot: at.root };
  const verdict = await orMalformed(() => verifyLineaProof(hasher, asked, saved.answer));
  const isElsewhere = !verdict.verified && verdict.reason === 'ROOT_MISMATCH' && !fits;
  if (isElsewhere && block === undefined && oldest > 0) {
    const text =
      `the proof leads to the root ${bytesToHex(claimed!)}, which layer 1 has for none of the finalized blocks from ` +
      `${oldest} to ${at.number}. Name the block of the proof with --block`;
    return reportUnchecked(new PlumblineError('BLOCK_NOT_PROVABLE', text, { block: 'of the proof' }), json);
  }
  return print(verdict, asked, json, roots);
}

/** @throws PlumblineError `INVALID_PARAMETER` for a file without a proof */
async function orMalformed<Result>(read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!isPlumblineError(error, 'PROOF_MALFORMED')) throw error;
    throw invalidParameter('FILE', `does not hold a proof: ${error.message}`);
  }
}

/** How to get a root. */
async function rootMissing({ network = 'linea' }: Values): Promise<string[]> {
  const { rollup } = rollupOf(await namedNetwork(network));
  return [
    'plumbline verify: --root: is missing, and FILE does not hold a root either. Give one of these:',
    `  --l1 URL      reads it from layer 1 of ${network} (another network: --network)`,
    '  --devnet URL  reads it from the layer 1 of a devnet that plumbline serve runs',
    `  --root HEX    stateRootHashes(block) of the rollup contract ${rollup.address} on layer 1, such as from`,
    `                cast call ${rollup.address} 'stateRootHashes(uint256)(bytes32)' BLOCK --rpc-url URL`,
    '',
    'plumbline verify --help lists what it takes.',
  ];
}

function readScheme(name: unknown): HashScheme {
  const found = SCHEMES.find((scheme) => scheme === name);
  if (found !== undefined) return found;
  throw invalidParameter('--scheme', `must be one of ${SCHEMES.join(', ')}, got ${JSON.stringify(name)}`);
}

function print(verdict: LineaProofVerdict, question: Question, json: boolean, roots?: FoundRoot): number {
  const { verified } = verdict;
  const [address, stateRoot] = [bytesToHex(question.address), bytesToHex(question.stateRoot)];
  const block = roots && {
    block: roots.at.number,
    layerOne: { block: roots.at.layerOneBlock, origins: roots.origins },
  };
  if (json) {
    const proved = verified ? { verified, address, ...shownAccount(verdict) } : verdict;
    printJson({ ...proved, stateRoot, ...block });
  } else if (!verified) printLines(`refused: ${verdict.reason} at ${verdict.at}: ${verdict.message}`);
  else printLines('verified', `account  ${address}`, ...accountInWords(verdict));
  if (!json && roots) {
    const { at, origins } = roots;
    printLines(
      `root     ${stateRoot} of block ${at.number}, as ${origins.join(', ')} has it at layer-1 block ${at.layerOneBlock}`,
    );
  }
  return verified ? EXIT.ok : EXIT.failed;
}

interface Bundle {
  readonly format: typeof EVIDENCE_FORMAT;
  readonly chainId?: unknown;
  readonly checkpoint?: unknown;
}

const DAY_MS = 86_400_000;

/** Whether a file says that it holds a bundle of `node.exportEvidence`. */
function isEvidence(file: unknown): file is Bundle {
  return typeof file === 'object' && file !== null && 'format' in file && file.format === EVIDENCE_FORMAT;
}

const UNREADABLE: readonly ErrorCode[] = ['PROOF_MALFORMED', 'FORK_UNSUPPORTED', 'FORK_SCHEDULE', 'HEADER_UNSUPPORTED'];

/** `plumbline verify` of a bundle. @returns the exit code. @throws PlumblineError `INVALID_PARAMETER` */
async function verifyBundle(
  bundle: Bundle,
  values: Pick<Values, keyof typeof EVIDENCE_OPTIONS | 'json'>,
): Promise<number> {
  const days = integer('max-age-days', values['max-age-days'], 1, 36_500);
  const trust = {
    network: rollupOf(await networkOf(bundle, values.network)),
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
  const { claim, layerOne, participants, finalized, proof, ethereumProof, header, value } = verdict;
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
    ...(value && { value: bytesToHex(value) }),
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

function claimInWords({ claim, proof, ethereumProof, header, value }: VerifiedEvidence): string[] {
  const account = proof ?? ethereumProof;
  if ('address' in claim) return [`state      account ${claim.address}`, ...(account ? accountInWords(account) : [])];
  const { hash, header: block } = header!;
  return [
    `state      holds the hash of block ${claim.block}`,
    `header     ${bytesToHex(hash)}, state root ${bytesToHex(block.stateRoot)}, time ${block.timestamp}`,
    ...(claim.unchanged === undefined
      ? []
      : [
          `history    slot ${claim.unchanged.key} of ${claim.unchanged.address} is ${bytesToHex(value!)}`,
          `           from block ${claim.unchanged.from} to block ${claim.block}: no access list between changes it`,
        ]),
  ];
}
