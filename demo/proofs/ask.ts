import type { Hex } from 'plumbline-l2';
import type { Hasher, LineaProofJson } from 'plumbline-l2/verify';
import { requireAddress } from '../lib/calls.js';
import { fieldError, PageError } from '../lib/explain.js';
import { LayerOneUnreachable, settledBlock, settledRoot } from '../state/layer-one.js';
import { question } from '../state/link.js';
import { ask } from '../state/requests.js';
import { running } from '../state/session.js';
import { examine, orNothing } from './examine.js';
import { type AskFormFields, askForm, fields, type TrustedRoot } from './state.js';
import { type Tampering, tamper } from './tamper.js';

/** @throws Error that names the field */
function readAskForm({ address, keys, block }: AskFormFields) {
  const lines = keys.split(/[\s,]+/).filter((line) => line !== '');
  for (const line of lines) {
    if (!/^0x[0-9a-fA-F]{1,64}$/.test(line))
      throw fieldError('Storage keys', `“${line}” is not hex of at most 32 bytes`);
  }
  const number = block.trim();
  if (/^\d+$/.test(number))
    return { address: requireAddress(address, 'Account'), lines, tag: undefined, number: Number(number) };
  if (!['finalized', 'latest', 'earliest'].includes(number)) throw fieldError('Block', 'a number, or “finalized”');
  return { address: requireAddress(address, 'Account'), lines, tag: number, number: undefined };
}

/** Asks the node for a proof and examines it here, or a copy of it with something changed. */
export function prove(tampered?: Tampering): Promise<void> {
  return orNothing(() => proveNow(tampered));
}

async function proveNow(tampered: Tampering | undefined): Promise<void> {
  const now = running.value;
  if (now === undefined) throw new PageError('PAGE', 'No node is running. Start one under “Node”.');
  const { address, lines, tag, number } = readAskForm(askForm.value);
  const asked = fields.value;
  const { layerOne, node } = now;
  const { rollupAddress, hashScheme } = node.info as Required<typeof node.info>;
  let block = number;
  let onLayerOne: Hex | undefined;
  if (layerOne !== undefined) {
    try {
      block ??= tag === 'earliest' ? 0 : await settledBlock(layerOne, rollupAddress);
      onLayerOne = await settledRoot(layerOne, rollupAddress, block);
    } catch (error) {
      // The node still has the proofs it kept, and the roots it checked them against.
      if (!(error instanceof LayerOneUnreachable)) throw error;
    }
  }
  const reference = block === undefined ? (tag ?? 'finalized') : `0x${block.toString(16)}`;
  const keys = lines.map((line) => (line.length % 2 === 0 ? line : `0x0${line.slice(2)}`));
  const { result, known } = await ask<LineaProofJson>('linea_getProof', [address, keys, reference]);
  const answer = tampered === undefined ? result : tamper(result, tampered);
  const { bytesToHex, hexToBytes } = await import('plumbline-l2/verify');
  const root = (hasher: Hasher): TrustedRoot =>
    onLayerOne === undefined
      ? {
          hash: bytesToHex(hasher.hash(hexToBytes(result.accountProof && topOf(result)))),
          ...{ block, known, proves: known, name: 'the root that this node found on layer 1 before' },
          from: 'the answer itself, which the node checked against layer 1',
        }
      : {
          hash: onLayerOne,
          ...{ block, known: { class: layerOne!.source }, proves: known, name: 'the root on layer 1' },
          from: `the rollup contract on ${now.settings.kind === 'devnet' ? 'the simulated layer 1' : 'layer 1'}, read by this page`,
        };
  const pinned = {
    ...(block !== undefined && { block: String(block) }),
    ...(tampered !== undefined && { forge: tampered }),
  };
  const given = { answer, known, scheme: hashScheme, tampered, question: question('proofs', asked, pinned) };
  await examine(given, root, { address, keys });
}

function topOf({ accountProof }: LineaProofJson): Hex {
  const proof = 'proof' in accountProof ? accountProof.proof : accountProof.leftProof;
  return proof.proofRelatedNodes[0]!;
}
