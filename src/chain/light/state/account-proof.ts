import { EMPTY_TRIE_ROOT } from '../../../ethereum/constants.js';
import type { TrieProof } from '../../../ethereum/state-trie.js';
import { bytesToBigInt } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { type AccountRequest, verifyEthereumProof } from '../../../proof/ethereum-proof.js';
import { readArray, readBytesList, readNumber256, readObject } from '../../../proof/json-reader.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { LightBlock } from '../heads/light-block.js';
import { answerRefused, isNotAvailableYet, missing } from '../refused.js';

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
