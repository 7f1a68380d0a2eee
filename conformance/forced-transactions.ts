import { isPlumblineError } from '../src/errors.js';
import { encodeTransaction } from '../src/ethereum/encode-transaction.js';
import type { Hasher } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { keccak256 } from '../src/kernel/keccak.js';
import { bigIntToBytes, concatBytes } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import {
  finalizedStateHash,
  forcedRollingHash,
  forcedTransactionCalldata,
  forcedTransactionDeadline,
  forcedTransactionRefusal,
  forcedTransactionSlots,
  type LastFinalizedState,
  readForcedTransaction,
} from '../src/proof/forced-transactions.js';
import { differs, type Material, type Report } from './area.js';

export const FORCED = 'messages/forced-transactions.json';

/** The rolling hash before the first one. */
export const NONE: Hex = `0x${'00'.repeat(32)}`;
const FORCED_TRANSACTION_ADDED = '0x8fbc8fbd65675eb32c567d4a559963c7d002c2be67b5b266fb13d85b4375fce5';
const FINALIZED_STATE_UPDATED = '0x32e016ccc5c33419c35caa94023fdeb75143da613fb2ac738ab736404c09fc5d';

interface StateJson {
  timestamp: string;
  messageNumber: string;
  messageRollingHash: Hex;
  forcedTransactionNumber: string;
  forcedTransactionRollingHash: Hex;
}

interface TransactionJson {
  nonce: string;
  maxPriorityFeePerGas: string;
  maxFeePerGas: string;
  gasLimit: string;
  to: Hex;
  value: string;
  input: Hex;
  accessList: { address: Hex; storageKeys: Hex[] }[];
  yParity: number;
  r: Hex;
  s: Hex;
}

interface LogJson {
  topics: Hex[];
  data?: Hex;
  dataHash?: Hex;
}

interface Verdict {
  accepted: boolean;
  error?: string;
  args?: string[];
}

interface ForcedJson {
  number: number;
  kind: string;
  gateway: number;
  transaction: TransactionJson;
  unsignedHash: Hex;
  signedTransaction: Hex;
  signer: Hex;
  lastFinalizedState: StateJson;
  currentFinalizedState: Hex;
  finalizedBlock: number;
  timestamp: number;
  /** Of layer 1. */
  block: number;
  deadline: string;
  rollingHash: Hex;
  slots: { deadline: Hex; rollingHash: Hex; nextNumber: number };
  calldata?: Hex;
  log: LogJson;
}

export interface ForcedFile {
  parameters: {
    fee: string;
    filtered: Hex[];
    gateways: {
      chainId: number;
      l2BlockBuffer: number;
      maxGasLimit: number;
      maxInputLength: number;
      l2BlockDurationSeconds: number;
      blockNumberDeadlineBuffer: number;
      useAddressFilter: boolean;
    }[];
  };
  forced: ForcedJson[];
  calls: {
    what: string;
    gateway: number;
    transaction: TransactionJson;
    lastFinalizedState: StateJson;
    value: string;
    currentFinalizedState: Hex;
    /** Status of another call in the same block. */
    first?: Hex;
    verdict: Verdict;
  }[];
  finalizationCalls: { what: string; changed: Record<string, string | string[]>; verdict: Verdict }[];
  finalizedStates: (StateJson & { endBlock: number; layerOneBlock: number; hash: Hex; log: LogJson })[];
}

const word = (value: bigint | number): Uint8Array => bigIntToBytes(BigInt(value), 32);

export const stateOf = (json: StateJson): LastFinalizedState => ({
  timestamp: BigInt(json.timestamp),
  messageNumber: BigInt(json.messageNumber),
  messageRollingHash: hexToBytes(json.messageRollingHash),
  forcedTransactionNumber: BigInt(json.forcedTransactionNumber),
  forcedTransactionRollingHash: hexToBytes(json.forcedTransactionRollingHash),
});
/** Of the members that a state had before 8.0. */
function hashOfThree(json: StateJson): Hex {
  const { messageNumber, messageRollingHash, timestamp } = stateOf(json);
  return bytesToHex(keccak256(concatBytes(word(messageNumber), messageRollingHash, word(timestamp))));
}
const stateHash = (json: StateJson): Hex => bytesToHex(finalizedStateHash(stateOf(json)));

