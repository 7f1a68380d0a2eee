import { keccak_256 } from '@noble/hashes/sha3.js';
import { isPlumblineError } from '../src/errors.js';
import type { HashScheme } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { historySlot, verifySettledHeader } from '../src/proof/settled-header.js';
import { type Area, differs, type Material, type Report } from './area.js';

interface SettledCase {
  name: string;
  block: string;
  storageKeys: Hex[];
  answer: unknown;
  header: { rlp: Hex; json: unknown } | null;
  expect: { hash: Hex; stateRoot: Hex } | { refused: string };
}

interface SettledFile {
  scheme: HashScheme;
  finalizedBlock: string;
  zkRoot: Hex;
  cases: SettledCase[];
}

interface RecordedHeaders {
  headers: { number: string; hash: Hex; rlp: Hex; writes: { slot: Hex; value: Hex } }[];
}

const FOLDER = 'consensus/settled';
/** Reasons that are not those of the zk proof itself. */
const OWN_REASONS = [
  'OUT_OF_RING',
  'CONTRACT_MISSING',
  'CONTRACT_CODE',
  'HASH_MISSING',
  'HEADER_HASH',
  'HEADER_NUMBER',
];

const scenarios = (material: Material) => material.list(FOLDER, /^(mimc|poseidon2).*\.json$/);

/** Headers under the zk state after a finalized block, forgeries of them, and what recorded blocks wrote. */
export const settledArea: Area = {
  name: 'settled',
  usesKernel: true,
  files: scenarios,
  async run(material, report) {
    for (const path of scenarios(material)) {
      const file = material.json<SettledFile>(path);
      const hasher = await loadHasher(file.scheme, { build: material.build });
      const state = { finalized: Number(file.finalizedBlock), stateRoot: hexToBytes(file.zkRoot, 32) };
      for (const { name, block, answer, header, expect } of file.cases) {
        await report.check(`${path} ${name}`, () => {
          const verdict = judged(() =>
            verifySettledHeader(hasher, { ...state, block: Number(block) }, answer, header?.json),
          );
          const wanted = 'hash' in expect ? expect : { refused: expect.refused };
          if (!verdict.verified) {
            const refused = OWN_REASONS.includes(verdict.reason) ? verdict.reason : 'PROOF';
            return differs(wanted, { refused });
          }
          const { hash, header: found } = verdict;
          return differs(wanted, { hash: bytesToHex(hash), stateRoot: bytesToHex(found.stateRoot) });
        });
      }
    }
    for (const path of material.list(FOLDER, /^recorded-headers.*\.json$/))
      await checkWrites(path, material.json(path), report);
  },
};

/** A malformed proof counts as a refused one. */
function judged(verify: () => ReturnType<typeof verifySettledHeader>) {
  try {
    return verify();
  } catch (error) {
    if (isPlumblineError(error, 'PROOF_MALFORMED')) return { verified: false, reason: 'PROOF' } as const;
    throw error;
  }
}

/** The slots that recorded blocks wrote into the history contract. */
async function checkWrites(path: string, { headers }: RecordedHeaders, report: Report): Promise<void> {
  const byNumber = new Map(headers.map((header) => [Number(header.number), header]));
  for (const { number, hash, rlp, writes } of headers) {
    await report.check(`${path} ${number}`, () => {
      const block = Number(number);
      const slot = bytesToHex(historySlot(block - 1, block) ?? new Uint8Array(0));
      const parent = byNumber.get(block - 1);
      return (
        differs(hash, bytesToHex(keccak_256(hexToBytes(rlp)))) ??
        differs(writes, { slot, value: parent?.hash ?? writes.value })
      );
    });
  }
}
