import { readFile } from 'node:fs/promises';
import { invalidParameter, isPlumblineError, messageOf } from '../../errors.js';
import type { HashScheme } from '../../kernel/contracts.js';
import { loadHasher } from '../../kernel/hasher.js';
import { NETWORKS } from '../../networks/networks.js';
import { padStart } from '../../primitives/bytes.js';
import { hexToBytes } from '../../primitives/hex.js';
import { type LineaProofVerdict, verifyLineaProof } from '../../proof/zk/linea-proof.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { EVIDENCE_OPTIONS, isEvidence, verifyBundle } from './evidence.js';
import { accountInWords, shownAccount } from './proved-account.js';

const SCHEMES: readonly string[] = ['poseidon2', 'mimc'] satisfies HashScheme[];

/** `plumbline verify`: a saved proof against a root. */
export const verifyCommand: Command = {
  summary: 'check a saved linea_getProof answer against a state root, or a bundle of evidence',
  help: `plumbline verify FILE [options]

 a bundle of node.exportEvidence, from layer-1 consensus on:
  --checkpoint HEX      root of a beacon block that you trust, 32 bytes; the evidence must begin with it
  --network NAME|FILE   ${Object.keys(NETWORKS).join(', ')}, or a JSON file with a network profile (default: the named network
                        with the chain id of the bundle)
  --max-age-days N      age that the checkpoint may have (default 14)
  --json                one JSON object

 an answer of linea_getProof, against a state root:
  FILE            JSON: the response of linea_getProof, or its result alone, or an object with one of them as
                  "response" or "result". Such an object may also hold "request" (with the method's "params"),
                  "address", "storageKeys", "stateRoot" and "scheme"
  --root HEX      state root to check against, 32 bytes, from a source you trust: stateRootHashes of the rollup
                  contract on layer 1
  --scheme NAME   poseidon2 or mimc (default poseidon2)
  --address HEX   account of the request, 20 bytes
  --key HEX       storage key of the request, at most 32 bytes; once for each key, in the order of the request
  --json          one JSON object

An option overrides the member of the file. A state root from the file is only as trustworthy as the file.

Exit codes: 0 verified, 1 refused: the proof or the evidence does not hold, 2 could not be checked. A bundle without
--checkpoint is checked from its own checkpoint on, which proves nothing to you: 2.`,

  async run(args) {
    const options = {
      root: { type: 'string' },
      scheme: { type: 'string' },
      address: { type: 'string' },
      key: { type: 'string', multiple: true },
      ...EVIDENCE_OPTIONS,
      json: { type: 'boolean', default: false },
    } as const;
    const { values, positionals } = readArguments(args, options, { count: 1, name: 'FILE' });
    const parsed = await readJson(positionals[0]!);
    if (isEvidence(parsed)) return verifyBundle(parsed, values);
    const file = readSaved(parsed);
    const question = {
      stateRoot: bytes('--root', 32, values.root ?? file.stateRoot),
      address: bytes('--address', 20, values.address ?? file.address),
      storageKeys: (values.key ?? file.storageKeys ?? []).map((key) => storageKey(key)),
    };
    const hasher = await loadHasher(scheme(values.scheme ?? file.scheme ?? 'poseidon2'));
    let verdict: LineaProofVerdict;
    try {
      verdict = verifyLineaProof(hasher, question, file.answer);
    } catch (error) {
      if (isPlumblineError(error, 'PROOF_MALFORMED'))
        throw invalidParameter('FILE', `does not hold a proof: ${error.message}`);
      throw error;
    }
    console.log(values.json ? JSON.stringify(shown(verdict)) : inWords(verdict));
    return verdict.verified ? EXIT.ok : EXIT.failed;
  },
};

/** A proof as it was saved, with its request where the file holds it. */
interface Saved {
  readonly answer: unknown;
  readonly address: unknown;
  readonly storageKeys: readonly unknown[] | undefined;
  readonly stateRoot: unknown;
  readonly scheme: unknown;
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw invalidParameter('FILE', `cannot be read: ${messageOf(error)}`);
  }
}

function readSaved(parsed: unknown): Saved {
  const file = members(parsed);
  const response = members(file.response);
  const error = file.error ?? response.error;
  if (error !== undefined)
    throw invalidParameter('FILE', `holds an error instead of a proof: ${JSON.stringify(error)}`);
  const { params } = members(file.request);
  const [address, keys] = Array.isArray(params) ? (params as readonly unknown[]) : [];
  const storageKeys = file.storageKeys ?? keys ?? undefined;
  if (storageKeys !== undefined && !Array.isArray(storageKeys))
    throw invalidParameter('FILE', 'holds storage keys that are not a list');
  return {
    answer: file.result ?? response.result ?? file.response ?? parsed,
    address: file.address ?? address,
    storageKeys: storageKeys as readonly unknown[] | undefined,
    stateRoot: file.stateRoot ?? file.root,
    scheme: file.scheme,
  };
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function bytes(option: string, length: number, value: unknown): Uint8Array {
  if (typeof value !== 'string') throw invalidParameter(option, 'is missing; FILE does not hold it either');
  try {
    return hexToBytes(value, length);
  } catch (error) {
    throw invalidParameter(option, `cannot be read: ${messageOf(error)}`);
  }
}

/** A storage key, padded to 32 bytes as `linea_getProof` does. */
function storageKey(value: unknown): Uint8Array {
  const digits = typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? value.slice(2) : undefined;
  if (digits === undefined)
    throw invalidParameter('--key', `must be 1 to 32 bytes of hex, got ${JSON.stringify(value)}`);
  return padStart(hexToBytes(`0x${digits.padStart(digits.length + (digits.length % 2), '0')}`), 32);
}

function scheme(name: unknown): HashScheme {
  if (typeof name === 'string' && SCHEMES.includes(name)) return name as HashScheme;
  throw invalidParameter('--scheme', `must be one of ${SCHEMES.join(', ')}, got ${JSON.stringify(name)}`);
}

function shown(verdict: LineaProofVerdict): unknown {
  return verdict.verified ? { verified: true, ...shownAccount(verdict) } : verdict;
}

function inWords(verdict: LineaProofVerdict): string {
  if (!verdict.verified) return `refused: ${verdict.reason} at ${verdict.at}: ${verdict.message}`;
  return ['verified', ...accountInWords(verdict)].join('\n');
}
