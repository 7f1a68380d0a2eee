import { abiWord } from '../../ethereum/abi.js';
import type { StateReader } from '../../evm/state-reader.js';
import { type Network, rollupOf } from '../../networks/network.js';
import { bytesToBigInt, concatBytes } from '../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import type { SerialQueue } from '../../scheduling/serial-queue.js';
import type { Chain } from '../chain.js';
import type { SimulatedL1 } from './layer-one/simulated-l1.js';
import type { BlockMaker } from './mining/block-maker.js';
import type { Mining } from './mining/mining.js';
import type { TransactionSubmission } from './mining/transaction-submission.js';
import { OPERATOR } from './state/dev-accounts.js';

/** `RollingHashUpdated(uint256,bytes32,bytes32)` of layer 1. @source docs/spec/messages.md 7 */
const ROLLING_HASH_UPDATED = hexToBytes('0xea3b023b4c8680d4b4824f0143132c95476359a2bb70a81d6c5a36f6918f6339', 32);
/** `lastAnchoredL1MessageNumber` of the message service. */
const LAST_ANCHORED_SLOT = 280n;
/** `anchorL1L2MessageHashes(bytes32[],uint256,uint256,bytes32)`. */
const ANCHOR = hexToBytes('0x3c362146', 4);
/** Messages of one call, and the gas for each and for the rest. */
const MOST = 100;
const [GAS_EACH, GAS_BESIDE] = [60_000n, 200_000n];
/** Far above what layer 2 asks. */
const PRICE = { maxFeePerGas: 1_000_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** The parts of a devnet that anchor messages. */
interface AnchoringParts {
  readonly network: Network;
  readonly queue: SerialQueue;
  readonly maker: BlockMaker;
  readonly mining: Mining;
  readonly submission: TransactionSubmission;
  readonly layerOne: Pick<SimulatedL1, 'opened' | 'settle'>;
}

/**
 * Anchors messages of layer 1 that layer 2 does not have yet, by a transaction of the operator.
 *
 * @param when - `now` as the mode of mining has it. `next` waits for the next block in any mode: a chain that was made shorter
 *   stays so
 */
export async function anchorMessages(parts: AnchoringParts, when: 'now' | 'next'): Promise<void> {
  const { network, queue, maker, mining, submission, layerOne } = parts;
  if (when === 'next') await layerOne.settle();
  await queue.run(async () => {
    const requests = await anchoringRequests(network, maker.headState, layerOne.opened!.chain);
    const { pool } = maker;
    // Those that wait for a block are made again, with what came since.
    for (const { from, hash } of pool.transactions) if (bytesToHex(from) === OPERATOR.address) pool.remove(hash);
    const send = async () => {
      for (const request of requests) await submission.send(request);
    };
    await (when === 'now' ? send() : mining.withhold(send));
  });
}

/**
 * Transactions of the operator that anchor on layer 2 the messages of layer 1 that it does not have.
 *
 * @param state - of layer 2
 * @returns none if layer 2 has no message service: its genesis is of an earlier format
 */
async function anchoringRequests(network: Network, state: StateReader, layerOne: Chain) {
  const service = network.messageService && hexToBytes(network.messageService, 20);
  if (!service || (await state.account(service)) === undefined) return [];
  const last = bytesToBigInt(await state.slot(service, abiWord(LAST_ANCHORED_SLOT)));
  const to = (await layerOne.head()).header.number;
  const filter = { addresses: [hexToBytes(rollupOf(network).rollup.address, 20)], topics: [[ROLLING_HASH_UPDATED]] };
  const sent = (await layerOne.logs({ from: 0, to, filter })).map(({ log: { topics } }) => ({
    number: bytesToBigInt(topics[1]!),
    rolling: topics[2]!,
    hash: topics[3]!,
  }));
  const missing = sent.filter(({ number }) => number > last);
  return Array.from({ length: Math.ceil(missing.length / MOST) }, (_, i) => {
    const some = missing.slice(i * MOST, (i + 1) * MOST);
    const { number, rolling } = some.at(-1)!;
    const hashes = concatBytes(abiWord(some.length), ...some.map(({ hash }) => hash));
    const numbers = concatBytes(abiWord(some[0]!.number), abiWord(number));
    return {
      from: hexToBytes(OPERATOR.address, 20),
      to: service,
      nonce: undefined,
      gasLimit: GAS_BESIDE + GAS_EACH * BigInt(some.length),
      price: PRICE,
      value: 0n,
      data: concatBytes(ANCHOR, abiWord(4 * 32), numbers, rolling, hashes),
      accessList: undefined,
    };
  });
}