/** As it would be broadcast. A gateway gets the fields one by one, and puts its chain id in. */
function signed(tx: TransactionJson, chainId: number): Uint8Array {
  return encodeTransaction(
    {
      type: 2,
      chainId: BigInt(chainId),
      nonce: BigInt(tx.nonce),
      maxPriorityFeePerGas: BigInt(tx.maxPriorityFeePerGas),
      maxFeePerGas: BigInt(tx.maxFeePerGas),
      gasLimit: BigInt(tx.gasLimit),
      to: BigInt(tx.to) === 0n ? undefined : hexToBytes(tx.to),
      value: BigInt(tx.value),
      data: hexToBytes(tx.input),
      accessList: tx.accessList.map(({ address, storageKeys }) => ({
        address: hexToBytes(address),
        storageKeys: storageKeys.map((key) => hexToBytes(key)),
      })),
    },
    { v: BigInt(tx.yParity), r: BigInt(tx.r), s: BigInt(tx.s) },
  );
}

/** @param messageHash - the rolling hash after a message of layer 1, by its number */
export async function forcedTransactions(
  material: Material,
  report: Report,
  messageHash: ((number: number) => Hex) | undefined,
): Promise<void> {
  const file = material.json<ForcedFile>(FORCED);
  const deadlines = await submitted(file, await loadHasher('mimc', { build: material.build }), report);
  await calls(file, report);
  await finalizations(file, deadlines, messageHash, report);
}

/** Those that gateways took, each after the one before. Gives the deadlines by number. */
async function submitted({ parameters, forced }: ForcedFile, hasher: Hasher, report: Report): Promise<bigint[]> {
  const deadlines = [0n];
  let rolling: Uint8Array = new Uint8Array(32);
  for (const one of forced) {
    const { number, kind, lastFinalizedState, finalizedBlock, timestamp, slots, log } = one;
    const name = `forced transaction ${number}, ${kind}`;
    const gateway = parameters.gateways[one.gateway]!;
    const transaction = hexToBytes(one.signedTransaction);
    await report.check(`${name}: bytes`, () =>
      differs(one.signedTransaction, bytesToHex(signed(one.transaction, gateway.chainId))),
    );
    const read = await readForcedTransaction(transaction, gateway.chainId);
    await report.check(`${name}: hash and signer`, () =>
      differs([one.unsignedHash, one.signer], [bytesToHex(read.unsignedHash), bytesToHex(read.signer)]),
    );
    await report.check(`${name}: finalized state`, () =>
      differs(one.currentFinalizedState, stateHash(lastFinalizedState)),
    );
    const deadline = forcedTransactionDeadline(
      {
        blockSeconds: BigInt(gateway.l2BlockDurationSeconds),
        blockBuffer: BigInt(gateway.l2BlockBuffer),
        deadlineBuffer: BigInt(gateway.blockNumberDeadlineBuffer),
      },
      {
        finalizedBlock: BigInt(finalizedBlock),
        finalizedTimestamp: BigInt(lastFinalizedState.timestamp),
        previousDeadline: deadlines.at(-1)!,
      },
      BigInt(timestamp),
    );
    deadlines.push(deadline);
    await report.check(`${name}: deadline`, () => differs(one.deadline, `${deadline}`));
    rolling = forcedRollingHash(hasher, rolling, { ...read, deadline });
    const rollingHash = bytesToHex(rolling);
    await report.check(`${name}: rolling hash`, () => differs(one.rollingHash, rollingHash));
    await report.check(`${name}: slots`, () => {
      const entries = forcedTransactionSlots([BigInt(number)]).slice(3);
      return differs(
        [slots.deadline, slots.rollingHash],
        entries.map((slot) => bytesToHex(slot)),
      );
    });
    if (one.calldata === undefined)
      report.skip(`${name}: calldata`, 'the file leaves out what is large, and has no hash of it');
    else
      await report.check(`${name}: calldata`, () => {
        const call = { transaction, lastFinalizedState: stateOf(lastFinalizedState) };
        return differs(one.calldata, bytesToHex(forcedTransactionCalldata(call)));
      });
    await report.check(`${name}: no refusal`, () => {
      const call = { transaction, lastFinalizedState: stateOf(lastFinalizedState) };
      const limits = { maxGasLimit: BigInt(gateway.maxGasLimit), maxInputLength: gateway.maxInputLength };
      const finalizedState = hexToBytes(one.currentFinalizedState);
      const fee = BigInt(parameters.fee);
      const refusal = forcedTransactionRefusal(call, fee, limits, {
        finalizedState,
        fee,
        isTaken: false,
        isFiltered: false,
      });
      return differs(undefined, refusal);
    });
    await report.check(`${name}: log`, () => {
      const topics = [FORCED_TRANSACTION_ADDED, bytesToHex(word(number)), `0x${'00'.repeat(12)}${one.signer.slice(2)}`];
      const padded = concatBytes(transaction, new Uint8Array(-transaction.length & 31));
      const data = concatBytes(word(deadline), rolling, word(96), word(transaction.length), padded);
      // Of what is large the file has the hash.
      const shown = bytesToHex(log.data === undefined ? keccak256(data) : data);
      return differs([log.topics, log.data ?? log.dataHash], [topics, shown]);
    });
  }
  return deadlines;
}

