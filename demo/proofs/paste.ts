import type { Hex } from 'plumbline-l2';
import type { LineaProofJson } from 'plumbline-l2/verify';
import { fieldError, PageError } from '../lib/explain.js';
import { settledBlock, settledRoot } from '../state/layer-one.js';
import { question } from '../state/link.js';
import { running } from '../state/session.js';
import { examine, loadVerifier, orNothing } from './examine.js';
import { fields, pasteForm, type TrustedRoot } from './state.js';

/** Examines an answer that was pasted: its `result`, or the whole response. */
export function examinePasted(): Promise<void> {
  return orNothing(examineNow);
}

async function examineNow(): Promise<void> {
  const { text, root, scheme } = pasteForm.value;
  const asked = question('proofs', fields.value);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new PageError('NOT_JSON', `What was pasted is not JSON: ${(error as Error).message}`);
  }
  const response = parsed as { result?: unknown; error?: { code?: unknown; message?: unknown } } | null;
  if (response?.result === undefined && response?.error) {
    throw new PageError('NO_PROOF', `What was pasted is an error: ${response.error.message} (${response.error.code})`);
  }
  const answer = (response?.result ?? response) as LineaProofJson;
  if (!/^0x[0-9a-fA-F]{64}$/.test(root.trim())) throw fieldError('State root', 'it must be 0x and 64 hex digits');
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
    name: 'the root that you named',
    known: undefined,
    proves: undefined,
  };
  await examine({ answer, known: undefined, scheme, tampered: undefined, question: asked }, trusted);
}

/** The newest root on layer 1, for the form. @throws Error where no layer 1 is known */
export async function newestRoot(): Promise<Hex> {
  const now = running.value;
  if (now?.layerOne === undefined)
    throw new PageError('LAYER_ONE', 'There is no layer 1 to read it from: name an endpoint under “Node”.');
  const rollupAddress = now.node.info.rollupAddress!;
  const block = await settledBlock(now.layerOne, rollupAddress);
  const root = await settledRoot(now.layerOne, rollupAddress, block);
  if (root === undefined) throw new PageError('LAYER_ONE', `Layer 1 holds no root of block ${block}`);
  return root;
}
