import { beaconBlockHeader, objectFrom } from '../src/consensus/containers.js';
import { timeOfSlot } from '../src/consensus/slots.js';
import { isPlumblineError } from '../src/errors.js';
import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { parseSignedTransaction } from '../src/ethereum/transaction.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { keccak256 } from '../src/kernel/keccak.js';
import { publicBeaconNetwork } from '../src/networks/beacon-networks.js';
import { bigIntToBytes } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { verifyBlockBody } from '../src/proof/contents.js';
import { verifyEthereumProof } from '../src/proof/ethereum-proof.js';
import { verifyHeader } from '../src/proof/headers.js';
import { verifyLineaProof } from '../src/proof/linea-proof.js';
import { verifyConsensusUpdate } from '../src/verify.js';
import { HEADER, LATER_HEADER } from '../test/support/consensus-lies/places.js';
import { type Area, differs, type Report } from './area.js';

/*
 * What was recorded on Ethereum and Linea mainnet is accepted as it is, and refused with a change of one byte. Hashes, roots
 * and signatures of those networks are the expected values.
 */

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
/** A place in JSON: names and indexes from the top down. */
type Path = readonly (string | number)[];

const MAINNET = 1;
const HEX = /^0x(?:[0-9a-f]{2})+$/i;
const QUANTITY = /^0x[0-9a-f]+$/i;
const DECIMAL = /^\d+$/;

/** Places of texts that hold bytes or numbers, below `path`. */
function places(json: Json, isCovered: (path: Path) => boolean, path: Path = []): Path[] {
  if (typeof json === 'string')
    return (QUANTITY.test(json) || DECIMAL.test(json)) && json.length > 0 && isCovered(path) ? [path] : [];
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([name, member]) => places(member, isCovered, [...path, name]));
}

/** A copy with one byte changed at a place: bit `bit` of hex, or a number that is one higher. */
function changed<T>(json: T, path: Path, bit: number): T {
  const copy = structuredClone(json) as Json;
  const [last, ...rest] = [...path].reverse();
  let at = copy as Record<string | number, Json>;
  for (const name of rest.reverse()) at = at[name] as Record<string | number, Json>;
  const text = at[last!] as string;
  if (DECIMAL.test(text)) at[last!] = String(BigInt(text) + 1n);
  else if (!HEX.test(text)) at[last!] = `0x${(BigInt(text) + 1n).toString(16)}`;
  else {
    const bytes = hexToBytes(text);
    const place = bit % (8 * bytes.length);
    bytes[place >> 3]! ^= 1 << (place & 7);
    at[last!] = QUANTITY_NAMES.has(String(last)) ? quantityOf(bytes) : bytesToHex(bytes);
  }
  return copy as T;
}

/** Members whose values are quantities, also where they have an even number of digits. */
const QUANTITY_NAMES = new Set([
  ...['number', 'gasLimit', 'gasUsed', 'timestamp', 'difficulty', 'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'],
  ...['value', 'gas', 'r', 's', 'index', 'validatorIndex', 'amount', 'balance'],
]);

function quantityOf(bytes: Uint8Array): Hex {
  const digits = bytesToHex(bytes).slice(2).replace(/^0+/, '');
  return `0x${digits === '' ? '0' : digits}`;
}

/**
 * Checks that changed copies are refused, each at another place.
 *
 * @param most - places to change; some of many, spread over all
 * @param judge - what is said of a copy: `verified`, or a reason. An error of a plumbline type is a reason too
 */
async function checkChanges<T>(
  report: Report,
  name: string,
  json: T,
  { most, isCovered = () => true }: { readonly most: number; readonly isCovered?: (path: Path) => boolean },
  judge: (copy: T) => Promise<string> | string,
): Promise<void> {
  const all = places(json as Json, isCovered);
  const step = Math.max(1, all.length / most);
  for (let i = 0; i < Math.min(most, all.length); i++) {
    const path = all[Math.floor(i * step)]!;
    await report.check(`${name} with another ${path.join('.')}`, async () => {
      const copy = changed(json, path, 37 * i + 5);
      const verdict = await Promise.resolve()
        .then(() => judge(copy))
        .catch((error: unknown) => {
          if (isPlumblineError(error)) return error.code;
          throw error;
        });
      return verdict === 'verified' ? 'was accepted' : undefined;
    });
  }
}

const HEADER_MEMBERS = [...HEADER, ...LATER_HEADER, 'hash'];
const BODY_MEMBERS = ['input', 'nonce', 'value', 'gas', 'r', 's', 'to', 'validatorIndex', 'address', 'amount', 'index'];

