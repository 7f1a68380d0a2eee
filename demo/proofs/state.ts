import { signal } from '@preact/signals';
import type { Hex } from 'plumbline';
import type { Hasher, HashScheme, LineaProofJson, LineaProofVerdict } from 'plumbline/verify';
import { requireAddress } from '../lib/calls.js';
import { settledBlock, settledRoot } from '../state/layer-one.js';
import { ask, type Knowledge } from '../state/requests.js';
import { running } from '../state/session.js';
import type { Anatomy } from './anatomy.js';
import type { Check } from './checks.js';
import { type Tampering, tamper } from './tamper.js';

/** Where the root came from that a proof was checked against. */
export interface TrustedRoot {
  readonly hash: Hex;
  readonly block: number | undefined;
  readonly from: string;
  readonly known: Knowledge | undefined;
}

/** A proof with its verdict, and everything that is drawn of it. */
export interface Examined {
  readonly answer: LineaProofJson;
  readonly known: Knowledge | undefined;
  readonly scheme: HashScheme;
  readonly root: TrustedRoot;
  readonly verdict: LineaProofVerdict;
  readonly checks: readonly Check[];
  /** Undefined where the answer cannot be hashed, so that there is nothing to draw. */
  readonly drawings: readonly Anatomy[] | undefined;
  readonly ms: number;
  /** What was changed in the answer before it was looked at. */
  readonly tampered: Tampering | undefined;
}

export const examined = signal<Examined | undefined>(undefined);

/** The verifier, loaded when it is first needed. */
async function loadVerifier(scheme: HashScheme) {
  const [verify, anatomy, checks] = await Promise.all([
    import('plumbline/verify'),
    import('./anatomy.js'),
    import('./checks.js'),
  ]);
  return { verify, ...anatomy, ...checks, hasher: await verify.loadHasher(scheme) };
}

/** What fails leaves no older verdict standing, which would seem to be its own. */
async function orNothing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    examined.value = undefined;
    throw error;
  }
}

/** Addresses and keys that an answer is about, as it says itself. */
function subjects(answer: LineaProofJson): { address: string; keys: string[] } {
  // What is no address or key gets zeros in its place, and the verifier then says what is wrong with the answer.
  const sound = (key: unknown, bytes: number) => {
    return typeof key === 'string' && RegExp(`^0x[0-9a-f]{${2 * bytes}}$`, 'i').test(key)
      ? key
      : `0x${'00'.repeat(bytes)}`;
  };
  const keys = answer.storageProofs.map((item) => sound(item?.key, 32));
  return { address: sound(answer.accountProof.key, 20), keys };
}

/**
 * Checks an answer and takes it apart.
 *
 * @throws PlumblineError `PROOF_MALFORMED` when it is no answer of the method, `INVALID_HEX`, `INVALID_LENGTH`
 */
async function examine(
  given: Pick<Examined, 'answer' | 'known' | 'scheme' | 'tampered'>,
  root: TrustedRoot | ((hasher: Hasher) => TrustedRoot),
  asked?: { readonly address: string; readonly keys: readonly string[] },
): Promise<void> {
  const { answer, scheme } = given;
  const { verify, hasher, anatomy, checksOf, itemsOf } = await loadVerifier(scheme);
  const trusted = typeof root === 'function' ? root(hasher) : root;
  const { address, keys } = asked ?? subjects(answer);
  const began = performance.now();
  const storageKeys = keys.map((key) => word(verify.hexToBytes(key)));
  const request = { address: verify.hexToBytes(address), storageKeys, stateRoot: verify.hexToBytes(trusted.hash) };
  const verdict = verify.verifyLineaProof(hasher, request, answer);
  const ms = performance.now() - began;
  let drawings: readonly Anatomy[] | undefined;
  try {
    drawings = itemsOf(answer).map(({ at, json }) => anatomy(hasher, at, json));
  } catch {
    drawings = undefined;
  }
  examined.value = { ...given, root: trusted, verdict, checks: checksOf(verdict, answer), drawings, ms };
}

/** A key of up to 32 bytes on 32. */
function word(key: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes.set(key, Math.max(0, 32 - key.length));
  return bytes;
}

/** What the form that asks the node holds. */
export interface AskFormFields {
  readonly address: string;
  /** One a line. */
  readonly keys: string;
  readonly block: string;
}

