import type { LayerOneBlock } from '../src/consensus/containers.js';
import { keccak256 } from '../src/kernel/keccak.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { verifyEthereumProof } from '../src/proof/ethereum-proof.js';
import { verifyHeader } from '../src/proof/headers.js';
import { verifyL1Anchor } from '../src/proof/l1-anchor.js';
import { differs, type Report } from './area.js';

interface ProofFixture {
  readonly address: Hex;
  readonly storageKeys: readonly Hex[];
  readonly answer: unknown;
  readonly expect: { nonce: Hex; balance: Hex; storageHash: Hex; codeHash: Hex; values: readonly Hex[] };
}

/** What a scenario says of the execution block that its header names. */
export interface AnchorFixture {
  readonly execution?: {
    readonly headerRlp: Hex;
    readonly block: unknown;
    readonly proofs: readonly ProofFixture[];
    readonly tampered: readonly { name: string; refused: string; block?: unknown; answer?: unknown }[];
  };
  readonly layerOne?: { headerRlp: Hex; rollup: Hex; currentBlockSlot: Hex; stateRootsSlot: Hex; proof: unknown };
  readonly finalizedBlock?: number;
  readonly zkRoot?: Hex;
}

/** From the layer-1 block of a verified header to proofs of its state. */
export async function checkAnchor(
  fixture: AnchorFixture,
  block: LayerOneBlock,
  report: Report,
  name: string,
): Promise<void> {
  const { execution, layerOne } = fixture;
  if (layerOne !== undefined) {
    await report.check(`${name} header`, () => hashDiffers(layerOne.headerRlp, block));
    await report.check(`${name} root of the zk state`, () => {
      const rollup = {
        address: layerOne.rollup,
        currentBlockSlot: BigInt(layerOne.currentBlockSlot),
        stateRootsSlot: BigInt(layerOne.stateRootsSlot),
      };
      const request = { l1StateRoot: block.stateRoot!, rollup, l2BlockNumber: fixture.finalizedBlock! };
      const verdict = verifyL1Anchor(request, layerOne.proof);
      return differs(fixture.zkRoot, verdict.verified ? bytesToHex(verdict.stateRoot!) : verdict.reason);
    });
  }
  if (execution === undefined) return;
  await report.check(`${name} header`, () => hashDiffers(execution.headerRlp, block));
  await report.check(`${name} block`, () => differs('proved', judgeBlock(block, execution.block)));
  for (const proof of execution.proofs) {
    await report.check(`${name} proof of ${proof.address}`, () => proofDiffers(block, proof));
  }
  for (const { name: what, refused, block: altered, answer } of execution.tampered) {
    await report.check(`${name}: ${what}`, () => {
      if (altered !== undefined) return differs(refused, judgeBlock(block, altered));
      return differs(refused, judgeProof(block, execution.proofs[0]!, answer) === undefined ? 'PROOF' : 'proved');
    });
  }
}

function hashDiffers(headerRlp: Hex, block: LayerOneBlock): string | undefined {
  return differs(bytesToHex(block.blockHash), bytesToHex(keccak256(hexToBytes(headerRlp))));
}

/** Whether the answer of an execution endpoint is the header with the hash, number and state root of the block. */
function judgeBlock(block: LayerOneBlock, answer: unknown): 'proved' | 'HEADER_HASH' {
  const verdict = verifyHeader(answer, { hash: block.blockHash });
  if (!verdict.verified) return 'HEADER_HASH';
  const { header } = verdict;
  const same = Number(header.number) === block.number && bytesToHex(header.stateRoot) === bytesToHex(block.stateRoot!);
  return same ? 'proved' : 'HEADER_HASH';
}

function judgeProof(block: LayerOneBlock, { address, storageKeys }: ProofFixture, answer: unknown) {
  const request = {
    address: hexToBytes(address),
    storageKeys: storageKeys.map((key) => hexToBytes(key)),
    stateRoot: block.stateRoot!,
  };
  const verdict = verifyEthereumProof(request, answer);
  return verdict.verified ? verdict : undefined;
}

function proofDiffers(block: LayerOneBlock, proof: ProofFixture): string | undefined {
  const verdict = judgeProof(block, proof, proof.answer);
  const { nonce, balance, values } = proof.expect;
  const slots = verdict?.slots.map(({ value }) => BigInt(bytesToHex(value)));
  const expected = [BigInt(nonce), BigInt(balance), ...values.map((value) => BigInt(value))];
  return differs(expected, [verdict?.account?.nonce, verdict?.account?.balance, ...(slots ?? [])]);
}
