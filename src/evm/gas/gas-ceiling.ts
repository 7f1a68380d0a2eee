import { PlumblineError } from '../../errors.js';
import { bytesToHex } from '../../primitives/hex.js';
import { TRANSACTION_GAS } from '../transactions/gas-schedule.js';

/** Values that bound the gas limits of a search. */
export interface CeilingInput {
  /** 20 bytes; undefined if the caller gave none. */
  readonly from: Uint8Array | undefined;
  /** Wei. Besu: on chain or with overrides, the larger one; geth: with overrides. */
  readonly balance: bigint;
  /** Wei. */
  readonly value: bigint;
  /** `maxFeePerGas`, else `gasPrice`, else zero; wei. */
  readonly price: bigint;
  readonly blockGasLimit: bigint;
  /** Gas cap of one transaction (EIP-7825), if in force. */
  readonly transactionGasCap: bigint | undefined;
}

const WORD = 256;

/**
 * Upper bound of Besu's search: what the sender can pay for, if there is a price.
 *
 * @param strict - the call's `strict`; if false, funds are not checked
 * @throws PlumblineError `UPFRONT_COST_EXCEEDS_BALANCE` below 21 000
 * @source docs/spec/fees.md 5.2, steps 1 to 3
 */
export function besuCeiling(input: CeilingInput, strict?: boolean): bigint {
  let ceiling = least(input.blockGasLimit, input.transactionGasCap);
  if (input.from !== undefined && strict !== false && input.price > 0n) {
    // The difference is an unsigned word, so it wraps for a value above the balance. The run then refuses it.
    const spendable = BigInt.asUintN(WORD, input.balance - input.value);
    ceiling = input.balance === 0n ? 0n : least(ceiling, spendable / input.price);
  }
  if (ceiling >= TRANSACTION_GAS) return ceiling;
  const sender = bytesToHex(input.from ?? new Uint8Array(20));
  throw new PlumblineError('UPFRONT_COST_EXCEEDS_BALANCE', 'Upfront cost exceeds account balance', { sender });
}

/**
 * Upper bound of geth's search.
 *
 * @param gas - the caller's limit; ignored below 21 000
 * @throws PlumblineError `INSUFFICIENT_FUNDS` when nothing is left for gas
 * @source docs/spec/fees.md 5.3, steps 1 and 2
 */
export function gethCeiling(input: CeilingInput, gas: bigint | undefined, rpcGasCap: bigint): bigint {
  const requested = gas !== undefined && gas >= TRANSACTION_GAS ? gas : input.blockGasLimit;
  let ceiling = least(requested, input.transactionGasCap);
  if (input.price > 0n) {
    const { value, balance } = input;
    if (value >= balance) {
      const sender = bytesToHex(input.from ?? new Uint8Array(20));
      const details = { sender, required: value, balance };
      throw new PlumblineError('INSUFFICIENT_FUNDS', 'insufficient funds for transfer', details);
    }
    ceiling = least(ceiling, (balance - value) / input.price);
  }
  return least(ceiling, rpcGasCap);
}

function least(a: bigint, b: bigint | undefined): bigint {
  return b === undefined || a < b ? a : b;
}
