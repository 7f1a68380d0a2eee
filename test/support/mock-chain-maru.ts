import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Provider, UntypedMethod } from '../../src/hosts/provider/provider.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { readHeader } from '../../src/proof/headers.js';
import { type MaruPayload, maruBodyRoot, maruHeaderHash, maruStateRoot } from '../../src/proof/seals.js';

/** Keys of test validators. */
export const VALIDATOR_KEYS = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));

function validatorAddress(key: Uint8Array): Uint8Array {
  return keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12);
}

export const VALIDATORS: readonly Hex[] = VALIDATOR_KEYS.map((key) => bytesToHex(validatorAddress(key)));

export interface MaruMockOptions {
  /** Who seals; all validators when left out. */
  signers: readonly Uint8Array[];
  /** How far its head is behind that of the execution chain. */
  behind: number;
  /** How far the header that it calls `head` is behind its head: a block comes between two answers. */
  headBehind: number;
  /** What it seals in place of the true payload. */
  payload(payload: MaruPayload): MaruPayload;
}

export interface MaruMock {
  readonly url: string;
  readonly options: MaruMockOptions;
  /** Paths asked for. */
  readonly seen: string[];
  close(): Promise<void>;
}

/** Beacon blocks are numbered otherwise than execution blocks. */
const OFFSET = 1000;

function seal(hash: Uint8Array, key: Uint8Array): Uint8Array {
  const signature = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' });
  return concatBytes(signature.subarray(1), signature.subarray(0, 1));
}

/** The REST interface of a consensus client that seals the blocks of a devnet, for those without transactions. */
export async function serveMaru(provider: Provider, given: Partial<MaruMockOptions> = {}): Promise<MaruMock> {
  const options: MaruMockOptions = {
    signers: VALIDATOR_KEYS,
    behind: 0,
    headBehind: 0,
    payload: (payload) => payload,
    ...given,
  };
  const seen: string[] = [];

  async function blockAt(kind: string, id: string) {
    const head = Number(await provider.request({ method: 'eth_blockNumber' })) - options.behind;
    const newest = kind === 'headers' ? head - options.headBehind : head;
    const number = id === 'head' ? newest : Number(id) - OFFSET;
    const params = [`0x${number.toString(16)}`, false];
    const json = (await provider.request<UntypedMethod>({ method: 'eth_getBlockByNumber', params })) as { hash: Hex };
    const { logsBloom, parentHash, stateRoot, receiptsRoot, gasLimit, gasUsed, timestamp, extraData, ...execution } =
      readHeader(json);
    const payload = options.payload({
      ...{ logsBloom, parentHash, stateRoot, receiptsRoot, gasLimit, gasUsed, timestamp, extraData },
      feeRecipient: execution.miner,
      prevRandao: execution.mixHash,
      blockNumber: number,
      baseFeePerGas: execution.baseFeePerGas ?? 0n,
      blockHash: hexToBytes(json.hash),
      transactions: [],
    });
    const body = { parentSeals: [], payload };
    const bare = {
      number: number + OFFSET,
      round: 0,
      timestamp,
      proposer: validatorAddress(VALIDATOR_KEYS[0]!),
      parentRoot: new Uint8Array(32).fill(7),
      stateRoot: new Uint8Array(32),
      bodyRoot: maruBodyRoot(body),
    };
    const header = { ...bare, stateRoot: maruStateRoot(bare, VALIDATOR_KEYS.map(validatorAddress)) };
    const hash = maruHeaderHash(header);
    const message = {
      slot: String(header.number),
      proposer_index: bytesToHex(header.proposer),
      parent_root: bytesToHex(header.parentRoot),
      state_root: bytesToHex(header.stateRoot),
    };
    const attestations = options.signers.map((key) => ({
      data: { slot: String(header.number) },
      signature: bytesToHex(seal(hash, key)),
    }));
    return {
      header: {
        data: {
          message: { ...message, round: '0', timestamp: String(timestamp), body_root: bytesToHex(header.bodyRoot) },
        },
      },
      block: { data: { message: { ...message, body: { attestations, execution_payload: payloadJson(payload) } } } },
    };
  }

  const server = createServer((request, response) => {
    const path = request.url ?? '';
    seen.push(path);
    const [, kind, id] = /\/beacon\/(blocks|headers)\/(\w+)$/.exec(path) ?? [];
    const answer = id === undefined ? Promise.reject(new Error('no such path')) : blockAt(kind!, id);
    answer.then(
      (found) => response.end(JSON.stringify(kind === 'blocks' ? found.block : found.header)),
      () => {
        response.statusCode = 404;
        response.end(JSON.stringify({ code: 404, message: 'not found' }));
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    options,
    seen,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function payloadJson(payload: MaruPayload) {
  return {
    parent_hash: bytesToHex(payload.parentHash),
    fee_recipient: bytesToHex(payload.feeRecipient),
    state_root: bytesToHex(payload.stateRoot),
    receipts_root: bytesToHex(payload.receiptsRoot),
    logs_bloom: bytesToHex(payload.logsBloom),
    prev_randao: bytesToHex(payload.prevRandao),
    block_number: String(payload.blockNumber),
    gas_limit: String(payload.gasLimit),
    gas_used: String(payload.gasUsed),
    timestamp: String(payload.timestamp),
    extra_data: bytesToHex(payload.extraData),
    base_fee_per_gas: String(payload.baseFeePerGas),
    block_hash: bytesToHex(payload.blockHash),
    transactions: payload.transactions.map(bytesToHex),
  };
}
