import { describe, expect, it } from 'vitest';
import { lineCounts, requireWithinLimits } from '../../src/estimate/estimation.js';
import { linea } from '../../src/networks/linea.js';
import { hexToBytes } from '../../src/primitives/hex.js';

/** Topic of `MessageSent`, as published for Linea's message service. */
const MESSAGE_SENT = hexToBytes('0xe856c2b8bd4eb0027ce32eeaf595c21b0b6b4644b326e5b7bd80a1cf8db72e6c');
const service = hexToBytes(linea.messageService!);
const log = (address: Uint8Array, ...topics: Uint8Array[]) => ({ address, topics, data: new Uint8Array(0) });

function countsOf(transaction: Partial<Parameters<typeof lineCounts>[0]>): Record<string, number> {
  const lines = lineCounts({ signedBytes: 100, logs: [], counts: {}, ...transaction }, linea);
  return Object.fromEntries(lines.map(({ module, count }) => [module, count]));
}

describe('lineCounts (docs/spec/fees.md 7)', () => {
  it('counts messages to layer 1: by the service, with its topic in front', () => {
    const other = new Uint8Array(20);
    const logs = [
      log(service, MESSAGE_SENT),
      log(service, MESSAGE_SENT, MESSAGE_SENT),
      log(other, MESSAGE_SENT),
      log(service, new Uint8Array(32), MESSAGE_SENT),
      log(service),
    ];
    expect(countsOf({ logs }).BLOCK_L2_L1_LOGS).toBe(2);
  });

  it('adds the transaction to what its run came to', () => {
    const counts = countsOf({
      signedBytes: 137,
      counts: { BLOCK_KECCAK: 5, PRECOMPILE_ECRECOVER_EFFECTIVE_CALLS: 3, PRECOMPILE_SHA2_BLOCKS: 400 },
    });
    expect(counts).toMatchObject({
      BLOCK_KECCAK: 5 + 2 + 1 + 3,
      BLOCK_L1_SIZE: 137 + 20 + 38,
      BLOCK_TRANSACTIONS: 1,
      PRECOMPILE_SHA2_BLOCKS: 400,
      PRECOMPILE_ECMUL_EFFECTIVE_CALLS: 0,
    });
  });

  it('knows no limit where the network names none', () => {
    expect(lineCounts({ signedBytes: 1, logs: [], counts: {} }, {})).toEqual([]);
  });
});

describe('requireWithinLimits', () => {
  it('passes at the limit, and names the module above it', () => {
    const line = { module: 'PRECOMPILE_ECMUL_EFFECTIVE_CALLS', limit: 80 } as const;
    expect(() => requireWithinLimits([{ ...line, count: 80 }])).not.toThrow();
    expect(() => requireWithinLimits([{ ...line, count: 81 }])).toThrow(
      expect.objectContaining({ code: 'MODULE_LIMIT_EXCEEDED', details: { ...line, count: 81 } }),
    );
  });
});
