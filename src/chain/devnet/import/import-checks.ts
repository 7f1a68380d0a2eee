import { RLP } from '@ethereumjs/rlp';
import { PlumblineError } from '../../../errors.js';
import { ELASTICITY } from '../../../ethereum/base-fee.js';
import { GAS_PER_BLOB, nextExcessBlobGas } from '../../../ethereum/blob-gas.js';
import { EMPTY_UNCLES_HASH, MAX_EXTRA_DATA } from '../../../ethereum/constants.js';
import { headerFields, headerHash } from '../../../ethereum/header.js';
import { orderedTrieRoot } from '../../../ethereum/ordered-trie.js';
import { withdrawalsRoot } from '../../../ethereum/withdrawal.js';
import { nextBlockBaseFee } from '../../../evm/block-context.js';
import type { Rules } from '../../../evm/common.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { equalBytes, isZeroBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import type { Block } from '../../block.js';
import type { BlockExecution } from '../mining/block-execution.js';
import type { Ledger } from '../records/ledger.js';
import type { DecodedBlock } from './import-decode.js';

const MIN_GAS_LIMIT = 5_000n;
const GAS_LIMIT_DENOMINATOR = 1_024n;
const MAX_UNCLES = 2;
const UNCLE_GENERATIONS = 6;
/** From Osaka on: 10 MiB, less 2 MiB for the beacon block around it (EIP-7934). */
const MAX_BLOCK_BYTES = 8_388_608;

type Value = Uint8Array | bigint | number | boolean | string | undefined;

/** Compares a block with what follows from its parent, and throws where they differ. */
export class BlockCheck {
  constructor(
    private readonly decoded: DecodedBlock,
    private readonly parent: Block,
    private readonly rules: Rules,
  ) {}

  /**
   * Checks the header against its parent and the rules in force. Proof of work is not checked.
   *
   * @throws PlumblineError `BLOCK_INVALID`, as every check here
   */
  header(): void {
    const { header, size } = this.decoded;
    const { rules, parent } = this;
    const before = parent.header;
    this.same('parentHash', parent.hash, header.parentHash);
    this.same('number', before.number + 1, header.number);
    this.holds('timestamp', `above ${before.timestamp}`, header.timestamp, header.timestamp > before.timestamp);
    this.holds(
      'extraData',
      `at most ${MAX_EXTRA_DATA} bytes`,
      header.extraData,
      header.extraData.length <= MAX_EXTRA_DATA,
    );
    this.holds('gasUsed', `at most ${header.gasLimit}`, header.gasUsed, header.gasUsed <= header.gasLimit);
    this.gasLimit();
    this.members();
    this.same('baseFeePerGas', nextBlockBaseFee(before, rules), header.baseFeePerGas);
    if (rules.paris) {
      this.same('difficulty', 0n, header.difficulty);
      this.same('nonce', new Uint8Array(8), header.nonce);
      this.same('sha3Uncles', EMPTY_UNCLES_HASH, header.sha3Uncles);
    } else this.holds('difficulty', 'above zero', header.difficulty, header.difficulty > 0n);
    if (rules.cancun) this.blobGas();
    if (rules.osaka) this.holds('size', `at most ${MAX_BLOCK_BYTES} bytes`, size, size <= MAX_BLOCK_BYTES);
  }

  /** Checks transactions, uncles and withdrawals against the roots in the header. */
  async body(ledger: Ledger): Promise<void> {
    const { header, transactions, uncles, withdrawals } = this.decoded;
    this.same('transactionsRoot', await orderedTrieRoot(transactions), header.transactionsRoot);
    this.same('sha3Uncles', keccak256(RLP.encode(uncles.map(headerFields))), header.sha3Uncles);
    this.same('withdrawals', this.rules.shanghai, withdrawals !== undefined);
    if (withdrawals !== undefined) {
      this.same('withdrawalsRoot', await withdrawalsRoot(withdrawals), header.withdrawalsRoot);
    }
    this.holds('uncles', `at most ${MAX_UNCLES}`, uncles.length, uncles.length <= MAX_UNCLES);
    this.uncles(ledger);
  }

  /** Checks the result of the execution against the header. */
  execution({ gasUsed, blobGasUsed, receiptsRoot, logsBloom, requestsHash }: BlockExecution): void {
    const { header } = this.decoded;
    this.same('gasUsed', gasUsed, header.gasUsed);
    this.same('receiptsRoot', receiptsRoot, header.receiptsRoot);
    this.same('logsBloom', logsBloom, header.logsBloom);
    if (this.rules.cancun) this.same('blobGasUsed', blobGasUsed, header.blobGasUsed);
    this.same('requestsHash', requestsHash, header.requestsHash);
  }

