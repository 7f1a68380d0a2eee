import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { parseExtraData } from '../src/fees/prices.js';
import { NETWORKS } from '../src/networks/networks.js';
import { bytesToHex, type Hex } from '../src/primitives/hex.js';
import {
  readHeader,
  type VerifiedHeader,
  verifyHeader,
  verifyHeaderLink,
  verifyHeaderRules,
} from '../src/proof/headers.js';
import { cliqueSealDigest, verifyCliqueSeal } from '../src/proof/seals.js';
import { recordedNetwork } from '../test/support/proof-fixtures.js';
import { type Area, differs, type Report } from './area.js';
import { maruArea } from './maru.js';

const PATH = 'headers/headers.json';

type HeaderJson = Record<string, Hex>;

interface RecordedHeader {
  hash: Hex;
  confirmedByNextHeader: boolean;
  pricing: { fixedCostWei: string; variableCostWei: string; ethGasPriceWei: string } | null;
  /** Of blocks that Clique sealed. */
  cliqueSealDigest?: Hex;
  cliqueSigner?: Hex;
  header: HeaderJson;
}

interface HeadersFile {
  /** `signers`: who sealed, instead of the network's own. */
  chains: { network: string; hardfork: string; signers?: Hex[]; headers: RecordedHeader[] }[];
  rejected: { name: string; hash?: Hex; expectSignerNot?: Hex; header: HeaderJson }[];
}

/** A header as the answer of a node that claims this hash. */
function asAnswer(header: HeaderJson, hash: Hex) {
  return { ...header, hash };
}

/** The header of an answer that has to hold. @throws Error when it does not */
function requireHeader(answer: unknown): VerifiedHeader {
  const verdict = verifyHeader(answer);
  if (!verdict.verified) throw new Error(`${verdict.reason} ${verdict.at}`);
  return verdict;
}

/** Chains of headers: hash, links, rules of their fork, prices, Clique digest and signer; and changed ones refused. */
const headersArea: Area = {
  name: 'headers/headers',
  usesKernel: false,
  files: (material) => material.both(PATH),
  async run(material, report) {
    for (const path of this.files(material)) await checkFile(material.json(path), report);
  },
};

async function checkFile(file: HeadersFile, report: Report): Promise<void> {
  await loadSignerRecovery();
  for (const { network: name, signers, headers } of file.chains) {
    const network = recordedNetwork(name);
    const sealing = network.sealing!.clique!;
    let before: VerifiedHeader | undefined;
    for (const { hash, header: json, pricing, ...clique } of headers) {
      const label = `${name} ${Number(json.number)}`;
      const block = requireHeader(asAnswer(json, hash));
      const parent = before;
      before = block;
      await report.check(`${label}, hash`, () => differs(hash, bytesToHex(block.hash)));
      await report.check(`${label}, rules of its fork`, () =>
        differs({ verified: true }, verifyHeaderRules(network, block.header)),
      );
      if (parent !== undefined) {
        await report.check(`${label}, link`, () => differs({ verified: true }, verifyHeaderLink(parent, block)));
      }
      await report.check(`${label}, prices`, () => differs(pricing, pricesOf(block.header.extraData)));
      if (clique.cliqueSigner === undefined) continue;
      await report.check(`${label}, Clique digest`, () =>
        differs(clique.cliqueSealDigest, bytesToHex(cliqueSealDigest(block.header))),
      );
      await report.check(`${label}, Clique signer`, () => {
        const verdict = verifyCliqueSeal({ ...sealing, signers: signers ?? sealing.signers }, block.header);
        return differs(clique.cliqueSigner, verdict.verified ? bytesToHex(verdict.signer) : verdict);
      });
    }
  }
  for (const { name, hash, expectSignerNot, header: json } of file.rejected) {
    await report.check(`refused: ${name}`, () => {
      if (hash !== undefined) {
        const verdict = verifyHeader(asAnswer(json, hash));
        return differs('HASH_MISMATCH', verdict.verified ? 'verified' : verdict.reason);
      }
      const sealing = { ...NETWORKS.linea.sealing!.clique!, signers: [expectSignerNot!] };
      const verdict = verifyCliqueSeal(sealing, readHeader(json));
      return differs('SEAL_BY_STRANGER', verdict.verified ? 'verified' : verdict.reason);
    });
  }
}

function pricesOf(extraData: Uint8Array) {
  const reading = parseExtraData(extraData);
  if (reading.status !== 'prices') return null;
  const { fixedCostWei, variableCostWei, minGasPriceWei } = reading.prices;
  const [fixed, variable, price] = [fixedCostWei, variableCostWei, minGasPriceWei].map(String);
  return { fixedCostWei: fixed, variableCostWei: variable, ethGasPriceWei: price };
}

export const HEADER_AREAS: readonly Area[] = [headersArea, maruArea];
