import { CHANGE, CHANGED, ENV, LOG, RESULT, TOUCHED, WANT } from './evm-exports.js';
import type { EvmMemory } from './evm-memory.js';
import type { EvmChange, EvmEnvironment, EvmLog, EvmResult, EvmTouched, PrecompileCall, Want } from './evm-types.js';

/** @param hashesAt - place for the blob hashes */
export function writeEnvironment(memory: EvmMemory, environment: EvmEnvironment, hashesAt: number): void {
  const { blobHashes } = environment;
  for (const [i, hash] of blobHashes.entries()) memory.write(hashesAt + 32 * i, hash);
  const at = memory.env;
  memory.writeNumber(at + ENV.number, environment.number);
  memory.writeNumber(at + ENV.timestamp, environment.timestamp);
  memory.writeUint64(at + ENV.gasLimit, environment.gasLimit);
  memory.writeNumber(at + ENV.chainId, environment.chainId);
  memory.write(at + ENV.coinbase, environment.coinbase);
  memory.write(at + ENV.random, environment.random);
  memory.writeWord(at + ENV.baseFee, environment.baseFee);
  memory.writeWord(at + ENV.blobBaseFee, environment.blobBaseFee);
  memory.write(at + ENV.origin, environment.origin);
  memory.writeWord(at + ENV.gasPrice, environment.gasPrice);
  memory.view.setUint32(at + ENV.blobCount, blobHashes.length, true);
}

export function readWants(memory: EvmMemory, count: number): Want[] {
  const wants: Want[] = [];
  for (let i = 0, at = memory.wants; i < count; i++, at += WANT.bytes) {
    wants.push({
      kind: memory.u32(at + WANT.kind),
      address: memory.copy(at + WANT.address, 20),
      number: Number(memory.u64(at + WANT.number)),
      key: memory.copy(at + WANT.key, 32),
    });
  }
  return wants;
}

export function readPrecompileCall(memory: EvmMemory): PrecompileCall {
  const at = memory.result;
  return {
    id: memory.u32(at + RESULT.precompile),
    gas: memory.i64(at + RESULT.precompileGas),
    input: memory.copy(memory.u32(at + RESULT.input), memory.u32(at + RESULT.inputBytes)),
  };
}

export function readResult(memory: EvmMemory): EvmResult {
  const at = memory.result;
  const created = memory.u32(at + RESULT.created) !== 0;
  return {
    succeeded: memory.u32(at + RESULT.success) !== 0,
    exception: memory.u32(at + RESULT.exception),
    opcode: memory.u32(at + RESULT.opcode),
    gasLeft: memory.i64(at + RESULT.gasLeft),
    refund: memory.i64(at + RESULT.refund),
    keccakBlocks: Number(memory.u64(at + RESULT.keccakBlocks)),
    spareGas: memory.i64(at + RESULT.spareGas),
    environment: memory.u64(at + RESULT.environment),
    createdAddress: created ? memory.copy(at + RESULT.createdAddress, 20) : undefined,
  };
}

export function readReturned(memory: EvmMemory): Uint8Array {
  const at = memory.result;
  return memory.copy(memory.u32(at + RESULT.returned), memory.u32(at + RESULT.returnedBytes));
}

/** Number of logs, and bytes of return data, topics and log data together. */
export function readOutcomeSize(memory: EvmMemory): { readonly logs: number; readonly bytes: number } {
  const count = memory.u32(memory.result + RESULT.logCount);
  let at = memory.u32(memory.result + RESULT.logs);
  let bytes = memory.u32(memory.result + RESULT.returnedBytes);
  for (let i = 0; i < count; i++) {
    const topics = 32 * memory.u32(at + LOG.topics);
    const data = memory.u32(at + LOG.dataBytes);
    bytes += topics + data;
    at += LOG.bytes + topics + ((data + 7) & ~7);
  }
  return { logs: count, bytes };
}

export function readLogs(memory: EvmMemory): EvmLog[] {
  const logs: EvmLog[] = [];
  const count = memory.u32(memory.result + RESULT.logCount);
  let at = memory.u32(memory.result + RESULT.logs);
  for (let i = 0; i < count; i++) {
    const topicCount = memory.u32(at + LOG.topics);
    const dataBytes = memory.u32(at + LOG.dataBytes);
    const topics: Uint8Array[] = [];
    let body = at + LOG.bytes;
    for (let topic = 0; topic < topicCount; topic++, body += 32) topics.push(memory.copy(body, 32));
    logs.push({
      address: memory.copy(at + LOG.address, 20),
      topics,
      data: memory.copy(body, dataBytes),
      isTransfer: memory.u32(at + LOG.transfer) !== 0,
    });
    at = body + ((dataBytes + 7) & ~7);
  }
  return logs;
}

export function readChanges(memory: EvmMemory, count: number, start: number): EvmChange[] {
  const changes: EvmChange[] = [];
  for (let i = 0, at = start; i < count; i++) {
    const flags = memory.u32(at + CHANGE.flags);
    const slotCount = memory.u32(at + CHANGE.slots);
    const slots: (readonly [Uint8Array, Uint8Array])[] = [];
    for (let slot = 0, from = at + CHANGE.bytes; slot < slotCount; slot++, from += 64) {
      slots.push([memory.copy(from, 32), memory.copy(from + 32, 32)]);
    }
    const exists = (flags & CHANGED.exists) !== 0;
    changes.push({
      address: memory.copy(at + CHANGE.address, 20),
      account: exists
        ? {
            nonce: memory.u64(at + CHANGE.nonce),
            balance: memory.word(at + CHANGE.balance),
            codeHash: memory.copy(at + CHANGE.codeHash, 32),
          }
        : undefined,
      storageCleared: (flags & CHANGED.storageCleared) !== 0,
      code:
        exists && (flags & CHANGED.code) !== 0
          ? memory.copy(memory.u32(at + CHANGE.code), memory.u32(at + CHANGE.codeBytes))
          : undefined,
      slots,
    });
    at += CHANGE.bytes + 64 * slotCount;
  }
  return changes;
}

export function readTouched(memory: EvmMemory, count: number, start: number): EvmTouched[] {
  const touched: EvmTouched[] = [];
  for (let i = 0, at = start; i < count; i++) {
    const slotCount = memory.u32(at + TOUCHED.slots);
    const keys: Uint8Array[] = [];
    for (let slot = 0; slot < slotCount; slot++) keys.push(memory.copy(at + TOUCHED.bytes + 32 * slot, 32));
    touched.push({ address: memory.copy(at + TOUCHED.address, 20), keys });
    at += TOUCHED.bytes + 32 * slotCount;
  }
  return touched;
}