  /** @throws PlumblineError `BLOCK_INVALID` unless both values are equal */
  same(what: string, expected: Value, actual: Value): void {
    const equal =
      expected instanceof Uint8Array && actual instanceof Uint8Array
        ? equalBytes(expected, actual)
        : expected === actual;
    if (!equal) throw this.invalid(what, show(expected), show(actual));
  }

  invalid(what: string, expected: string, actual: string, cause?: unknown): PlumblineError<'BLOCK_INVALID'> {
    return invalidBlock(this.decoded.header.number, this.parent.header.number, { what, expected, actual }, cause);
  }

  private holds(what: string, expected: string, actual: Value, holds: boolean): void {
    if (!holds) throw this.invalid(what, expected, show(actual));
  }

  /**
   * The limit moves by less than 1/1024 of the parent's. At the first block of London the parent's limit counts twice.
   */
  private gasLimit(): void {
    const { gasLimit } = this.decoded.header;
    const { gasLimit: held, baseFeePerGas } = this.parent.header;
    const base = this.rules.london && baseFeePerGas === undefined ? held * ELASTICITY : held;
    const step = base / GAS_LIMIT_DENOMINATOR;
    const near = gasLimit > base - step && gasLimit < base + step;
    this.holds(
      'gasLimit',
      `nearer than ${step} to ${base}, at least ${MIN_GAS_LIMIT}`,
      gasLimit,
      near && gasLimit >= MIN_GAS_LIMIT,
    );
  }

  /** Header fields that forks added: each is present from its fork on, and absent before. */
  private members(): void {
    const { header } = this.decoded;
    const { london, shanghai, cancun, prague } = this.rules;
    this.same('presence of baseFeePerGas', london, header.baseFeePerGas !== undefined);
    this.same('presence of withdrawalsRoot', shanghai, header.withdrawalsRoot !== undefined);
    this.same('presence of excessBlobGas', cancun, header.excessBlobGas !== undefined);
    this.same('presence of requestsHash', prague, header.requestsHash !== undefined);
  }

  private blobGas(): void {
    const { blobs, osaka } = this.rules;
    const { excessBlobGas, blobGasUsed = 0n } = this.decoded.header;
    const excess = blobs === undefined ? 0n : nextExcessBlobGas(this.parent.header, blobs, osaka);
    this.same('excessBlobGas', excess, excessBlobGas);
    const limit = GAS_PER_BLOB * BigInt(blobs?.max ?? 0);
    this.holds('blobGasUsed', `at most ${limit}`, blobGasUsed, blobGasUsed <= limit);
  }

  /**
   * Each uncle is 1 to 6 blocks back, has a parent on this chain, is not itself on this chain, and is included once
   * only.
   */
  private uncles(ledger: Ledger): void {
    const { header, uncles } = this.decoded;
    const hashes = new Set<string>();
    for (const [index, uncle] of uncles.entries()) {
      const what = `uncle ${index}`;
      const depth = header.number - uncle.number;
      this.holds(what, `1 to ${UNCLE_GENERATIONS} blocks back`, depth, depth >= 1 && depth <= UNCLE_GENERATIONS);
      this.same(`parent of ${what}`, ledger.hashOf(uncle.number - 1), uncle.parentHash);
      const hash = headerHash(uncle);
      this.holds(what, 'no block of the chain', hash, ledger.blockByHash(hash) === undefined);
      for (let back = 1; back <= UNCLE_GENERATIONS; back++) {
        const known = ledger.blockByNumber(header.number - back)?.uncles ?? [];
        for (const other of known) this.holds(what, 'an uncle of no other block', hash, !equalBytes(other, hash));
      }
      hashes.add(bytesToHex(hash));
    }
    this.same('number of different uncles', uncles.length, hashes.size);
  }
}

/** @param head - number of the newest block; the invalid block does not change it */
export function invalidBlock(
  block: number,
  head: number,
  { what, expected, actual }: { what: string; expected: string; actual: string },
  cause?: unknown,
): PlumblineError<'BLOCK_INVALID'> {
  const text = `block ${block} is invalid: ${what} is ${actual}, expected ${expected}`;
  return new PlumblineError('BLOCK_INVALID', text, { block, what, expected, actual, head }, { cause });
}

function show(value: Value): string {
  if (!(value instanceof Uint8Array)) return String(value ?? 'none');
  return isZeroBytes(value) && value.length > 32 ? 'zero' : bytesToHex(value);
}
