import { type Hex, type LineaProofJson, type PlumblineNode, TEST_TOKEN, tokenBalanceSlot } from 'plumbline';
import { bytesToHex, hexToBytes, loadHasher, verifyLineaProof } from 'plumbline/verify';
import { element, facts, formatUnits, make } from './dom.js';

/** Selectors of the rollup contract on layer 1. */
const CURRENT_L2_BLOCK_NUMBER = '0x695378f5';
const STATE_ROOT_HASHES = '0x8be745d1';

/** Newest finalized block and its zk state root, as the rollup contract on layer 1 says. */
async function readSettled(node: PlumblineNode): Promise<{ block: number; root: Hex }> {
  const to = node.info.rollupAddress;
  const read = async (data: string) =>
    (await node.l1.request({ method: 'eth_call', params: [{ to, data }, 'latest'] })) as Hex;
  const block = Number(await read(CURRENT_L2_BLOCK_NUMBER));
  return { block, root: await read(STATE_ROOT_HASHES + block.toString(16).padStart(64, '0')) };
}

/** A copy in which the balance has one more token, and nothing else differs. */
function forge(answer: LineaProofJson): LineaProofJson {
  const copy = structuredClone(answer);
  const item = copy.storageProofs[0];
  if (item === undefined || !('proof' in item)) throw new Error('the slot is empty: there is no value to forge');
  item.proof.value = `0x${(BigInt(item.proof.value) + 10n ** 18n).toString(16).padStart(64, '0')}`;
  return copy;
}

/** Asks for the proof of the receiver's token balance, checks it, and shows both. */
export async function showProof(node: PlumblineNode, owner: Hex, forged: boolean): Promise<void> {
  const settled = await readSettled(node);
  const slot = tokenBalanceSlot(hexToBytes(owner));
  const params = [TEST_TOKEN, [bytesToHex(slot)], `0x${settled.block.toString(16)}`];
  const genuine = (await node.request({ method: 'linea_getProof', params })) as LineaProofJson;
  const answer = forged ? forge(genuine) : genuine;
  const hasher = await loadHasher(node.info.hashScheme);
  const verdict = verifyLineaProof(
    hasher,
    { address: hexToBytes(TEST_TOKEN), storageKeys: [slot], stateRoot: hexToBytes(settled.root) },
    answer,
  );
  const output = element('proof-result');
  const common: [string, string][] = [
    ['Block', String(settled.block)],
    ['Root on layer 1', settled.root],
    ['Slot', bytesToHex(slot)],
  ];
  if (verdict.verified) {
    const value = BigInt(bytesToHex(verdict.slots[0]!.value));
    output.replaceChildren(
      make('p', 'Verified: the proof leads to the root on layer 1.', 'verdict good'),
      facts([...common, ['Balance', `${formatUnits(value, 18)} tokens`]]),
    );
  } else {
    output.replaceChildren(
      make('p', `Refused: ${verdict.message}`, 'verdict bad'),
      facts([...common, ['Reason', verdict.reason], ['At', verdict.at]]),
    );
  }
  output.append(make('details', [make('summary', 'The answer'), make('pre', JSON.stringify(answer, undefined, 2))]));
}
