import { toQuantity } from '../../../primitives/quantity.js';
import { readArray, readBytesList, readObject } from '../../../proof/json-reader.js';
import type { Answer } from '../../../upstream/fault.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { LightBlock } from '../heads/light-block.js';
import { isNotAvailableYet } from '../refused.js';
import type { AccessSet } from './access-set.js';
import type { ProvedState } from './proved-state.js';
import { stateBatch } from './state-batch.js';

/** What is fetched together, and where it goes. */
export interface FetchedState {
  readonly block: Pick<LightBlock, 'header'>;
  /** The state after the block. */
  readonly state: ProvedState;
  readonly accesses: AccessSet;
  readonly signal?: AbortSignal | undefined;
  /** Called with each node of the proofs. A node is found by its hash, so that none can be a wrong one. */
  onNode(node: Uint8Array): void;
}

/** Fetches a part of a state, with the nodes that prove it. @throws PlumblineError as `StateBatch.read`; of the endpoints */
export async function fetchWithNodes(
  group: EndpointGroup,
  { block, state, accesses, signal, onNode }: FetchedState,
): Promise<void> {
  const all = [...accesses];
  await state.codes.recall(all.flatMap(({ address, code }) => (code ? [address] : [])));
  const batch = stateBatch(accesses, toQuantity(block.header.number), (address) => {
    return state.hasAccount(address) ? state.hasCodeOf(address) : state.codes.hasCodeOf(address);
  });
  await group.requestMany(batch.calls, {
    ...(signal !== undefined && { signal }),
    isTransient: isNotAvailableYet,
    accept: (answers, from) => {
      batch.read(state, answers, from);
      for (const answer of answers.slice(0, all.length)) for (const node of nodesOf(answer)) onNode(node);
    },
  });
}

/** Nodes of a verified `eth_getProof` answer. */
function nodesOf(answer: Answer): Uint8Array[] {
  if (answer.kind !== 'result') return [];
  const { accountProof, storageProof } = readObject(answer.result, '');
  const proofs = readArray(storageProof, 'storageProof').map((slot) => readObject(slot, 'storageProof').proof ?? []);
  return [accountProof, ...proofs].flatMap((proof) => readBytesList(proof, 'proof'));
}
