import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { verifyHeader } from '../src/proof/headers.js';
import {
  type MaruVerdict,
  maruBodyRoot,
  maruHeaderHash,
  maruQuorum,
  maruStateRoot,
  recoverSigner,
  verifyMaruAnswers,
  verifyMaruPayload,
} from '../src/proof/seals.js';
import { type Area, differs, type Report } from './area.js';

const PATH = 'headers/maru-sealed-blocks.json';

/** A sealed block as the fixtures write it: integers are decimal strings. */
export interface MaruBlockJson {
  header: Record<'number' | 'round' | 'timestamp' | 'proposer' | 'parentRoot' | 'stateRoot' | 'bodyRoot', string>;
  prevCommitSeals: Hex[];
  executionPayload: Record<string, string | Hex[]>;
  commitSeals: Hex[];
}

export interface MaruFile {
  valid: {
    name: string;
    validators: Hex[];
    block: MaruBlockJson;
    executionHeader: Record<string, Hex>;
    expected: {
      bodyRoot: Hex;
      stateRoot: Hex;
      headerHash: Hex;
      quorum: number;
      signers: Hex[];
      executionBlockHash: Hex;
    };
    rest: Record<string, unknown>;
  }[];
  invalid: { name: string; validators: Hex[]; block: MaruBlockJson; reason: string }[];
}

/** What the reasons of the fixtures are among ours. */
const REASONS: Record<string, string> = {
  quorum: 'QUORUM_SHORT',
  'body root': 'BODY_ROOT_MISMATCH',
  'state root': 'STATE_ROOT_MISMATCH',
  'seal by a stranger': 'SEAL_BY_STRANGER',
};

const snake = (name: string) => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);

/** The two answers of Maru's REST interface for a block, in the members that count. */
export function restAnswers({ header, prevCommitSeals, executionPayload, commitSeals }: MaruBlockJson) {
  const outer = {
    slot: header.number,
    proposer_index: header.proposer,
    parent_root: header.parentRoot,
    state_root: header.stateRoot,
  };
  const attestation = (slot: bigint) => (signature: Hex) => ({ data: { slot: slot.toString() }, signature });
  const slot = BigInt(header.number);
  const body = {
    attestations: [...commitSeals.map(attestation(slot)), ...prevCommitSeals.map(attestation(slot - 1n))],
    execution_payload: Object.fromEntries(Object.entries(executionPayload).map(([name, v]) => [snake(name), v])),
  };
  const { round, timestamp, bodyRoot } = header;
  return {
    block: { data: { message: { ...outer, body } } },
    header: { data: { message: { ...outer, body_root: bodyRoot, round, timestamp } } },
  };
}

function verdictOf(block: MaruBlockJson, validators: readonly Hex[]): MaruVerdict {
  const rest = restAnswers(block);
  return verifyMaruAnswers(rest.block, rest.header, addresses(validators));
}

const addresses = (list: readonly Hex[]) => list.map((address) => hexToBytes(address, 20));

/** Sealed beacon blocks: roots, header hash, signers and quorum, the execution header they bind; damaged ones refused. */
export const maruArea: Area = {
  name: 'headers/maru-sealed-blocks',
  usesKernel: false,
  files: (material) => material.both(PATH),
  async run(material, report) {
    for (const path of this.files(material)) await checkFile(material.json(path), report);
  },
};

async function checkFile(file: MaruFile, report: Report): Promise<void> {
  await loadSignerRecovery();
  for (const { name, validators, block, executionHeader, expected, rest } of file.valid) {
    const set = addresses(validators);
    const answerOf = (kind: string) => rest[Object.keys(rest).find((path) => path.includes(`/${kind}/`))!];
    const verdict = verifyMaruAnswers(answerOf('blocks'), answerOf('headers'), set);
    await report.check(`${name}, accepted`, () => differs(true, verdict.verified || verdict));
    if (!verdict.verified) continue;
    const sealed = verdict.block;
    await report.check(`${name}, intermediate hashes`, () =>
      differs(
        [expected.bodyRoot, expected.stateRoot, expected.headerHash],
        [maruBodyRoot(sealed), maruStateRoot(sealed.header, set), maruHeaderHash(sealed.header)].map(bytesToHex),
      ),
    );
    await report.check(`${name}, hash of the verdict`, () => differs(expected.headerHash, bytesToHex(verdict.hash)));
    await report.check(`${name}, signers`, () =>
      differs([...expected.signers].sort(), verdict.signers.map(bytesToHex).sort()),
    );
    await report.check(`${name}, quorum`, () =>
      differs([expected.quorum, expected.quorum], [verdict.quorum, maruQuorum(set.length)]),
    );
    await report.check(`${name}, execution header bound`, () => {
      const execution = verifyHeader({ ...executionHeader, hash: expected.executionBlockHash });
      return differs(true, execution.verified ? verifyMaruPayload(sealed.payload, execution).verified : execution);
    });
    await report.check(`${name}, the parent's seals`, () => {
      const { parentRoot } = sealed.header;
      const signers = new Set(sealed.parentSeals.map((seal) => bytesToHex(recoverSigner(parentRoot, seal)!)));
      const members = set.map(bytesToHex).filter((member) => signers.has(member));
      return differs([true, signers.size], [members.length >= maruQuorum(set.length), members.length]);
    });
    await report.check(`${name}, the plain form gives the same`, () =>
      differs(show(verdict), show(verdictOf(block, validators))),
    );
  }
  for (const { name, validators, block, reason } of file.invalid) {
    await report.check(`refused: ${name}`, () => {
      const verdict = verdictOf(block, validators);
      return differs(REASONS[reason], verdict.verified ? 'verified' : verdict.reason);
    });
  }
}

/** A verdict as text that can be compared: bytes as lists of numbers would be long. */
function show(verdict: MaruVerdict): string {
  return JSON.stringify(verdict, (_, value) => {
    if (value instanceof Uint8Array) return bytesToHex(value);
    return typeof value === 'bigint' ? value.toString() : value;
  });
}