/** The rule that refuses a signed transaction, if one does. */
async function readingRefused(transaction: Uint8Array, chainId: number): Promise<string | undefined> {
  try {
    await readForcedTransaction(transaction, chainId);
    return undefined;
  } catch (error) {
    if (isPlumblineError(error, 'TRANSACTION_REJECTED')) return error.details.rule;
    throw error;
  }
}

/** Calls that gateways judged, with the arguments of their error where those are hashes of a state. */
async function calls({ parameters, calls: all }: ForcedFile, report: Report): Promise<void> {
  for (const { what, gateway: at, transaction: tx, lastFinalizedState, value, first, verdict, ...call } of all) {
    const gateway = parameters.gateways[at]!;
    const transaction = signed(tx, gateway.chainId);
    const rule = await readingRefused(transaction, gateway.chainId);
    const signer = rule === undefined ? (await readForcedTransaction(transaction, gateway.chainId)).signer : undefined;
    const parties = [tx.to, signer && bytesToHex(signer)];
    const refusal = forcedTransactionRefusal(
      { transaction, lastFinalizedState: stateOf(lastFinalizedState) },
      BigInt(value),
      { maxGasLimit: BigInt(gateway.maxGasLimit), maxInputLength: gateway.maxInputLength },
      {
        finalizedState: hexToBytes(call.currentFinalizedState),
        fee: BigInt(parameters.fee),
        isTaken: first !== undefined,
        isFiltered: gateway.useAddressFilter && parameters.filtered.some((one) => parties.includes(one)),
      },
    );
    await report.check(`forced call: ${what}`, () => {
      if (verdict.accepted) return differs([undefined, undefined], [refusal, rule]);
      // OpenZeppelin's text about the signature, which is read before a call.
      if (verdict.error === 'Error') return differs([undefined, 'signature'], [refusal, rule]);
      return differs(verdict.error, refusal);
    });
    if (verdict.error === 'FinalizationStateIncorrect')
      await report.check(`forced call: ${what}, the hashes`, () =>
        differs(verdict.args, [call.currentFinalizedState, stateHash(lastFinalizedState)]),
      );
    if (what === 'slot 447 with three members')
      await report.check(`forced call: ${what}, which`, () =>
        differs(call.currentFinalizedState, hashOfThree(lastFinalizedState)),
      );
  }
}

