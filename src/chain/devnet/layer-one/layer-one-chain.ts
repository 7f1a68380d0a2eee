import { slotAtTime, timeOfFork } from '../../../consensus/slots.js';
import { abiWord, mappingSlot } from '../../../ethereum/abi.js';
import { layerOneOfDevnet } from '../../../networks/devnet.js';
import { type Network, type RollupContract, rollupOf } from '../../../networks/network.js';
import { concatBytes } from '../../../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../primitives/hex.js';
import { messageTrees } from '../../../proof/messages.js';
import type { Block } from '../../block.js';
import type { FinalityOptions } from '../options.js';
import { type DevAccount, OPERATOR } from '../state/dev-accounts.js';
import { devAlloc, type GenesisAlloc } from '../state/genesis.js';
import { REQUEST_QUEUES } from '../state/request-queues.js';
import { ROLLUP_CODE } from './rollup.generated.js';
import type { Finalization } from './rollup-abi.js';
import type { L1Entry } from './simulated-l1.js';

const ETHER = 10n ** 18n;
/** What the rollup holds for withdrawals, and the operator for fees. */
const BRIDGED = 1_000_000n * ETHER;
/** Wei that claims of one period may take. */
const RATE_LIMIT = 100_000n * ETHER;
const PERIOD_SECONDS = 86_400n;

/** Slots of the contract that every profile has in the same place. @source docs/spec/messages.md 4 */
const SLOTS = { period: 151n, limit: 152n, nextMessageNumber: 228n };
/** Slots of the mappings of messages, where the profile names no others. */
const MESSAGE_SLOTS = { claimedSlot: 335n, rootDepthsSlot: 336n };
/** Of a profile without hashes of blocks, whose contract is never asked to store one. */
const NO_SLOT = 2n ** 256n - 1n;

/** A word of the source in the place of a slot (scripts/contracts/Messages.sol). */
const placeholder = (last: number) => `8d1c7ae35f4b90d216e7c3a95b08f46d1e92c7b35a0f684dd3917ea2c65b0f0${last}`;

/** Code of the rollup contract, with the slots of the profile. */
function rollupCode(rollup: RollupContract): Hex {
  const { claimedSlot, rootDepthsSlot } = { ...MESSAGE_SLOTS, ...rollup };
  const { currentBlockSlot, stateRootsSlot, blockHashesSlot = NO_SLOT } = rollup;
  const slots = [currentBlockSlot, stateRootsSlot, blockHashesSlot, claimedSlot, rootDepthsSlot];
  let code: string = ROLLUP_CODE;
  for (const [i, slot] of slots.entries()) {
    code = code.replaceAll(placeholder(i + 1), bytesToHex(abiWord(slot)).slice(2));
  }
  return code as Hex;
}

/** The genesis accounts of layer 1: those of a devnet, the operator, and the rollup, in which block 0 of layer 2 is final. */
function layerOneAlloc(
  rollup: RollupContract,
  genesisRoot: Uint8Array,
  accounts: readonly DevAccount[] | undefined,
): GenesisAlloc {
  const word = (value: bigint) => bytesToHex(abiWord(value));
  return {
    ...devAlloc(accounts),
    [OPERATOR.address]: { balance: BRIDGED },
    [rollup.address.toLowerCase()]: {
      nonce: 1n,
      balance: BRIDGED,
      code: rollupCode(rollup),
      storage: {
        [word(SLOTS.period)]: word(PERIOD_SECONDS),
        [word(SLOTS.limit)]: word(RATE_LIMIT),
        [word(SLOTS.nextMessageNumber)]: word(1n),
        [bytesToHex(mappingSlot(abiWord(0), rollup.stateRootsSlot))]: bytesToHex(genesisRoot),
      },
    },
  };
}

/** `finalizeBlocks` of the contract. */
const FINALIZE = hexToBytes('0x72ccf264', 4);
/** Depth of the trees. @source docs/spec/messages.md 3 */
const DEPTH = 5;

const abiList = (items: readonly Uint8Array[]) => concatBytes(abiWord(items.length), ...items);

/** Calldata of a finalization. */
function finalizeCalldata(finalization: Finalization): Uint8Array {
  const { first, last, kind, parent, final, timestamp, messages, messagingBlocks, anchored } = finalization;
  const roots = abiList(messageTrees(messages, DEPTH).map(({ root }) => root));
  const blocks = abiList(messagingBlocks.map(abiWord));
  const head = 11 * 32;
  return concatBytes(
    FINALIZE,
    abiWord(32),
    abiWord(first),
    abiWord(last),
    parent,
    final,
    abiWord(kind === 'blockHash' ? 1 : 0),
    abiWord(timestamp),
    abiWord(head),
    abiWord(DEPTH),
    abiWord(head + roots.length),
    abiWord(anchored.number),
    anchored.rollingHash,
    roots,
    blocks,
  );
}

/** Gas limit of a finalization: what each root and each block with messages takes, and the rest. */
function finalizeGas({ messages, messagingBlocks }: Finalization): bigint {
  return 400_000n + 30_000n * BigInt(Math.ceil(messages.length / 2 ** DEPTH)) + 5_000n * BigInt(messagingBlocks.length);
}

/** A transaction of the operator, which is to be signed. */
const byOperator = { from: hexToBytes(OPERATOR.address, 20), nonce: undefined, value: 0n, accessList: undefined };

/** What a block of layer 1 has: transactions as they were sent, or the one that finalizes. @param baseFee - of the block, wei */
export function contentsOf({ rollup }: Pick<Network, 'rollup'>, entry: L1Entry, baseFee: bigint) {
  const { timestamp } = entry;
  if (!('last' in entry)) return { timestamp, transactions: entry.transactions };
  const transaction = {
    ...byOperator,
    to: hexToBytes(rollup!.address, 20),
    data: finalizeCalldata(entry),
    gasLimit: finalizeGas(entry),
    price: { maxFeePerGas: baseFee, maxPriorityFeePerGas: 0n },
  };
  return { timestamp, transactions: [transaction] };
}

/** Settings of the devnet that layer 1 is. */
export function layerOneSettings(
  network: Network,
  { block, zkRoot }: { readonly block: Block; readonly zkRoot: Uint8Array },
  { heldFinalizations }: FinalityOptions,
  accounts?: readonly DevAccount[],
) {
  const { rollup, layerOne } = rollupOf(network);
  const beacon = typeof layerOne === 'object' ? layerOne : undefined;
  const gloas = beacon && timeOfFork(beacon, 'gloas');
  const amsterdam = gloas !== undefined && gloas < Number.MAX_SAFE_INTEGER ? gloas : undefined;
  return {
    network: layerOneOfDevnet({ ...(layerOne && { layerOne }), ...(amsterdam !== undefined && { amsterdam }) }),
    alloc: { ...layerOneAlloc(rollup, zkRoot, accounts), ...(amsterdam !== undefined && REQUEST_QUEUES) },
    genesisTimestamp: block.header.timestamp,
    prices: undefined,
    mining: 'auto',
    // All its blocks are final for clients; its consensus says what is for light nodes.
    finality: { delayBlocks: 0, ...(heldFinalizations !== undefined && { heldFinalizations }) },
    slotAt: (time: number) => (beacon === undefined ? 0n : BigInt(slotAtTime(beacon, time * 1000))),
    zk: undefined,
    store: undefined,
    onProgress: undefined,
  } as const;
}
