import { EMPTY_TRIE_ROOT } from '../../../ethereum/constants.js';
import type { TrieProof } from '../../../ethereum/state-trie.js';
import { bytesToBigInt } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { type AccountRequest, verifyEthereumProof } from '../../../proof/ethereum-proof.js';
import { readArray, readBytesList, readNumber256, readObject } from '../../../proof/json-reader.js';
import type { Answer } from '../../../upstream/failure.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { LightBlock } from '../heads/light-block.js';
import { answerRefused, isNotAvailableYet, missing } from '../refused.js';
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

/**
 * An `eth_getProof` answer of the endpoints, verified against the header.
 *
 * @param signal - ends the request
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints
 */
export function fetchAccountProof(
  group: EndpointGroup,
  { header }: LightBlock,
  { address, storageKeys }: AccountRequest,
  signal?: AbortSignal,
): Promise<TrieProof> {
  const params = [bytesToHex(address), storageKeys.map(bytesToHex), toQuantity(header.number)];
  return group.request('eth_getProof', params, {
    ...(signal !== undefined && { signal }),
    isTransient: isNotAvailableYet,
    accept: (answer) => {
      if (answer === null) throw missing(`state of block ${header.number}`);
      const verdict = verifyEthereumProof({ address, storageKeys, stateRoot: header.stateRoot }, answer);
      if (!verdict.verified) throw answerRefused(`account ${bytesToHex(address)}`, verdict);
      const { account, slots } = verdict;
      const json = readObject(answer, '');
      // All of them are verified. Their order is free, and for a missing account there may be none.
      const proofs = new Map(
        readArray(json.storageProof, 'storageProof').map((item, i) => {
          const { key, proof } = readObject(item, `storageProof[${i}]`);
          const nodes = proof === null ? [] : readBytesList(proof, `storageProof[${i}].proof`);
          return [readNumber256(key, 'key'), nodes] as const;
        }),
      );
      return {
        accountProof: readBytesList(json.accountProof, 'accountProof'),
        account,
        storageRoot: account?.storageRoot ?? EMPTY_TRIE_ROOT,
        storage: slots.map(({ key, value }) => ({
          key,
          value: bytesToBigInt(value),
          proof: proofs.get(bytesToBigInt(key)) ?? [],
        })),
      };
    },
  });
}