/** Checks of `finalizeBlocks` that say nothing of a message or a forced transaction. */
const OTHER_CHECKS = ['l2MerkleRoots', 'l2MessagingBlocksOffsets', 'l2MerkleTreesDepth'];

/**
 * Finalized states, and calls that end with one. All calls are changes of one finalization: the one after the state whose
 * hash an error names. What they are changed in is enough for the checks of forced transactions and rolling hashes.
 */
async function finalizations(
  { forced, finalizationCalls, finalizedStates }: ForcedFile,
  deadlines: readonly bigint[],
  messageHash: ((number: number) => Hex) | undefined,
  report: Report,
): Promise<void> {
  for (const state of finalizedStates) {
    const { endBlock, hash, log, timestamp, messageNumber, forcedTransactionNumber } = state;
    const name = `finalized state of block ${endBlock}`;
    await report.check(`${name}: hash`, () => differs(hash, stateHash(state)));
    await report.check(`${name}: log`, () => {
      const numbers = [timestamp, messageNumber, forcedTransactionNumber].map((value) => word(BigInt(value)));
      return differs(
        [log.topics, log.data],
        [[FINALIZED_STATE_UPDATED, bytesToHex(word(endBlock))], bytesToHex(concatBytes(...numbers))],
      );
    });
    await report.check(`${name}: forced rolling hash`, () =>
      differs(state.forcedTransactionRollingHash, forced[Number(forcedTransactionNumber) - 1]?.rollingHash ?? NONE),
    );
    if (messageHash !== undefined)
      await report.check(`${name}: rolling hash of the messages`, () =>
        differs(state.messageRollingHash, messageHash(Number(messageNumber))),
      );
  }
  const wrong = finalizationCalls.find(({ verdict }) => verdict.error === 'FinalizationStateIncorrect');
  const at = finalizedStates.findIndex(({ hash }) => hash === wrong?.verdict.args?.[0]);
  const [before, made] = [finalizedStates[at], finalizedStates[at + 1]];
  if (before === undefined || made === undefined) {
    for (const { what } of finalizationCalls)
      report.skip(`finalization: ${what}`, 'the file does not say which it was');
    return;
  }
  const known = forced.filter(({ block }) => block < made.layerOneBlock).length;
  for (const { what, changed, verdict } of finalizationCalls) {
    const name = `finalization: ${what}`;
    if (OTHER_CHECKS.some((member) => member in changed)) {
      report.skip(name, 'nothing here decides about roots, offsets or a depth that are submitted: a page reads them');
      continue;
    }
    const text = (member: string, otherwise: string) => String(changed[member] ?? otherwise);
    const state = { ...before, timestamp: text('lastFinalizedTimestamp', before.timestamp) };
    const last = Number(text('finalForcedTransactionNumber', made.forcedTransactionNumber));
    const end = BigInt(text('endBlockNumber', `${made.endBlock}`));
    const number = Number(text('l1RollingHashMessageNumber', made.messageNumber));
    const hash = text('l1RollingHash', made.messageRollingHash);
    await report.check(name, () => {
      const isNone = BigInt(hash) === 0n;
      const expected = (): [string, ...string[]] | undefined => {
        // A finalization takes a state of three members as well, and its error names the hash of those.
        if (stateHash(state) !== before.hash) return ['FinalizationStateIncorrect', before.hash, hashOfThree(state)];
        if (number === 0 && !isNone) return ['MissingMessageNumberForRollingHash', hash];
        if (number !== 0 && isNone) return ['MissingRollingHashForMessageNumber', `${number}`];
        if (messageHash !== undefined && number !== 0 && messageHash(number) !== hash)
          return ['L1RollingHashDoesNotExistOnL1', `${number}`, hash];
        if (last > known) return ['MissingRollingHashForForcedTransactionNumber', `${last}`];
        if (last < known && deadlines[last + 1]! <= end)
          return ['FinalizationDataMissingForcedTransaction', `${last + 1}`];
        return undefined;
      };
      return differs(verdict.accepted ? undefined : [verdict.error, ...(verdict.args ?? [])], expected());
    });
  }
}