type BlockJson = Record<string, Json> & { hash: Hex; transactions: { hash: Hex; from: Hex }[]; uncles: Hex[] };

async function checkBlock(name: string, block: BlockJson, report: Report): Promise<void> {
  const verdict = verifyHeader(block, { hash: hexToBytes(block.hash, 32) });
  await report.check(`${name}: hash of the header`, () => differs(true, verdict.verified));
  if (!verdict.verified) return;
  const isHeader = (path: Path) => path.length === 1 && HEADER_MEMBERS.includes(String(path[0]));
  await checkChanges(report, name, block, { most: 24, isCovered: isHeader }, (copy) => {
    const judged = verifyHeader(copy, { hash: hexToBytes(block.hash, 32) });
    return judged.verified ? 'verified' : judged.reason;
  });
  const body = verifyBlockBody(verdict, block);
  // The answer has the hashes of uncles alone, so that such a body cannot be verified.
  if (block.uncles.length > 0) {
    await report.check(`${name}: body with uncles`, () => differs('UNCLES_MISMATCH', body.verified ? '' : body.reason));
    return;
  }
  await report.check(`${name}: body`, () => differs('verified', body.verified ? 'verified' : body.reason));
  if (!body.verified) return;
  await report.check(`${name}: hashes and senders of ${block.transactions.length} transactions`, () => {
    const made = body.transactions.map(({ raw, hash }) => ({
      hash: bytesToHex(hash),
      from: bytesToHex(parseSignedTransaction(raw, MAINNET, { blobs: true, frontier: true }).from),
    }));
    return differs(
      block.transactions.map(({ hash, from }) => ({ hash, from: from.toLowerCase() })),
      made,
    );
  });
  const isBody = (path: Path) =>
    ['transactions', 'withdrawals'].includes(String(path[0])) &&
    path.length === 3 &&
    BODY_MEMBERS.includes(String(path[2]));
  await checkChanges(report, name, block, { most: 16, isCovered: isBody }, (copy) => {
    const judged = verifyBlockBody(verdict, copy);
    return judged.verified ? 'verified' : judged.reason;
  });
}

interface ProofJson {
  readonly address: Hex;
  readonly codeHash: Hex;
  readonly storageProof: readonly { readonly key: Hex; readonly value: Hex }[];
}

/** Blocks of Ethereum mainnet from Frontier to Fulu, a proof under the state root of one, and code. */
const layerOneArea: Area = {
  name: 'layer-one',
  usesKernel: false,
  isOutside: true,
  files: (material) => material.list('layer-one', /\.json$/).concat(material.list('layer-one/blocks', /\.json$/)),
  async run(material, report) {
    await loadSignerRecovery();
    for (const path of material.list('layer-one/blocks', /\.json$/))
      await checkBlock(path, material.json<BlockJson>(path), report);
    if (!material.has('layer-one/storage_proof.json')) return;
    const block = material.json<BlockJson>('layer-one/proof_block.json');
    await report.check('layer-one/proof_block.json', () =>
      differs(true, verifyHeader(block, { hash: hexToBytes(block.hash, 32) }).verified),
    );
    const proof = material.json<ProofJson>('layer-one/storage_proof.json');
    const request = {
      address: hexToBytes(proof.address, 20),
      storageKeys: proof.storageProof.map(({ key }) => bigIntToBytes(BigInt(key), 32)),
      stateRoot: hexToBytes(block.stateRoot as Hex, 32),
    };
    const judge = (answer: ProofJson) => {
      const verdict = verifyEthereumProof(request, answer);
      return verdict.verified ? 'verified' : verdict.reason;
    };
    await report.check('layer-one/storage_proof.json', () => differs('verified', judge(proof)));
    await checkChanges(report, 'layer-one/storage_proof.json', proof, { most: 40 }, judge);
    const code = material.json<Hex>('layer-one/code.json');
    await report.check('layer-one/code.json', () => differs(proof.codeHash, bytesToHex(keccak256(hexToBytes(code)))));
    await report.check('layer-one/code.json with another byte', () => {
      const other = bytesToHex(keccak256(hexToBytes(changed({ code }, ['code'], 77).code)));
      return other === proof.codeHash ? 'was accepted' : undefined;
    });
  },
};

interface VersionedJson {
  readonly version: string;
  readonly data: Record<string, Json>;
}

const FULU = 'consensus/fulu-2026';

