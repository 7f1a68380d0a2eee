import { hashWord } from '../src/accumulator/keys.js';
import { isPlumblineError } from '../src/errors.js';
import type { Hasher, HashScheme } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { bytesToBigInt } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { verifyL1Anchor } from '../src/proof/l1-anchor.js';
import {
  type LineaProofVerdict,
  type VerifiedLineaProof,
  verifyLineaProof,
  verifyTreeItem,
} from '../src/proof/linea-proof.js';
import { type Area, differs, type Material, type Report } from './area.js';

const FOLDER = 'state/getproof';
const ANSWER = /^(?!shomei-|item-|l1-anchor).*\.json$/;
const ITEM = /^(shomei|item)-.*\.json$/;
const ANCHOR = /^l1-anchor-.*\.json$/;
const FORGED = /^adversarial-.*\.json$/;

interface AnswerFile {
  scheme: HashScheme;
  address: string;
  storageKeys: string[];
  stateRoot: string;
  result: unknown;
  /** In recorded answers what they decode to, in forged ones whether to accept. */
  expect: Record<string, unknown> | 'accept' | 'reject';
}

interface ItemFile {
  scheme: HashScheme;
  topRoot: string;
  item: { key: string; proof?: { value: string } };
}

interface SlotFile {
  key: string;
  value: string;
  proof: string[];
}

interface AnchorFile {
  rollupContract: Hex;
  l1StateRoot: string;
  storageHash: string;
  accountProof: string[];
  storage: Record<string, SlotFile>;
  slots: { currentL2BlockNumber: string; stateRootHashes: string };
}

type Hashers = Record<HashScheme, Hasher>;

async function openHashers({ build }: Material): Promise<Hashers> {
  return { mimc: await loadHasher('mimc', { build }), poseidon2: await loadHasher('poseidon2', { build }) };
}

function verify(hashers: Hashers, file: AnswerFile): LineaProofVerdict {
  const request = {
    address: hexToBytes(file.address),
    storageKeys: file.storageKeys.map((key) => hexToBytes(key)),
    stateRoot: hexToBytes(file.stateRoot),
  };
  return verifyLineaProof(hashers[file.scheme], request, file.result);
}

/** What a proof shows, under the names the files use. */
function decoded({ account, place, slots, nextFreeNode }: VerifiedLineaProof): Record<string, unknown> {
  const quantity = (value: bigint) => `0x${value.toString(16)}`;
  return {
    exists: place.exists,
    ...(place.exists ? { leafIndex: place.leafIndex } : { left: place.leftLeafIndex, right: place.rightLeafIndex }),
    ...(account !== undefined && {
      nonce: quantity(account.nonce),
      balance: quantity(account.balance),
      storageRoot: bytesToHex(account.storageRoot),
      zkCodeHash: bytesToHex(account.zkCodeHash),
      codeHash: bytesToHex(account.keccakCodeHash),
      codeSize: quantity(account.codeSize),
    }),
    storage: slots.map(({ value }) => bytesToHex(value)),
    nextFreeNode,
  };
}

/** A text unless the answer is accepted and shows every field that `expected` has. */
function shows(verdict: LineaProofVerdict, expected: Record<string, unknown>): string | undefined {
  if (!verdict.verified) return `refused: ${verdict.reason} at ${verdict.at}, ${verdict.message}`;
  const shown = decoded(verdict);
  return differs(expected, Object.fromEntries(Object.keys(expected).map((name) => [name, shown[name]])));
}

/** Shomei's items take their 32-byte key and value as they are; slots hash them as words. */
function checkItem(hasher: Hasher, root: string, item: ItemFile['item'], hash: (word: Uint8Array) => Uint8Array) {
  const key = hexToBytes(item.key, 32);
  const asked = { key: bytesToBigInt(key), hkey: hash(key), hashValue: hash, valueBytes: 32, zeroIsAbsent: true };
  const verdict = verifyTreeItem(hasher, hexToBytes(root, 32), asked, item);
  if (!verdict.verified) return `refused: ${verdict.reason} at ${verdict.at}, ${verdict.message}`;
  return differs(item.proof?.value, verdict.value && bytesToHex(verdict.value));
}

/**
 * The anchor leads to the root that the recorded answers of its block were verified against. The file holds slots by
 * name; `stateRootHashes[n]` names the block.
 */
