import type { Hex, LineaProofJson, ProofItemJson } from 'plumbline-l2/verify';

/** Ways to forge an answer, each caught by another check. */
export const TAMPERINGS = {
  value: 'its value',
  sibling: 'a hash beside the path',
  position: 'the position of its leaf',
  root: 'the top of the tree',
} as const;

export type Tampering = keyof typeof TAMPERINGS;

/** Another digit in the place of the last but `back`: small, so that words stay below the modulus. */
function otherDigit(hex: Hex, back: number): Hex {
  const at = hex.length - 1 - back;
  const digit = (Number.parseInt(hex[at]!, 16) ^ 1).toString(16);
  return `${hex.slice(0, at)}${digit}${hex.slice(at + 1)}` as Hex;
}

/** A copy of an answer in which one thing of its last item is another. The answer itself stays as it is. */
export function tamper(answer: LineaProofJson, how: Tampering): LineaProofJson {
  const copy = structuredClone(answer);
  const item: ProofItemJson = copy.storageProofs.at(-1) ?? copy.accountProof;
  const proof = 'proof' in item ? item.proof : item.leftProof;
  const nodes = proof.proofRelatedNodes;
  if (how === 'value') proof.value = otherDigit(proof.value, 0);
  else if (how === 'root') nodes[0] = otherDigit(nodes[0]!, 0);
  else if (how === 'sibling') nodes[38] = otherDigit(nodes[38]!, 0);
  else if ('proof' in item) item.leafIndex += 1;
  else item.leftLeafIndex += 1;
  return copy;
}