/** Light-client objects of Ethereum mainnet under Fulu, and the execution block that they prove. */
const fuluArea: Area = {
  name: 'consensus/fulu-2026',
  usesKernel: false,
  isOutside: true,
  files: (material) => material.list(FULU, /\.json$/),
  async run(material, report) {
    const network = publicBeaconNetwork(MAINNET)!;
    const objects = {
      bootstrap: material.json<VersionedJson>(`${FULU}/lc_bootstrap.json`),
      updates: material.json<VersionedJson[]>(`${FULU}/lc_updates.json`),
      finality_update: material.json<VersionedJson>(`${FULU}/lc_finality.json`),
      optimistic_update: material.json<VersionedJson>(`${FULU}/lc_optimistic.json`),
    };
    const { beacon } = objectFrom(network, 'bootstrap', objects.bootstrap).data.header;
    const root = beaconBlockHeader.hashTreeRoot(beacon);
    const signatureSlot = Number(objects.finality_update.data.signature_slot);
    const verify = (
      given: Partial<typeof objects>,
      kinds: readonly ('updates' | 'finality_update' | 'optimistic_update')[],
    ) => {
      const all = { ...objects, ...given };
      return verifyConsensusUpdate({
        network: MAINNET,
        from: { root, bootstrap: all.bootstrap },
        answers: kinds.map((kind) => ({ kind, answer: all[kind] })),
        now: timeOfSlot(network, signatureSlot) * 1000,
        maxAgeMs: Number.MAX_SAFE_INTEGER,
      });
    };
    await report.check('the final block is that of layer-one', async () => {
      const verdict = await verify({}, ['updates', 'finality_update', 'optimistic_update']);
      if (!verdict.verified) return `refused: ${verdict.reason} at ${verdict.at}, ${verdict.message}`;
      const { number, hash, stateRoot } = material.json<BlockJson>('layer-one/blocks/block_0x17a2d23.json');
      const { finalized } = verdict;
      return differs(
        [Number(number), hash, stateRoot],
        [finalized.number, bytesToHex(finalized.blockHash), bytesToHex(finalized.stateRoot!)],
      );
    });
    const judged = async (given: Partial<typeof objects>, kinds: Parameters<typeof verify>[1]) => {
      const verdict = await verify(given, kinds);
      return verdict.verified ? 'verified' : verdict.reason;
    };
    const { bootstrap, updates, finality_update, optimistic_update } = objects;
    // The slot of a signature is in no hash: it says only which committee and fork signed.
    const isData = (path: Path) => path.includes('data') && !path.includes('signature_slot');
    await checkChanges(report, 'bootstrap', bootstrap, { most: 40, isCovered: isData }, (copy) =>
      judged({ bootstrap: copy }, []),
    );
    await checkChanges(report, 'updates', updates, { most: 40, isCovered: isData }, (copy) =>
      judged({ updates: copy }, ['updates']),
    );
    await checkChanges(report, 'finality_update', finality_update, { most: 60, isCovered: isData }, (copy) =>
      judged({ finality_update: copy }, ['finality_update']),
    );
    await checkChanges(report, 'optimistic_update', optimistic_update, { most: 40, isCovered: isData }, (copy) =>
      judged({ optimistic_update: copy }, ['optimistic_update']),
    );
  },
};

interface GetProofFile {
  readonly stateRoot: Hex;
  readonly tests: Readonly<Record<string, { accountProof: { key: Hex }; storageProofs: { key: Hex }[] }>>;
}

const GETPROOF = 'state/getproof-2025';

/** Answers of `linea_getProof` of Linea mainnet in 2025, under the root that its rollup contract holds. */
const getProofArea: Area = {
  name: 'state/getproof-2025',
  usesKernel: true,
  isOutside: true,
  files: (material) => material.list(GETPROOF, /\.json$/),
  async run(material, report) {
    const hasher = await loadHasher('mimc', { build: material.build });
    for (const path of material.list(GETPROOF, /\.json$/)) {
      const { stateRoot, tests } = material.json<GetProofFile>(path);
      for (const [name, answer] of Object.entries(tests)) {
        const request = {
          address: hexToBytes(answer.accountProof.key, 20),
          storageKeys: answer.storageProofs.map(({ key }) => hexToBytes(key, 32)),
          stateRoot: hexToBytes(stateRoot, 32),
        };
        const judge = (given: typeof answer) => {
          const verdict = verifyLineaProof(hasher, request, given);
          return verdict.verified ? 'verified' : verdict.reason;
        };
        await report.check(`${path} ${name}`, () => differs('verified', judge(answer)));
        await checkChanges(report, `${path} ${name}`, answer, { most: 40 }, judge);
      }
    }
  },
};

export const RECORDED_AREAS: readonly Area[] = [layerOneArea, fuluArea, getProofArea];