function checkAnchor(material: Material, path: string): string | undefined {
  const file = material.json<AnchorFile>(path);
  const name = Object.keys(file.storage).find((slot) => slot.startsWith('stateRootHashes['));
  if (name === undefined) return 'the file holds no stateRootHashes slot';
  const l2BlockNumber = Number(name.slice('stateRootHashes['.length, -1));
  const rollup = {
    address: file.rollupContract,
    currentBlockSlot: BigInt(file.slots.currentL2BlockNumber),
    stateRootsSlot: BigInt(file.slots.stateRootHashes.split(' ')[0]!),
  };
  const answer = {
    accountProof: file.accountProof,
    storageHash: file.storageHash,
    storageProof: [file.storage.currentL2BlockNumber, file.storage[name]],
  };
  const verdict = verifyL1Anchor({ l1StateRoot: hexToBytes(file.l1StateRoot, 32), rollup, l2BlockNumber }, answer);
  if (!verdict.verified) return `refused: ${verdict.reason} at ${verdict.at}, ${verdict.message}`;
  for (const other of material.list(FOLDER, ANSWER)) {
    const { l2Block, stateRoot } = material.json<{ l2Block?: number; stateRoot: string }>(other);
    if (l2Block !== l2BlockNumber) continue;
    const difference = differs(stateRoot, bytesToHex(verdict.stateRoot!));
    if (difference !== undefined) return difference;
  }
  return differs(BigInt(file.storage[name]!.value), bytesToBigInt(verdict.stateRoot!));
}

/** Recorded answers, single items and layer-1 anchors: all accepted, and they show what the files say. */
const recordedArea: Area = {
  name: 'state/getproof',
  usesKernel: true,
  files: (material) => [ANSWER, ITEM, ANCHOR].flatMap((pattern) => material.list(FOLDER, pattern)),
  async run(material, report) {
    const hashers = await openHashers(material);
    for (const path of material.list(FOLDER, ANSWER)) {
      const file = material.json<AnswerFile>(path);
      await report.check(path, () => shows(verify(hashers, file), file.expect as Record<string, unknown>));
    }
    for (const path of material.list(FOLDER, ITEM)) {
      const { scheme, topRoot, item } = material.json<ItemFile>(path);
      const hasher = hashers[scheme];
      await report.check(path, () => checkItem(hasher, topRoot, item, (bytes) => hasher.hash(bytes)));
    }
    for (const path of material.list(FOLDER, ANCHOR)) await report.check(path, () => checkAnchor(material, path));
  },
};

/** Forged answers are refused, by a verdict or as malformed; any other error is a failure. Controls are accepted. */
const forgedArea: Area = {
  name: 'state/adversarial',
  usesKernel: true,
  files: (material) => material.list('state', FORGED),
  async run(material, report) {
    const hashers = await openHashers(material);
    for (const path of material.list('state', FORGED)) {
      for (const file of material.json<{ cases: (AnswerFile & { name: string })[] }>(path).cases) {
        await report.check(`${path} ${file.name}`, () => differs(file.expect, judged(hashers, file)));
      }
    }
  },
};

function judged(hashers: Hashers, file: AnswerFile): 'accept' | 'reject' {
  try {
    return verify(hashers, file).verified ? 'accept' : 'reject';
  } catch (error) {
    if (isPlumblineError(error, 'PROOF_MALFORMED')) return 'reject';
    throw error;
  }
}

/** Generated answers (after whole blocks) and items (of storage trees): more shapes than were recorded. */
const generatedArea: Area = {
  name: 'state/generated proofs',
  usesKernel: true,
  files: (material) => material.list('state', /^generated-(blocks|ops)-(mimc|poseidon2)\.json$/),
  async run(material, report) {
    const hashers = await openHashers(material);
    for (const scheme of ['mimc', 'poseidon2'] as const) {
      await checkQueries(material, report, hashers, scheme);
      await checkItems(material, report, hashers[scheme]);
    }
  },
};

async function checkQueries(material: Material, report: Report, hashers: Hashers, scheme: HashScheme): Promise<void> {
  const path = `state/generated-blocks-${scheme}.json`;
  if (!material.has(path)) return;
  const { chains } = material.json<{ chains: { seed: number; queries: AnswerFile[] }[] }>(path);
  for (const { seed, queries } of chains) {
    for (const [i, query] of queries.entries()) {
      const expected = query.expect as Record<string, unknown>;
      await report.check(`${path} chain ${seed} query ${i}`, () =>
        shows(verify(hashers, { ...query, scheme }), expected),
      );
    }
  }
}

async function checkItems(material: Material, report: Report, hasher: Hasher): Promise<void> {
  const path = `state/generated-ops-${hasher.scheme}.json`;
  if (!material.has(path)) return;
  interface Sequence {
    seed: number;
    steps: { topRoot: string }[];
    proofs: ItemFile['item'][];
  }
  for (const { seed, steps, proofs } of material.json<{ sequences: Sequence[] }>(path).sequences) {
    for (const [i, item] of proofs.entries()) {
      await report.check(`${path} sequence ${seed} proof ${i}`, () =>
        checkItem(hasher, steps.at(-1)!.topRoot, item, (bytes) => hashWord(hasher, bytes)),
      );
    }
  }
}

export const PROOF_AREAS: readonly Area[] = [recordedArea, forgedArea, generatedArea];
