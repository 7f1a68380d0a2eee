import { GAS_PER_BLOB } from '../ethereum/base-fee.js';
import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import { mostBlobs } from '../evm/transaction-checks.js';
import { payingGasPrice } from '../fees/pricing.js';
import { equalBytes } from '../primitives/bytes.js';
import type { Conditions } from './diagnosed.js';
import { type CompleteTransaction, capOf, type DiagnosedTransaction, isComplete, signedBytes } from './diagnosed.js';
import { compared, type Finding } from './diagnosis.js';

/*
 * What geth's pool asks of a transaction of a layer 1, where it differs from the pool of Linea. A price below the base fee is taken, and
 * waits. Limits are geth's defaults, which its operator may change.
 *
 * source: ethereum/go-ethereum@v1.17.10 core/txpool: validation.go, legacypool, blobpool
 */

const BLOBS = 3;
/** Largest transaction without blobs, bytes. */
const MAX_BYTES = 131_072;
/** Least priority fee, and least maximum fee per blob gas, wei. */
const LEAST_PRICE = 1n;
/** Priority fee from which geth's builder takes a transaction, wei. source: miner/miner.go, DefaultConfig */
const BUILDER_TIP = 1_000_000n;
/** Nonce of an account from which its transactions with blobs may have a gap before them, for a minute. */
const GAPS_FROM = 9n;
/** Per cent by which a replacement raises each of its prices. */
const PRICE_BUMP = 10n;
const BLOB_PRICE_BUMP = 100n;
/** The base fee falls by an eighth at most (EIP-1559). */
const BASE_FEE_DIVISOR = 8n;

const isBlob = ({ type }: Pick<DiagnosedTransaction, 'type'>) => type === BLOBS;

/** Checks that need nothing but the transaction. */
export function poolChecks(candidate: DiagnosedTransaction): readonly Finding[] {
  const { gasPrice, maxPriorityFeePerGas, maxFeePerBlobGas } = candidate;
  const tip = gasPrice ?? maxPriorityFeePerGas;
  const prices = [
    { name: gasPrice === undefined ? 'maxPriorityFeePerGas' : 'gasPrice', price: tip },
    { name: 'maxFeePerBlobGas', price: isBlob(candidate) ? maxFeePerBlobGas : undefined },
  ].flatMap(({ name, price }) =>
    price === undefined
      ? []
      : [compared('least-price', price, LEAST_PRICE, { remedy: `${name} to at least ${LEAST_PRICE} wei` })],
  );
  const found = prices.find(({ outcome }) => outcome === 'fails') ?? prices[0];
  // The blobs count in the size of their transaction, and do not always come along.
  const hasSize = isComplete(candidate) && !isBlob(candidate);
  return [
    ...(found === undefined ? [] : [found]),
    ...(hasSize ? [compared('size', signedBytes(candidate).length, MAX_BYTES)] : []),
  ];
}

/** Whether the blobs of a transaction came with it. @param broadcast - as it is sent @param raw - as it stands in a block */
export function sidecarCheck(broadcast: Uint8Array, { raw, type }: SignedTransaction): readonly Finding[] {
  if (type !== BLOBS) return [];
  if (broadcast.length === raw.length)
    return [{ check: 'sidecar', outcome: 'fails', reason: 'it has the hashes of its blobs alone' }];
  return [{ check: 'sidecar', outcome: 'unknown', reason: 'the proofs of its blobs are not checked here' }];
}

/** Number of blobs in one transaction. */
export function blobChecks({ blobVersionedHashes }: DiagnosedTransaction, { rules }: Conditions): readonly Finding[] {
  if (blobVersionedHashes === undefined || rules.blobs === undefined) return [];
  return [compared('blobs', blobVersionedHashes.length, mostBlobs(rules.blobs, rules))];
}

/**
 * Rules about what else is pending of the account. A transaction with blobs does not wait for the nonces before it. Of an account that is
 * delegated (EIP-7702) nodes keep the next transaction alone. Transactions with blobs and without are never in the pool together. What is
 * pending elsewhere, also of delegations, is not known here.
 */
export function accountPoolChecks(candidate: DiagnosedTransaction, conditions: Conditions): readonly Finding[] {
  const { nonce } = candidate;
  const { sender } = conditions;
  const pending = executable(conditions);
  const findings: Finding[] = [];
  const isDelegated = !equalBytes(sender.codeHash, EMPTY_CODE_HASH);
  const isHeld = pending.some((one) => one.nonce === nonce);
  if (isDelegated && !isBlob(candidate) && nonce !== undefined && nonce >= sender.nonce && !isHeld)
    findings.push(compared('delegated-sender', nonce, sender.nonce));
  const next = sender.nonce + BigInt(pending.length);
  if (isBlob(candidate) && nonce !== undefined && nonce > next) {
    const gap = compared('blob-nonce', nonce, next);
    const reason = 'nodes keep a few of such transactions, for a minute';
    findings.push(sender.nonce < GAPS_FROM ? gap : { ...gap, outcome: 'unknown', reason });
  }
  if (pending.some((one) => isBlob(one) !== isBlob(candidate)))
    findings.push({
      check: 'other-pool',
      outcome: 'fails',
      reason: isBlob(candidate) ? 'one without blobs is pending' : 'one with blobs is pending',
    });
  return findings;
}

