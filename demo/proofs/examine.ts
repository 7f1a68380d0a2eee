import type { Hasher, HashScheme, LineaProofJson } from 'plumbline-l2/verify';
import { showLink } from '../state/link.js';
import type { Anatomy } from './anatomy.js';
import { type Examined, examined, type TrustedRoot } from './state.js';

/** The verifier, loaded when it is first needed. */
export async function loadVerifier(scheme: HashScheme) {
  const [verify, anatomy, checks] = await Promise.all([
    import('plumbline-l2/verify'),
    import('./anatomy.js'),
    import('./checks.js'),
  ]);
  return { verify, ...anatomy, ...checks, hasher: await verify.loadHasher(scheme) };
}

/** What fails leaves no older verdict standing, which would seem to be its own. */
export async function orNothing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    examined.value = undefined;
    throw error;
  }
}

/** Addresses and keys that an answer is about, as it says itself. */
function subjects(answer: LineaProofJson): { address: string; keys: string[] } {
  // What is no address or key gets zeros in its place, and the verifier then says what is wrong with the answer.
  const sound = (key: unknown, bytes: number) => {
    return typeof key === 'string' && RegExp(`^0x[0-9a-f]{${2 * bytes}}$`, 'i').test(key)
      ? key
      : `0x${'00'.repeat(bytes)}`;
  };
  const keys = answer.storageProofs.map((item) => sound(item?.key, 32));
  return { address: sound(answer.accountProof.key, 20), keys };
}

/**
 * Checks an answer and takes it apart.
 *
 * @throws PlumblineError `PROOF_MALFORMED` when it is no answer of the method, `INVALID_HEX`, `INVALID_LENGTH`
 */
export async function examine(
  given: Pick<Examined, 'answer' | 'known' | 'scheme' | 'tampered' | 'question'>,
  root: TrustedRoot | ((hasher: Hasher) => TrustedRoot),
  asked?: { readonly address: string; readonly keys: readonly string[] },
): Promise<void> {
  const { answer, scheme } = given;
  const { verify, hasher, anatomy, checksOf, itemsOf } = await loadVerifier(scheme);
  const trusted = typeof root === 'function' ? root(hasher) : root;
  const { address, keys } = asked ?? subjects(answer);
  const began = performance.now();
  const storageKeys = keys.map((key) => word(verify.hexToBytes(key)));
  const request = { address: verify.hexToBytes(address), storageKeys, stateRoot: verify.hexToBytes(trusted.hash) };
  const verdict = verify.verifyLineaProof(hasher, request, answer);
  const ms = performance.now() - began;
  let drawings: readonly Anatomy[] | undefined;
  try {
    drawings = itemsOf(answer).map(({ at, json }) => anatomy(hasher, at, json));
  } catch {
    drawings = undefined;
  }
  examined.value = { ...given, root: trusted, verdict, checks: checksOf(verdict, answer), drawings, ms };
  showLink(given.question);
}

/** A key of up to 32 bytes on 32. */
function word(key: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes.set(key, Math.max(0, 32 - key.length));
  return bytes;
}
