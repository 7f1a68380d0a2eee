/**
 * The two moduli of secp256k1 (SEC 2, version 2.0, section 2.4.1): p of its field and n, the number of its points. Each is nine
 * limbs of 30 bits, least first, then its inverse modulo 2^30.
 */
export const P: usize = memory.data<i32>([
  0x3ffffc2f, 0x3ffffffb, 0x3fffffff, 0x3fffffff, 0x3fffffff, 0x3fffffff, 0x3fffffff, 0x3fffffff, 0x0000ffff,
  0x2ddacacf,
]);
export const N: usize = memory.data<i32>([
  0x10364141, 0x3f497a33, 0x348a03bb, 0x2bb739ab, 0x3ffffeba, 0x3fffffff, 0x3fffffff, 0x3fffffff, 0x0000ffff,
  0x2a774ec1,
]);