/** Known pending transactions of the sender that blocks can take one after the other, the account's nonce first. */
function executable({ sender, pending }: Conditions) {
  const byNonce = new Map(pending.map((one) => [one.nonce, one]));
  const found: Conditions['pending'][number][] = [];
  for (let next = byNonce.get(sender.nonce); next !== undefined; next = byNonce.get(next.nonce + 1n)) found.push(next);
  return found;
}

/** The most that a transaction costs, wei. */
export function costOf(transaction: CompleteTransaction): bigint {
  const { value, gasLimit, maxFeePerBlobGas = 0n, blobVersionedHashes = [] } = transaction;
  const blobFee = GAS_PER_BLOB * BigInt(blobVersionedHashes.length) * maxFeePerBlobGas;
  return value + gasLimit * (capOf(transaction) ?? 0n) + blobFee;
}

/** The balance covers this transaction and the known pending ones, but for the one that it replaces. */
export function fundsWithPending(candidate: CompleteTransaction, conditions: Conditions): Finding {
  const { balance } = conditions.sender;
  const others = executable(conditions).filter(({ nonce }) => nonce !== candidate.nonce);
  const needed = others.reduce((sum, other) => sum + costOf(other), costOf(candidate));
  return compared('funds', balance, needed, {
    remedy: String(needed - balance),
    ...(others.length > 0 && { reason: `with ${others.length} pending of the account` }),
  });
}

/** Prices against those of the next block: below them it waits. */
export function waitingChecks(candidate: CompleteTransaction, { context }: Conditions): readonly Finding[] {
  const { baseFeePerGas: baseFee, blobBaseFee } = context;
  const { gasPrice, maxFeePerBlobGas, maxPriorityFeePerGas = 0n } = candidate;
  const cap = capOf(candidate) ?? 0n;
  const name = gasPrice === undefined ? 'maxFeePerGas' : 'gasPrice';
  const again = 'sign again with the same nonce, and send it';
  const remedy = `${name} to at least ${baseFee} wei, ${again}`;
  const findings = [
    compared('fee-cap', cap, baseFee, { remedy, ...(cap < baseFee && { reason: fallTo(cap, baseFee) }) }),
  ];
  if (cap >= baseFee) {
    const tip =
      payingGasPrice(gasPrice === undefined ? { maxFeePerGas: cap, maxPriorityFeePerGas } : { gasPrice }, baseFee) -
      baseFee;
    const parts = [
      ...(cap - baseFee < BUILDER_TIP ? [`${name} to at least ${baseFee + BUILDER_TIP} wei`] : []),
      ...(gasPrice === undefined && maxPriorityFeePerGas < BUILDER_TIP
        ? [`maxPriorityFeePerGas to at least ${BUILDER_TIP} wei`]
        : []),
    ];
    findings.push(compared('builder-tip', tip, BUILDER_TIP, { remedy: `${parts.join(' and ')}, ${again}` }));
  }
  if (isBlob(candidate) && blobBaseFee !== undefined) {
    const raise = `maxFeePerBlobGas to at least ${blobBaseFee} wei, ${again}`;
    findings.push(compared('blob-fee-cap', maxFeePerBlobGas ?? 0n, blobBaseFee, { remedy: raise }));
  }
  return findings;
}

/** How far the base fee is from a price below it. */
function fallTo(price: bigint, baseFee: bigint): string {
  let [fee, blocks] = [baseFee, 0];
  while (fee > price && fee >= BASE_FEE_DIVISOR) {
    fee -= fee / BASE_FEE_DIVISOR;
    blocks++;
  }
  const distance = `the base fee is ${baseFee - price} wei above it`;
  return fee > price
    ? `${distance}, and never falls so far`
    : `${distance}; it falls so far in ${blocks} blocks at least`;
}

/** What a replacement offers at least for a price, wei. */
export function raisedPrice(candidate: DiagnosedTransaction, price: bigint): bigint {
  const raised = (price * (100n + (isBlob(candidate) ? BLOB_PRICE_BUMP : PRICE_BUMP))) / 100n;
  return raised > price ? raised : price + 1n;
}
