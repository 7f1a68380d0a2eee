import { bls12_381 } from '@noble/curves/bls12-381.js';

/** One verification of a BLS signature by @noble/curves: from the bytes of message, key and signature, none seen before. */
export function blsVerification(): () => void {
  const { longSignatures } = bls12_381;
  const secret = bls12_381.utils.randomSecretKey();
  const publicKey = longSignatures.getPublicKey(secret).toBytes();
  const messages = Array.from({ length: 16 }, (_, i) => new Uint8Array(32).fill(i));
  const signatures = messages.map((message) => longSignatures.sign(longSignatures.hash(message), secret).toBytes());
  let at = 0;
  return () => {
    const i = at++ % messages.length;
    const message = longSignatures.hash(messages[i]!);
    if (!longSignatures.verify(signatures[i]!, message, publicKey)) throw new Error('the signature does not verify');
  };
}
