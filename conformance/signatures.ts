import { isPlumblineError } from '../src/errors.js';
import { loadSignerRecovery, signerOf } from '../src/ethereum/signer.js';
import { hashPersonalMessage, hashTypedData } from '../src/ethereum/typed-data.js';
import { authorityOf } from '../src/evm/authority.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { type Area, differs } from './area.js';

const file = (name: string) => `signatures/${name}.json`;
const [TYPED, MESSAGES, AUTHORIZATIONS, RECOVERED, REFUSALS] = [
  'typed-data',
  'messages',
  'authorizations',
  'recovered',
  'refusals',
].map(file) as [string, string, string, string, string];

type TypedData = Readonly<Record<string, unknown>>;

interface RefusalJson {
  readonly name: string;
  readonly typedData: TypedData;
  readonly viem: string;
  readonly ethers: string;
  readonly sigUtil: string;
}

/** What each of the three libraries signs, all to the same digest, or two of them: it is read here too. */
const TAKEN = new Set(['member too many in the message', 'member too many in the domain', 'chain id as hex text']);

/** The digest, or `refused` for data that is not encoded. */
function digestOf(data: TypedData): string {
  try {
    return bytesToHex(hashTypedData(data));
  } catch (error) {
    if (isPlumblineError(error, 'INVALID_PARAMETER')) return 'refused';
    throw error;
  }
}

/** The signer of a hash, from a signature of 65 bytes. */
function signerBy(hash: Uint8Array, signature: Hex): string {
  const bytes = hexToBytes(signature, 65);
  const v = bytes[64]! >= 27 ? bytes[64]! - 27 : bytes[64]!;
  const signer = signerOf(hash, bytes.subarray(0, 32), bytes.subarray(32, 64), v === 1 ? 1 : 0);
  return signer === undefined ? 'none' : bytesToHex(signer);
}

/** What wallets are asked to sign, beside transactions: typed data, messages, authorizations. */
export const signaturesArea: Area = {
  name: 'signatures',
  usesKernel: false,
  isOutside: true,
  files: (material) => [TYPED, MESSAGES, AUTHORIZATIONS, RECOVERED, REFUSALS].filter(material.has),
  async run(material, report) {
    await loadSignerRecovery();
    const typed = material.json<{ name: string; typedData: TypedData; digest: Hex }[]>(TYPED);
    for (const { name, typedData, digest } of typed)
      await report.check(name, () => differs(digestOf(typedData), digest));
    const messages = material.json<{ message: string; raw: boolean; digest: Hex }[]>(MESSAGES);
    for (const { message, raw, digest } of messages)
      await report.check(`message ${digest}`, () => {
        const bytes = raw ? hexToBytes(message as Hex) : new TextEncoder().encode(message);
        return differs(bytesToHex(hashPersonalMessage(bytes)), digest);
      });
    interface AuthorizationJson {
      chainId: number;
      address: Hex;
      nonce: number;
      yParity: number;
      r: Hex;
      s: Hex;
      authority: Hex;
    }
    const authorizations = material.json<AuthorizationJson[]>(AUTHORIZATIONS);
    for (const { chainId, address, nonce, yParity, r, s, authority } of authorizations)
      await report.check(`authorization of ${authority}`, async () => {
        const signer = await authorityOf({
          chainId: BigInt(chainId),
          address: hexToBytes(address),
          nonce: BigInt(nonce),
          yParity: BigInt(yParity),
          r: BigInt(r),
          s: BigInt(s),
        });
        return differs(signer && bytesToHex(signer), authority);
      });
    const byName = new Map(typed.map((one) => [one.name, one]));
    for (const { of, signature, signer } of material.json<{ of: string; signature: Hex; signer: Hex }[]>(RECOVERED))
      await report.check(`signer of ${of}`, () =>
        differs(signerBy(hashTypedData(byName.get(of)!.typedData), signature), signer),
      );
    for (const { name, typedData, viem } of material.json<RefusalJson[]>(REFUSALS))
      await report.check(`malformed: ${name}`, () => differs(digestOf(typedData), TAKEN.has(name) ? viem : 'refused'));
  },
};
