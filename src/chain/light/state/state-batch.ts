import { bytesToKey } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { type AccountRequest, hasNoCode, verifyAccounts, verifyCode } from '../../../proof/ethereum-proof.js';
import type { Answer, Call, EndpointInfo } from '../../../upstream/failure.js';
import { upstreamError } from '../../../upstream/failure.js';
import { answerRefused, missing } from '../refused.js';
import type { AccessSet, AccountAccess } from './access-set.js';
import type { ProvedState } from './proved-state.js';

/** Calls that fetch a part of a state, and the reader of their answers. */
export interface StateBatch {
  readonly calls: readonly Call[];
  /**
   * Verifies the answers against the root of `state` and puts them into it: all of them, or none when one is wrong.
   *
   * @param answers - one per call, in order
   * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`; `UPSTREAM_ERROR` if one of them is an error
   */
  read(state: ProvedState, answers: readonly Answer[], from: EndpointInfo): void;
}

/**
 * One `eth_getProof` for each account and one `eth_getCode` for each code.
 *
 * @param at - block parameter of the calls
 * @param codeIsKnown - whether the code of an address is known and need not be requested
 */
export function stateBatch(
  accesses: AccessSet,
  at: string,
  codeIsKnown: (address: Uint8Array) => boolean = () => false,
): StateBatch {
  const accounts: AccountAccess[] = [...accesses];
  const coded = accounts.filter(({ code, address }) => code && !codeIsKnown(address));
  const requests: AccountRequest[] = accounts.map(({ address, slots }) => ({
    address,
    storageKeys: [...slots.values()],
  }));
  const calls: Call[] = [
    ...requests.map(({ address, storageKeys }) => ({
      method: 'eth_getProof',
      params: [bytesToHex(address), storageKeys.map(bytesToHex), at],
    })),
    ...coded.map(({ address }) => ({ method: 'eth_getCode', params: [bytesToHex(address), at] })),
  ];
  return {
    calls,
    read(state, answers, from) {
      const results = answers.map((answer, i) => {
        if (answer.kind === 'error') throw upstreamError(from, calls[i]!, answer.error);
        if (answer.result === null) throw missing(`state of block ${at}`);
        return answer.result;
      });
      const verdict = verifyAccounts(state.root, requests, results.slice(0, requests.length));
      if (!verdict.verified) throw answerRefused(`account ${bytesToHex(verdict.address)}`, verdict);
      const codes: [Uint8Array, Uint8Array, Uint8Array][] = [];
      for (const [i, { address }] of coded.entries()) {
        const codeHash = verdict.accounts.get(bytesToKey(address))!.account?.codeHash;
        if (codeHash === undefined || hasNoCode(codeHash)) continue;
        const code = verifyCode(codeHash, results[requests.length + i]);
        if (!code.verified) throw answerRefused(`code of ${bytesToHex(address)}`, code);
        codes.push([codeHash, code.code, address]);
      }
      for (const [hash, code, address] of codes) state.codes.put(hash, code, address);
      state.take(verdict.accounts);
    },
  };
}