/** @throws Error that names the field */
function readAskForm({ address, keys, block }: AskFormFields) {
  const lines = keys.split(/[\s,]+/).filter((line) => line !== '');
  for (const line of lines) {
    if (!/^0x[0-9a-fA-F]{1,64}$/.test(line)) throw new Error(`Storage keys: ${line} is not hex of at most 32 bytes`);
  }
  const number = block.trim();
  if (/^\d+$/.test(number))
    return { address: requireAddress(address, 'Account'), lines, tag: undefined, number: Number(number) };
  if (!['finalized', 'latest', 'earliest'].includes(number)) throw new Error('Block: a number, or “finalized”');
  return { address: requireAddress(address, 'Account'), lines, tag: number, number: undefined };
}

/** Asks the node for a proof and examines it here, or a copy of it with something changed. */
export function prove(form: AskFormFields, tampered?: Tampering): Promise<void> {
  return orNothing(() => proveNow(form, tampered));
}

async function proveNow(form: AskFormFields, tampered?: Tampering): Promise<void> {
  const now = running.value;
  if (now === undefined) throw new Error('No node is running. Start one under “Node”.');
  const { address, lines, tag, number } = readAskForm(form);
  const { layerOne, node } = now;
  const { rollupAddress, hashScheme } = node.info;
  let block = number;
  let onLayerOne: Hex | undefined;
  if (layerOne !== undefined) {
    try {
      block ??= tag === 'earliest' ? 0 : await settledBlock(layerOne, rollupAddress);
      onLayerOne = await settledRoot(layerOne, rollupAddress, block);
    } catch (error) {
      // Without a network the node still has the proofs it kept, and the roots it checked them against.
      if (navigator.onLine) throw error;
    }
  }
  const reference = block === undefined ? (tag ?? 'finalized') : `0x${block.toString(16)}`;
  const keys = lines.map((line) => (line.length % 2 === 0 ? line : `0x0${line.slice(2)}`));
  const { result, known } = await ask<LineaProofJson>('linea_getProof', [address, keys, reference]);
  const answer = tampered === undefined ? result : tamper(result, tampered);
  const { bytesToHex, hexToBytes } = await import('plumbline/verify');
  const root = (hasher: Hasher): TrustedRoot =>
    onLayerOne === undefined
      ? {
          hash: bytesToHex(hasher.hash(hexToBytes(result.accountProof && topOf(result)))),
          ...{ block, known, from: 'the answer itself, which the node checked against layer 1' },
        }
      : {
          hash: onLayerOne,
          ...{ block, known: { class: layerOne!.source } },
          from: `the rollup contract on ${now.settings.kind === 'devnet' ? 'the simulated layer 1' : 'layer 1'}, read by this page`,
        };
  await examine({ answer, known, scheme: hashScheme, tampered }, root, { address, keys });
}

function topOf({ accountProof }: LineaProofJson): Hex {
  const proof = 'proof' in accountProof ? accountProof.proof : accountProof.leftProof;
  return proof.proofRelatedNodes[0]!;
}

/** What the form for a pasted answer holds. */
export interface PasteFormFields {
  readonly text: string;
  readonly root: string;
  readonly scheme: HashScheme;
}

/** Examines an answer that was pasted: its `result`, or the whole response. */
export function examinePasted(form: PasteFormFields): Promise<void> {
  return orNothing(() => examineNow(form));
}

async function examineNow({ text, root, scheme }: PasteFormFields): Promise<void> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Error(`What was pasted is not JSON: ${(error as Error).message}`);
  }
  const response = parsed as { result?: unknown } | null;
  const answer = (response?.result ?? response) as LineaProofJson;
  if (!/^0x[0-9a-fA-F]{64}$/.test(root.trim())) throw new Error('State root: 0x and 64 hex digits');
  const { verify, hasher } = await loadVerifier(scheme);
  if (typeof answer?.accountProof !== 'object' || !Array.isArray(answer.storageProofs)) {
    // The verifier says what is wrong with it.
    const request = { address: new Uint8Array(20), storageKeys: [], stateRoot: new Uint8Array(32) };
    verify.verifyLineaProof(hasher, request, answer);
  }
  const trusted: TrustedRoot = {
    hash: root.trim() as Hex,
    block: undefined,
    from: 'the form: you name it',
    known: undefined,
  };
  await examine({ answer, known: undefined, scheme, tampered: undefined }, trusted);
}

/** The newest root on layer 1, for the form. @throws Error where no layer 1 is known */
export async function newestRoot(): Promise<Hex> {
  const now = running.value;
  if (now?.layerOne === undefined)
    throw new Error('There is no layer 1 to read it from: name an endpoint under “Node”.');
  const { rollupAddress } = now.node.info;
  const block = await settledBlock(now.layerOne, rollupAddress);
  const root = await settledRoot(now.layerOne, rollupAddress, block);
  if (root === undefined) throw new Error(`Layer 1 holds no root of block ${block}`);
  return root;
}
