import { createRequire } from 'node:module';
import { Common, Mainnet } from '@ethereumjs/common';
import { createLegacyTx } from '@ethereumjs/tx';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { blockReward } from '../../src/chain/devnet/mining/block-execution.js';
import { blobBaseFee, GAS_PER_BLOB, nextExcessBlobGas } from '../../src/ethereum/base-fee.js';
import { rulesAt } from '../../src/evm/common.js';
import { collectRequests, requestsHash } from '../../src/evm/system-calls.js';
import { intrinsicGas, refundQuotient } from '../../src/evm/transaction-checks.js';
import type { Hardfork } from '../../src/networks/network.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { FORKS, openMachine } from '../support/evm.js';

/** A header of @ethereumjs/block, which comes with @ethereumjs/vm. */
interface LibraryHeader {
  readonly common: Common;
  calcNextExcessBlobGas(common: Common): bigint;
}

const { createBlockHeader } = createRequire(import.meta.resolve('@ethereumjs/vm'))('@ethereumjs/block') as {
  createBlockHeader: (data: Record<string, unknown>, options: { common: Common }) => LibraryHeader;
};

const rules = (hardfork: Hardfork) => rulesAt({ chainId: 1, forks: [{ hardfork }] }, 0, 0);

describe('gas by fork, compared with @ethereumjs/tx', () => {
  it.each(FORKS)('%s', (hardfork) => {
    const common = new Common({ chain: Mainnet, hardfork });
    const data = Uint8Array.from({ length: 100 }, (_, i) => (i % 3 === 0 ? 0 : i));
    for (const to of [undefined, new Uint8Array(20).fill(7)]) {
      const transaction = createLegacyTx({ gasLimit: 1_000_000n, data, ...(to && { to: bytesToHex(to) }) }, { common });
      const message = { from: new Uint8Array(20), to, nonce: 0n, gasLimit: 1_000_000n, value: 0n, data };
      expect(intrinsicGas(message, rules(hardfork))).toBe(transaction.getIntrinsicGas());
    }
  });

  it('refunds at most a half before London and a fifth from then on (EIP-3529)', () => {
    expect(refundQuotient(rules('berlin'))).toBe(2n);
    expect(refundQuotient(rules('london'))).toBe(5n);
  });

  it('pays miners 5, 3 and 2 ether (EIP-649, EIP-1234)', () => {
    const ether = (hardfork: Hardfork) => blockReward(rules(hardfork)) / 10n ** 18n;
    expect((['homestead', 'spuriousDragon', 'byzantium', 'constantinople', 'london'] as const).map(ether)).toEqual([
      5n,
      5n,
      3n,
      2n,
      2n,
    ]);
  });
});

describe('blob gas', () => {
  // go-ethereum, consensus/misc/eip4844: TestFakeExponential, those with factor 1.
  it.each([
    [0n, 1n, 1n],
    [2n, 1n, 6n],
    [4n, 2n, 6n],
    [3n, 1n, 16n],
    [6n, 2n, 18n],
    [4n, 1n, 49n],
    [8n, 2n, 50n],
    [5n, 1n, 136n],
    [5n, 2n, 11n],
    [50_000_000n, 2_225_652n, 5_709_098_764n],
  ])('price at excess %d with fraction %d', (excess, baseFeeUpdateFraction, price) => {
    expect(blobBaseFee(excess, { target: 3, max: 6, baseFeeUpdateFraction })).toBe(price);
  });

  it('has the same excess as @ethereumjs/block, with and without the reserve price of EIP-7918', () => {
    const schedules = {
      cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477n },
      prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
      osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
    } as const;
    for (const hardfork of ['cancun', 'prague', 'osaka'] as const) {
      const common = new Common({ chain: Mainnet, hardfork });
      const schedule = schedules[hardfork];
      for (const excess of [0n, 3n, 40n, 200n]) {
        for (const used of [0n, 3n, 6n]) {
          for (const baseFeePerGas of [7n, 10n ** 9n, 10n ** 14n]) {
            const parent = {
              excessBlobGas: excess * GAS_PER_BLOB,
              blobGasUsed: used * GAS_PER_BLOB,
              baseFeePerGas,
            };
            const header = createBlockHeader({ number: 1n, ...parent }, { common });
            const expected = header.calcNextExcessBlobGas(header.common);
            expect(nextExcessBlobGas(parent, schedule, hardfork === 'osaka')).toBe(expected);
          }
        }
      }
    }
  });
});

describe('requests of a block', () => {
  const contract = new Uint8Array(20).fill(0xdc);
  const member = (length: number, byte: number) => bytesToHex(new Uint8Array(length).fill(byte));
  const lengths = [48, 32, 8, 96, 8];
  const members = lengths.map((length, i) => member(length, i + 1));
  const topic = keccak_256(new TextEncoder().encode('DepositEvent(bytes,bytes,bytes,bytes,bytes)'));
  /** Offsets of the members within the event, as EIP-6110 names them. */
  const OFFSETS = [160, 256, 320, 384, 512];
  const event = (values: readonly Hex[]) => {
    const data = new Uint8Array(576);
    const view = new DataView(data.buffer);
    for (const [i, value] of values.entries()) {
      const bytes = hexToBytes(value);
      view.setUint32(32 * i + 28, OFFSETS[i]!);
      view.setUint32(OFFSETS[i]! + 28, bytes.length);
      data.set(bytes, OFFSETS[i]! + 32);
    }
    return data;
  };
  const collect = async (data: Uint8Array, topics = [topic], address = contract) =>
    collectRequests(await openMachine({}, 'prague'), [{ address, topics, data }], contract);

  it('contain the deposits of the contract, and of no other (EIP-6110)', async () => {
    const packed = `0x00${members.map((hex) => hex.slice(2)).join('')}`;
    expect((await collect(event(members))).map(bytesToHex)).toEqual([packed]);
    expect(await collect(event(members), [topic], new Uint8Array(20))).toEqual([]);
    expect(await collect(event(members), [new Uint8Array(32)])).toEqual([]);
  });

  it('throw for a deposit event with another layout', async () => {
    const short = event([member(47, 1), ...members.slice(1)]);
    await expect(collect(short)).rejects.toMatchObject({ code: 'EXECUTION_FAILED' });
    await expect(collect(event(members).subarray(32))).rejects.toMatchObject({ code: 'EXECUTION_FAILED' });
  });

  it('hash to the SHA-256 of nothing when there are none (EIP-7685)', () => {
    const empty = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    expect(bytesToHex(requestsHash([]))).toBe(empty);
  });
});
