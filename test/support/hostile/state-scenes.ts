import fc from 'fast-check';
import { loadHasher } from '../../../src/kernel/hasher.js';
import { bytesToHex, hexToBytes } from '../../../src/primitives/hex.js';
import { verifyLineaProof } from '../../../src/proof/linea-proof.js';
import { openState } from '../../../src/state/load-world-state.js';
import { parseBlockTraces } from '../../../src/state/trace.js';
import { checkTraces } from '../../../src/state/trace-check.js';
import { decodeTrieLog } from '../../../src/state/trie-log.js';
import type { Json } from '../damage.js';
import { fixtureJson } from '../fixtures.js';
import { generatedChains } from '../mock-shomei.js';
import { type AnswerFixture, requestOf } from '../proof-fixtures.js';
import { mutated, mutatedBytes } from './mutations.js';
import { type HostileScene, shown, typedOnly } from './run.js';

const SCHEMES = ['poseidon2', 'mimc'] as const;
const schemeOf = (seed: number) => SCHEMES[seed % 2]!;

/**
 * Trie logs of a generated chain, decoded and applied to the state before. What is refused leaves the state as it was, what is
 * applied can be taken back, and the true log then gives the true root.
 */
export async function trieLogScene(seed: number): Promise<HostileScene<Uint8Array>> {
  const scheme = schemeOf(seed);
  const { blocks } = generatedChains(scheme)[seed % 2]!;
  const state = await openState({ scheme });
  const next = 2 + (seed % (blocks.length - 2));
  for (const { blockNumber, trieLog } of blocks.slice(0, next)) {
    state.applyBlock(blockNumber, decodeTrieLog(hexToBytes(trieLog as `0x${string}`)).changes);
  }
  const honest = blocks[next]!;
  const head = honest.blockNumber - 1;
  const log = hexToBytes(honest.trieLog as `0x${string}`);
  const before = bytesToHex(state.root());
  let applied = 0;
  return {
    inputs: mutatedBytes(fc.constant(log)),
    check(input) {
      const decoded = typedOnly(['TRIE_LOG_MALFORMED'], () => decodeTrieLog(input));
      if (decoded === undefined) return;
      const refusals = ['STATE_MISMATCH', 'INVALID_PARAMETER', 'OUT_OF_RANGE', 'HASH_INPUT_NOT_CANONICAL'];
      if (typedOnly(refusals, () => state.applyBlock(head + 1, decoded.changes)) !== undefined) state.revertTo(head);
      if (state.head !== head || bytesToHex(state.root()) !== before)
        throw new Error('the state is another afterwards');
      // Now and then, because it takes as long as all the rest.
      if (applied++ % 8 !== 0) return;
      const root = bytesToHex(state.applyBlock(head + 1, decodeTrieLog(log).changes));
      state.revertTo(head);
      if (root !== honest.root) throw new Error(`the true log then gives ${root}`);
    },
  };
}

/** Answers of `linea_getProof`: refused, malformed, or verified with the values of the true answer. */
export async function proofScene(seed: number): Promise<HostileScene<Json>> {
  const name = `state/getproof/generated-${schemeOf(seed)}-${seed % 3 === 0 ? 'missing-account' : 'account-and-slots'}.json`;
  const fixture = fixtureJson<AnswerFixture>(name);
  const hasher = await loadHasher(fixture.scheme);
  const truth = shown(verifyLineaProof(hasher, requestOf(fixture), fixture.result));
  return {
    inputs: mutated(fc.constant(fixture.result as Json)),
    check(input) {
      const verdict = typedOnly(['PROOF_MALFORMED'], () => verifyLineaProof(hasher, requestOf(fixture), input));
      if (verdict?.verified === true && shown(verdict) !== truth) throw new Error(`verified: ${shown(verdict)}`);
    },
  };
}

/** State traces on the wire: malformed, refused, or a verdict. */
export async function traceScene(seed: number): Promise<HostileScene<Json>> {
  const scheme = schemeOf(seed);
  type File = { chains: { emptyRoot: string; blocks: { traces: Json[] }[] }[] };
  const { chains } = fixtureJson<File>(`state/generated-blocks-${scheme}.json.gz`);
  const { emptyRoot, blocks } = chains[seed % chains.length]!;
  const hasher = await loadHasher(scheme);
  return {
    inputs: mutated(fc.constant([blocks[0]!.traces.slice(0, 4)] as Json)),
    check(input) {
      typedOnly(['TRACE_MALFORMED'], () =>
        checkTraces(hasher, hexToBytes(emptyRoot as `0x${string}`, 32), parseBlockTraces(input), { order: true }),
      );
    },
  };
}
