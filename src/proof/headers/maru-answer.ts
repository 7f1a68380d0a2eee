import { equalBytes } from '../../primitives/bytes.js';
import { malformed, member, readArray, readBytes, readObject } from '../json-reader.js';
import { Refusal } from '../verdict.js';
import type { MaruHeader, MaruPayload, SealedMaruBlock } from './maru-block.js';
import { SIGNATURE_BYTES } from './recover-signer.js';

const MESSAGE = 'data.message';

/** Reads an integer of the REST interface: a decimal string without leading zeros. @throws PlumblineError `PROOF_MALFORMED` */
function readDecimal(value: unknown, at: string): bigint {
  if (typeof value !== 'string' || !/^(0|[1-9][0-9]{0,77})$/.test(value))
    throw malformed(at, 'is not a decimal integer');
  return BigInt(value);
}

function readUnsigned(value: unknown, at: string, bits: number): bigint {
  const number = readDecimal(value, at);
  if (number >> BigInt(bits) !== 0n) throw malformed(at, `is not below 2^${bits}`);
  return number;
}

function readCount(value: unknown, at: string): number {
  const number = Number(readDecimal(value, at));
  if (!Number.isSafeInteger(number)) throw malformed(at, 'is above 2^53 - 1');
  return number;
}

function messageOf(answer: unknown) {
  return readObject(readObject(readObject(answer, '').data, 'data').message, MESSAGE);
}

function readHeader(message: Readonly<Record<string, unknown>>): MaruHeader {
  const root = (name: string) => readBytes(message[name], member(MESSAGE, name), 32);
  return {
    number: readCount(message.slot, `${MESSAGE}.slot`),
    round: Number(readUnsigned(message.round, `${MESSAGE}.round`, 32)),
    timestamp: readCount(message.timestamp, `${MESSAGE}.timestamp`),
    proposer: readBytes(message.proposer_index, `${MESSAGE}.proposer_index`, 20),
    parentRoot: root('parent_root'),
    stateRoot: root('state_root'),
    bodyRoot: root('body_root'),
  };
}

/** `execution_payload`. @throws PlumblineError `PROOF_MALFORMED` */
function readPayload(json: unknown, at: string): MaruPayload {
  const payload = readObject(json, at);
  const bytes = (name: string, ...lengths: number[]) => readBytes(payload[name], member(at, name), ...lengths);
  const gas = (name: string) => readUnsigned(payload[name], member(at, name), 64);
  const transactions = member(at, 'transactions');
  return {
    parentHash: bytes('parent_hash', 32),
    feeRecipient: bytes('fee_recipient', 20),
    stateRoot: bytes('state_root', 32),
    receiptsRoot: bytes('receipts_root', 32),
    logsBloom: bytes('logs_bloom', 256),
    prevRandao: bytes('prev_randao', 32),
    blockNumber: readCount(payload.block_number, member(at, 'block_number')),
    gasLimit: gas('gas_limit'),
    gasUsed: gas('gas_used'),
    timestamp: readCount(payload.timestamp, member(at, 'timestamp')),
    extraData: bytes('extra_data'),
    baseFeePerGas: readUnsigned(payload.base_fee_per_gas, member(at, 'base_fee_per_gas'), 256),
    blockHash: bytes('block_hash', 32),
    transactions: readArray(payload.transactions, transactions).map((raw, i) =>
      readBytes(raw, `${transactions}[${i}]`),
    ),
  };
}

/** Splits the attestations: those with the slot of the block are its own seals, those of the slot before are its parent's. */
function readSeals(json: unknown, at: string, slot: number) {
  const [commitSeals, parentSeals]: Uint8Array[][] = [[], []];
  for (const [i, entry] of readArray(json, at).entries()) {
    const place = `${at}[${i}]`;
    const attestation = readObject(entry, place);
    const data = readObject(attestation.data, `${place}.data`);
    const of = readCount(data.slot, `${place}.data.slot`);
    if (of !== slot && of !== slot - 1)
      throw malformed(`${place}.data.slot`, 'is neither the slot of the block nor that of its parent');
    const seal = readBytes(attestation.signature, `${place}.signature`, SIGNATURE_BYTES);
    (of === slot ? commitSeals! : parentSeals!).push(seal);
  }
  return { commitSeals: commitSeals!, parentSeals: parentSeals! };
}

/**
 * Reads a sealed block from two answers of Maru's REST interface. Other members of beacon blocks are ignored.
 *
 * @param blockAnswer - body of `GET /eth/v2/beacon/blocks/{id}`, parsed
 * @param headerAnswer - body of `GET /eth/v1/beacon/headers/{id}`, parsed
 * @throws PlumblineError `PROOF_MALFORMED`; a `Refusal` if the two are of different blocks
 * @source docs/spec/json-rpc.md 5.3
 */
export function readMaruBlock(blockAnswer: unknown, headerAnswer: unknown): SealedMaruBlock {
  const header = readHeader(messageOf(headerAnswer));
  const message = messageOf(blockAnswer);
  const root = (name: string) => readBytes(message[name], member(MESSAGE, name), 32);
  const same = {
    slot: readCount(message.slot, `${MESSAGE}.slot`) === header.number,
    proposer_index: equalBytes(readBytes(message.proposer_index, `${MESSAGE}.proposer_index`, 20), header.proposer),
    parent_root: equalBytes(root('parent_root'), header.parentRoot),
    state_root: equalBytes(root('state_root'), header.stateRoot),
  };
  for (const [name, fine] of Object.entries(same)) {
    if (!fine) throw new Refusal('ANSWERS_DIFFER', member(MESSAGE, name), 'differs from that in the header answer');
  }
  const body = readObject(message.body, `${MESSAGE}.body`);
  return {
    header,
    payload: readPayload(body.execution_payload, `${MESSAGE}.body.execution_payload`),
    ...readSeals(body.attestations, `${MESSAGE}.body.attestations`, header.number),
  };
}
