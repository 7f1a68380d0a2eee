import { secp256k1 } from '@noble/curves/secp256k1.js';
import { loadRecovery } from '../src/kernel/recovery.js';
import { bigIntToBytes } from '../src/primitives/bytes.js';
import { alternate, type BenchArea } from './area.js';

/** Signatures that the bodies go through, so that no branch is learned by heart. */
const SIGNATURES = 64;

function signatures() {
  return Array.from({ length: SIGNATURES }, (_, i) => {
    const [hash, secret] = [bigIntToBytes(7n ** BigInt(80 - i), 32), bigIntToBytes(3n ** BigInt(60 + i), 32)];
    const signed = secp256k1.sign(hash, secret, { prehash: false, format: 'recovered' });
    const [r, s] = [signed.slice(1, 33), signed.slice(33)];
    return { hash, r, s, compact: signed.slice(1), yParity: signed[0] as 0 | 1 };
  });
}

export const recovering: BenchArea = {
  name: 'recovery',
  question: 'How much faster than @noble/curves does the kernel recover the key that signed?',
  async run() {
    const signed = signatures();
    const loadStarted = performance.now();
    const recover = await loadRecovery();
    const loaded = performance.now() - loadStarted;
    const firstStarted = performance.now();
    const { hash, r, s, yParity } = signed[0]!;
    recover(hash, r, s, yParity);
    const first = performance.now() - firstStarted;
    let at = 0;
    const next = () => signed[at++ % SIGNATURES]!;
    const ns = alternate({
      kernel() {
        const one = next();
        return recover(one.hash, one.r, one.s, one.yParity);
      },
      library() {
        const one = next();
        const signature = secp256k1.Signature.fromBytes(one.compact).addRecoveryBit(one.yParity);
        return signature.recoverPublicKey(one.hash).toBytes(false);
      },
    });
    return [
      { name: 'a public key by @noble/curves', value: ns.library! / 1e3, unit: 'us' },
      {
        name: 'a public key by the kernel over @noble/curves',
        value: ns.library! / ns.kernel!,
        unit: 'x',
        bar: { atLeast: 4 },
        note: `${Math.round(ns.kernel! / 1e3)} us`,
      },
      {
        name: 'loading the kernel, and the first key',
        value: loaded + first,
        unit: 'ms',
        note: `key ${first.toFixed(1)} ms`,
      },
    ];
  },
};
