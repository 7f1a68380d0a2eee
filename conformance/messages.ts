import { keccak_256 } from '@noble/hashes/sha3.js';
import { encodeAccountValue } from '../src/accumulator/account-value.js';
import { hashAddress } from '../src/accumulator/keys.js';
import type { PlumblineError } from '../src/errors.js';
import { loadHashKernel } from '../src/kernel/hasher.js';
import { keccak256 } from '../src/kernel/keccak.js';
import type { RollupContract } from '../src/networks/network.js';
import { bigIntToBytes, bytesToBigInt, concatBytes, equalBytes } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { verifyEthereumProof } from '../src/proof/ethereum-proof.js';
import {
  forcedTransactionSlots,
  type LastFinalizedState,
  verifyFinalizedState,
} from '../src/proof/forced-transactions.js';
import { anchorSlots, stateRootSlot } from '../src/proof/l1-anchor.js';
import { verifyLineaProof } from '../src/proof/linea-proof.js';
import {
  type BridgeMessage,
  type ClaimState,
  claimCalldata,
  claimRefusal,
  hashMessage,
  inboxSlot,
  type MessageClaim,
  messageSlots,
  messageTrees,
  rollingHash,
  siblingsOf,
  verifyClaimState,
  verifyMessageProof,
} from '../src/proof/messages.js';
import { seededRandom } from '../test/support/random.js';
import { type Area, differs, type Material, type Report } from './area.js';
import {
  FORCED,
  type ForcedFile,
  stateOf as finalizedStateOf,
  forcedTransactions,
  NONE,
} from './forced-transactions.js';

const [TREES, FORGERIES, ROLLING, STORAGE] = ['trees', 'forgeries', 'rolling-hash', 'storage'].map(
  (name) => `messages/${name}.json`,
) as [string, string, string, string];
const VECTORS = {
  proof: 'messages/merkle-proof-data-poseidon2.json',
  accountKeys: 'messages/account-key-test-vectors.json',
  mimc: 'messages/mimc-test-data.json',
  poseidon2: 'messages/poseidon2-test-data.json',
};
const HISTORY = 'messages/rolling-hash-history.json';
const RECORDED = ['messages/bridge/prover-v2/logs.json', 'messages/bridge/recorded-sepolia/logs.json'];
const DEPTHS_SLOT = 336n;
const CLAIMED_SLOT = 335n;
/** Forgeries beside those that the contract judged. */
const MADE = 1_980;
/** Forgeries that must be refused, each with its reason. */
const REFUSED_AT_LEAST = 2_000;
/** Messages of the finalizations of depth 5 that must be there. */
const COUNTS = [0, 1, 31, 32, 33, 1_000];

interface MessageJson {
  from: Hex;
  to: Hex;
  fee: string;
  value: string;
  nonce: string;
  data: Hex;
  hash: Hex;
}

interface ProofJson {
  leaf: number;
  tree: number;
  leafIndex: number;
  root: Hex;
  siblings: Hex[];
  verifier: boolean;
  feeRecipient: Hex;
  claimCalldata?: Hex;
  claimCalldataHash: Hex;
  claim?: { wordSlot?: Hex; bit?: number };
}

interface FinalizationJson {
  id: string;
  depth: number;
  roots: Hex[];
  layerOne: { depthSlots: { root: Hex; slot: Hex; value: Hex }[] };
  messages: MessageJson[];
  proofs: ProofJson[];
}

interface TreesJson {
  environment: { layerOne: { rollup: Hex } };
  finalizations: FinalizationJson[];
}

const messageOf = ({ from, to, fee, value, nonce, data }: Omit<MessageJson, 'hash'>): BridgeMessage => ({
  from: hexToBytes(from),
  to: hexToBytes(to),
  fee: BigInt(fee),
  value: BigInt(value),
  nonce: BigInt(nonce),
  data: hexToBytes(data),
});

const rollupAt = (address: Hex): RollupContract => ({
  address,
  currentBlockSlot: 281n,
  stateRootsSlot: 282n,
  rootDepthsSlot: DEPTHS_SLOT,
  claimedSlot: CLAIMED_SLOT,
});

/** Hashes, trees, proofs and calldata of the finalizations. */
async function trees(material: Material, report: Report): Promise<void> {
  const { environment, finalizations } = material.json<TreesJson>(TREES);
  const rollup = rollupAt(environment.layerOne.rollup);
  for (const { id, depth, roots, layerOne, messages, proofs } of finalizations) {
    const known = messages.map(messageOf);
    const hashes = known.map(hashMessage);
    for (const [i, { hash, nonce }] of messages.entries())
      await report.check(`${id} message ${nonce}`, () => differs(bytesToHex(hashes[i]!), hash));
    // The contract's verifier takes no branch of more than 32 siblings, so such a tree is not made.
    const made = depth > 32 ? undefined : messageTrees(hashes, depth);
    if (made !== undefined)
      await report.check(`${id} roots`, () =>
        differs(
          made.map(({ root }) => bytesToHex(root)),
          roots,
        ),
      );
    for (const { root, slot } of layerOne.depthSlots)
      await report.check(`${id} slot of ${root}`, () => {
        return differs(bytesToHex(messageSlots(rollup, { root: hexToBytes(root), nonce: 0n })[4]!), slot);
      });
    for (const proof of proofs) {
      const message = known[proof.leaf]!;
      const given = {
        message,
        siblings: proof.siblings.map((sibling) => hexToBytes(sibling)),
        leafIndex: proof.leafIndex,
        root: hexToBytes(proof.root),
      };
      await report.check(`${id} proof of leaf ${proof.leaf}`, () => {
        const verdict = verifyMessageProof({ ...given, depth });
        return differs(verdict.verified, true);
      });
      if (made !== undefined)
        await report.check(`${id} siblings of leaf ${proof.leaf}`, () =>
          differs(
            siblingsOf(made[proof.tree]!, proof.leafIndex).map((one) => bytesToHex(one)),
            proof.siblings,
          ),
        );
      await report.check(`${id} calldata of leaf ${proof.leaf}`, () => {
        const data = claimCalldata({ ...given, feeRecipient: hexToBytes(proof.feeRecipient) });
        return differs(bytesToHex(keccak256(data)), proof.claimCalldataHash);
      });
      const { claim } = proof;
      if (claim?.wordSlot !== undefined)
        await report.check(`${id} claimed word of leaf ${proof.leaf}`, () => {
          const slots = messageSlots(rollup, { root: given.root, nonce: message.nonce });
          return differs([bytesToHex(slots[5]!), Number(message.nonce & 255n)], [claim.wordSlot, claim.bit]);
        });
    }
  }
}

const keccak = (...parts: readonly Uint8Array[]): Uint8Array => keccak_256(concatBytes(...parts));

/** A second reading of docs/spec/messages.md 2: the hash of a message. */
function hashedApart({ from, to, fee, value, nonce, data }: MessageJson): Uint8Array {
  const bytes = hexToBytes(data);
  const filled = new Uint8Array(Math.ceil(bytes.length / 32) * 32);
  filled.set(bytes);
  const words = [from, to, fee, value, nonce, 0xc0, bytes.length].map((one) =>
    hexToBytes(`0x${BigInt(one).toString(16).padStart(64, '0')}`),
  );
  return keccak(...words, filled);
}

/** A second reading of 3: the node at a height over leaves, of which those that are missing are zero. */
function nodeApart(leaves: readonly Uint8Array[], height: number): Uint8Array {
  if (height === 0) return leaves[0] ?? new Uint8Array(32);
  if (leaves.length === 0) {
    const below = nodeApart([], height - 1);
    return keccak(below, below);
  }
  const half = 2 ** (height - 1);
  return keccak(nodeApart(leaves.slice(0, half), height - 1), nodeApart(leaves.slice(half), height - 1));
}

/** A second reading of 3: the siblings of a leaf, from the leaf up. */
function siblingsApart(leaves: readonly Uint8Array[], index: number, depth: number): Uint8Array[] {
  return Array.from({ length: depth }, (_, height) => {
    const size = 2 ** height;
    const place = Math.floor(index / size);
    const start = (place % 2 === 0 ? place + 1 : place - 1) * size;
    return nodeApart(leaves.slice(start, start + size), height);
  });
}

const hexes = (all: readonly Uint8Array[]): Hex[] => all.map((one) => bytesToHex(one));

/** Every message of every finalization against trees that are made apart from those of `src`. The roots are those that layer 1 stored. */
async function everyLeaf(material: Material, report: Report): Promise<void> {
  const { finalizations } = material.json<TreesJson>(TREES);
  await report.check('finalizations of every number of messages', () => {
    const counts = new Set(finalizations.filter(({ depth }) => depth === 5).map(({ messages }) => messages.length));
    return differs(
      COUNTS.filter((count) => counts.has(count)),
      COUNTS,
    );
  });
  let leaves = 0;
  for (const { id, depth, roots, layerOne, messages } of finalizations.filter((one) => one.depth <= 32)) {
    const known = messages.map(messageOf);
    const hashes = messages.map(hashedApart);
    const size = 2 ** depth;
    const runs = Array.from({ length: Math.ceil(hashes.length / size) }, (_, i) =>
      hashes.slice(i * size, (i + 1) * size),
    );
    const own = messageTrees(known.map(hashMessage), depth);
    await report.check(`${id} trees, made apart`, () => {
      const apart = hexes(runs.map((run) => nodeApart(run, depth)));
      // Of many roots the file has the slots of a few.
      const stored = layerOne.depthSlots.map(({ root, value }) => [apart.includes(root), Number(value)]);
      return differs(
        [roots, roots, layerOne.depthSlots.map(() => [true, depth])],
        [apart, hexes(own.map(({ root }) => root)), stored],
      );
    });
    if (messages.length === 0) await nothingIn(id, report);
    for (const [i, message] of known.entries()) {
      const [at, leafIndex] = [Math.floor(i / size), i % size];
      const siblings = siblingsApart(runs[at]!, leafIndex, depth);
      const root = hexToBytes(roots[at]!);
      leaves++;
      await report.check(`${id} leaf ${i}, apart`, () => {
        const claim = { message, siblings, leafIndex, root };
        const verdict = verifyMessageProof({ ...claim, depth });
        return differs(
          [verdict.verified && bytesToHex(verdict.hash), hexes(siblingsOf(own[at]!, leafIndex)), openTo(claim, depth)],
          [bytesToHex(hashes[i]!), hexes(siblings), 'slots allow'],
        );
      });
    }
  }
  report.note(`${leaves} messages proved by siblings that were made apart`);
}

/** What the slots say of a claim while no limit, pause or earlier claim stands against it. */
function openTo(claim: MessageClaim, depth: number): string {
  const rich = 10n ** 60n;
  const rateLimit = { limit: rich, periodEnd: 10n, used: 0n };
  const state = { depth: BigInt(depth), isClaimed: false, pauseBits: 0n, rateLimit, balance: rich };
  return claimRefusal(claim, state, 5n) ?? 'slots allow';
}

/** A finalization without messages has no root: neither a tree of zeros nor the message alone stands for one. */
async function nothingIn(id: string, report: Report): Promise<void> {
  const message = { from: new Uint8Array(20), to: new Uint8Array(20), fee: 0n, value: 0n, nonce: 1n };
  const claim = { message: { ...message, data: new Uint8Array() }, leafIndex: 0 };
  const zeros = Array.from({ length: 5 }, (_, height) => nodeApart([], height));
  await report.check(`${id} has no message`, () => {
    const inZeros = { ...claim, siblings: zeros, root: nodeApart([], 5) };
    const alone = { ...claim, siblings: [], root: hashMessage(claim.message) };
    const verdict = verifyMessageProof({ ...inZeros, depth: 5 });
    return differs(
      [verdict.verified || verdict.reason, openTo(inZeros, 0), openTo(alone, 0)],
      ['ROOT_MISMATCH', 'L2MerkleRootDoesNotExist', 'L2MerkleRootDoesNotExist'],
    );
  });
}

interface ForgeryJson {
  id: number;
  kind: string;
  what: string;
  params?: (Omit<MessageJson, 'hash'> & { siblings: Hex[]; leafIndex: number; root: Hex }) | null;
  hash: Hex;
  state: {
    timestamp: number;
    depth: number;
    claimedWord: Hex;
    pause: number;
    periodEnd: number;
    used: string;
    limit: string;
    balance: string;
  };
  verdict: { accepted: boolean; error?: string | null };
}

interface ForgeriesJson {
  forgeries: ForgeryJson[];
  verifierOnly: { what: string; leaf: Hex; siblings: Hex[]; leafIndex: number; root: Hex; anchoredDepth: number }[];
}

const stateOf = ({ depth, claimedWord, pause, periodEnd, used, limit, balance }: ForgeryJson['state'], nonce: bigint) =>
  ({
    depth: BigInt(depth),
    isClaimed: ((BigInt(claimedWord) >> (nonce & 255n)) & 1n) === 1n,
    pauseBits: BigInt(pause),
    rateLimit: { limit: BigInt(limit), periodEnd: BigInt(periodEnd), used: BigInt(used) },
    balance: BigInt(balance),
  }) satisfies ClaimState;

/** The code with which no calldata is made. */
function claimCalldataOf(claim: MessageClaim): string {
  try {
    return bytesToHex(claimCalldata(claim));
  } catch (error) {
    return (error as PlumblineError).code;
  }
}

/** The verdicts of the contract. What the recipient of a call does, slots do not say. @returns how many it refused that are compared */
async function forgeries(material: Material, report: Report): Promise<number> {
  const { forgeries: all, verifierOnly } = material.json<ForgeriesJson>(FORGERIES);
  let refused = 0;
  for (const { id, kind, what, params, state, verdict } of all) {
    const name = `forgery ${id}, ${kind}: ${what}`;
    if (params == null || kind === 'calldata') {
      report.skip(name, 'it is in the bytes of the calldata alone, which are made here and not read');
      continue;
    }
    const isLeftToCall = kind === 'call' && what !== 'rollup without ether';
    if (!verdict.accepted && !isLeftToCall) refused++;
    await report.check(name, () => {
      const message = messageOf(params);
      const siblings = params.siblings.map((one) => hexToBytes(one));
      const claim = { message, siblings, leafIndex: params.leafIndex, root: hexToBytes(params.root) };
      const refusal = claimRefusal(claim, stateOf(state, message.nonce), BigInt(state.timestamp));
      // No uint32: the call reverts before the contract's own checks, and no calldata is made.
      if (verdict.error === null) return differs(claimCalldataOf(claim), 'OUT_OF_RANGE');
      if (isLeftToCall) return differs(refusal ?? 'slots allow', 'slots allow');
      return differs(refusal ?? 'slots allow', verdict.accepted ? 'slots allow' : verdict.error);
    });
  }
  for (const { what, leaf, siblings, leafIndex, root, anchoredDepth } of verifierOnly)
    await report.check(what, () => {
      const branch = siblings.map((one) => hexToBytes(one));
      const message = {
        from: new Uint8Array(20),
        to: new Uint8Array(20),
        fee: 0n,
        value: 0n,
        nonce: 0n,
        data: new Uint8Array(),
      };
      const verdict = verifyMessageProof({
        message,
        siblings: branch,
        leafIndex,
        root: hexToBytes(root),
        depth: anchoredDepth,
      });
      // A message has another hash than these leaves: what is asked is that the depth is looked at.
      return differs([verdict.verified, leaf.length], [false, 66]);
    });
  return refused;
}

type Change = (claim: MessageClaim, random: (limit: number) => number) => MessageClaim;

const flipped = (bytes: Uint8Array, random: (limit: number) => number): Uint8Array => {
  const copy = bytes.slice();
  copy[random(copy.length)]! ^= 1 << random(8);
  return copy;
};
const inMessage = (claim: MessageClaim, change: Partial<BridgeMessage>): MessageClaim => ({
  ...claim,
  message: { ...claim.message, ...change },
});

/** Mutations of the kinds that the contract judged, each with its error there. */
const CHANGES: readonly (readonly [what: string, error: string, change: Change])[] = [
  ['from', 'InvalidMerkleProof', (claim, random) => inMessage(claim, { from: flipped(claim.message.from, random) })],
  ['to', 'InvalidMerkleProof', (claim, random) => inMessage(claim, { to: flipped(claim.message.to, random) })],
  ['value + 1', 'InvalidMerkleProof', (claim) => inMessage(claim, { value: claim.message.value + 1n })],
  [
    'a wei from fee to value',
    'InvalidMerkleProof',
    ({ message, ...claim }) => ({ ...claim, message: { ...message, fee: message.fee + 1n } }),
  ],
  ['nonce', 'InvalidMerkleProof', (claim) => inMessage(claim, { nonce: claim.message.nonce + (1n << 200n) })],
  [
    'a byte of data',
    'InvalidMerkleProof',
    (claim) => inMessage(claim, { data: concatBytes(claim.message.data, new Uint8Array(1)) }),
  ],
  [
    'a sibling',
    'InvalidMerkleProof',
    ({ siblings, ...claim }, random) => {
      const at = random(siblings.length);
      return { ...claim, siblings: siblings.map((one, i) => (i === at ? flipped(one, random) : one)) };
    },
  ],
  [
    'a bit of the index',
    'InvalidMerkleProof',
    ({ leafIndex, siblings, ...claim }, random) => ({
      ...claim,
      siblings,
      leafIndex: leafIndex ^ (1 << random(Math.min(30, siblings.length))),
    }),
  ],
  [
    'an index beyond the tree',
    'LeafIndexOutOfBounds',
    ({ leafIndex, ...claim }) => ({ ...claim, leafIndex: leafIndex + 2 ** claim.siblings.length }),
  ],
  [
    'a sibling less',
    'ProofLengthDifferentThanMerkleDepth',
    ({ siblings, ...claim }) => ({ ...claim, siblings: siblings.slice(1) }),
  ],
  [
    'a sibling more',
    'ProofLengthDifferentThanMerkleDepth',
    ({ siblings, ...claim }) => ({ ...claim, siblings: [...siblings, new Uint8Array(32)] }),
  ],
  ['the root', 'InvalidMerkleProof', ({ root, ...claim }, random) => ({ ...claim, root: flipped(root, random) })],
];

/** Why the branch of a claim is refused, by the contract's error. */
const BRANCH_REASONS: Record<string, string> = {
  InvalidMerkleProof: 'ROOT_MISMATCH',
  LeafIndexOutOfBounds: 'INDEX_OUT_OF_RANGE',
  ProofLengthDifferentThanMerkleDepth: 'DEPTH_MISMATCH',
};

/** More of the same kinds, over the proofs that the contract's verifier took. */
async function made(material: Material, report: Report): Promise<void> {
  const random = seededRandom(38);
  const { finalizations } = material.json<TreesJson>(TREES);
  const proofs = finalizations.flatMap(({ depth, messages, proofs: list }) =>
    list.filter(() => depth > 0 && depth <= 32).map((proof) => ({ depth, message: messages[proof.leaf]!, proof })),
  );
  for (let i = 0; i < MADE; i++) {
    const { depth, message, proof } = proofs[random(proofs.length)]!;
    const [what, error, change] = CHANGES[i % CHANGES.length]!;
    const claim: MessageClaim = {
      message: messageOf(message),
      siblings: proof.siblings.map((one) => hexToBytes(one)),
      leafIndex: proof.leafIndex,
      root: hexToBytes(proof.root),
    };
    await report.check(`made ${i}, ${what}`, () => {
      const changed = change(claim, random);
      const verdict = verifyMessageProof({ ...changed, depth });
      return differs(
        [openTo(claim, depth), openTo(changed, depth), verdict.verified || verdict.reason],
        ['slots allow', error, BRANCH_REASONS[error]],
      );
    });
  }
}

interface StepJson extends Omit<MessageJson, 'nonce'> {
  number: number;
  previous: Hex;
  next: Hex;
  slot: Hex;
}

interface AnchoringJson {
  startingMessageNumber: number;
  finalMessageNumber: number;
  finalRollingHash: Hex;
  hashes: Hex[];
}

interface RollingJson {
  environment: { layerTwo: { messageService: Hex } };
  steps: StepJson[];
  anchorings: (AnchoringJson & {
    lastAnchored: number;
    rollingSlot: Hex;
    rollingValue: Hex;
    logs: { address: Hex; topics: Hex[]; data: Hex }[];
  })[];
  anchoringCalls: (Omit<AnchoringJson, 'hashes'> & {
    what: string;
    hashes?: Hex[];
    count: number;
    verdict: { accepted: boolean; error?: string; args?: string[] };
  })[];
  statuses: [number: number, status: number][];
  claims: {
    number: number;
    hash: Hex;
    calldata?: Hex;
    slot: Hex;
    before: number;
    after: number;
    verdict: { accepted: boolean; error?: string; args?: string[] };
    again?: { accepted: boolean; error: string; args: string[] };
  }[];
}

const ROLLING_SLOT = 334;
const ANCHORED_SLOT = 281;
const MESSAGES_ANCHORED = '0x9995fb3da0c2de4012f2b814b6fc29ce7507571dcb20b8d0bd38621a842df1eb';
const ROLLING_HASH_UPDATED = '0x99b65a4301b38c09fb6a5f27052d73e8372bbe8f6779d678bfe8a41b66cce7ac';
/** `claimMessage` of the message service, and of the rollup in its old way. */
const CLAIM_MESSAGE = '0x491e0936';
/** Status of a message of layer 1: not there, there, claimed. */
const [UNKNOWN, RECEIVED, CLAIMED] = [0, 1, 2];

const word = (value: bigint | number): Uint8Array => bigIntToBytes(BigInt(value), 32);
/** Slot of an entry of a mapping. A key is a hash, or a number in decimal. @source Solidity, layout of state variables in storage */
const entrySlot = (key: Hex | string | number, mapping: number): Hex =>
  bytesToHex(keccak256(concatBytes(word(BigInt(key)), word(mapping))));

/** The message in calldata of `claimMessage(from, to, fee, value, feeRecipient, data, nonce)`. */
function claimedMessage(calldata: Hex): BridgeMessage {
  const bytes = hexToBytes(calldata).subarray(4);
  const at = (i: number) => bytes.subarray(32 * i, 32 * i + 32);
  const number = (i: number) => bytesToBigInt(at(i));
  const data = Number(number(5));
  const length = Number(bytesToBigInt(bytes.subarray(data, data + 32)));
  return {
    from: at(0).subarray(12),
    to: at(1).subarray(12),
    fee: number(2),
    value: number(3),
    nonce: number(6),
    data: bytes.slice(data + 32, data + 32 + length),
  };
}

/** Messages to layer 2: their rolling hashes on both layers, and what the message service holds of each. */
async function rolling(material: Material, report: Report): Promise<void> {
  const file = material.json<RollingJson>(ROLLING);
  for (const step of file.steps) {
    await report.check(`message ${step.number} of layer 1`, () =>
      differs(bytesToHex(hashMessage(messageOf({ ...step, nonce: `${step.number}` }))), step.hash),
    );
    await report.check(`rolling hash ${step.number}`, () =>
      differs(bytesToHex(rollingHash(hexToBytes(step.previous), hexToBytes(step.hash))), step.next),
    );
    await report.check(`slot of rolling hash ${step.number}`, () =>
      differs(step.slot, entrySlot(step.number, ROLLING_SLOT)),
    );
  }
  const statuses = await anchorings(file, report);
  await anchoringCalls(file, statuses, report);
  await claims(file, statuses, report);
}

const folded = (start: Hex, hashes: readonly Hex[]): Hex => {
  let rolled: Uint8Array = hexToBytes(start);
  for (const hash of hashes) rolled = rollingHash(rolled, hexToBytes(hash));
  return bytesToHex(rolled);
};

/** Gives the status of each message that was anchored, by its hash. */
async function anchorings({ environment, steps, anchorings: all }: RollingJson, report: Report) {
  const { messageService } = environment.layerTwo;
  const statuses = new Map<Hex, number>();
  let [last, rolled] = [0, NONE];
  for (const { startingMessageNumber, finalMessageNumber, finalRollingHash, hashes, logs, ...after } of all) {
    const name = `anchoring of ${startingMessageNumber} to ${finalMessageNumber}`;
    await report.check(`${name}: its messages`, () =>
      differs(
        [startingMessageNumber, hashes],
        [last + 1, steps.slice(last, finalMessageNumber).map(({ hash }) => hash)],
      ),
    );
    rolled = folded(rolled, hashes);
    last += hashes.length;
    await report.check(`${name}: rolling hash`, () =>
      differs(
        [finalMessageNumber, finalRollingHash, after.lastAnchored, after.rollingValue],
        [last, rolled, last, rolled],
      ),
    );
    await report.check(`${name}: slot`, () => differs(after.rollingSlot, entrySlot(last, ANCHORED_SLOT)));
    await report.check(`${name}: logs`, () => {
      const list = concatBytes(word(32), word(hashes.length), ...hashes.map((hash) => hexToBytes(hash)));
      const expected = [
        [messageService, [MESSAGES_ANCHORED], bytesToHex(list)],
        [messageService, [ROLLING_HASH_UPDATED, bytesToHex(word(last)), rolled], '0x'],
      ];
      return differs(
        logs.map(({ address, topics, data }) => [address, topics, data]),
        expected,
      );
    });
    for (const hash of hashes) statuses.set(hash, RECEIVED);
  }
  return statuses;
}

/** Calls of the message service after the last anchoring: 1 to 100 hashes, of which those that are there are passed over. */
async function anchoringCalls(
  { anchorings: all, anchoringCalls: calls }: RollingJson,
  statuses: ReadonlyMap<Hex, number>,
  report: Report,
): Promise<void> {
  const { finalMessageNumber: last, finalRollingHash: rolled } = all.at(-1)!;
  for (const {
    what,
    hashes = [],
    count,
    startingMessageNumber,
    finalMessageNumber,
    finalRollingHash,
    verdict,
  } of calls) {
    const name = `anchoring call: ${what}`;
    if (what === 'sender without the role') {
      report.skip(name, 'the file does not say who has the role');
      continue;
    }
    const refusal = (): (string | number)[] | undefined => {
      if (count === 0) return ['MessageHashesListLengthIsZero'];
      if (count > 100) return ['MessageHashesListLengthHigherThanOneHundred', count];
      if (BigInt(finalRollingHash) === 0n) return ['FinalRollingHashIsZero'];
      if (startingMessageNumber === 0) return ['Panic', 0x11];
      if (startingMessageNumber - 1 !== last)
        return ['L1MessageNumberSynchronizationWrong', startingMessageNumber - 1, last];
      const fresh = [...new Set(hashes)].filter((hash) => !statuses.has(hash));
      if (finalMessageNumber !== last + fresh.length)
        return ['L1MessageNumberSynchronizationWrong', finalMessageNumber, last + fresh.length];
      const reached = folded(rolled, fresh);
      return reached === finalRollingHash
        ? undefined
        : ['L1RollingHashSynchronizationWrong', finalRollingHash, reached];
    };
    await report.check(name, () =>
      differs(verdict.accepted ? undefined : [verdict.error, ...(verdict.args ?? [])], refusal()?.map(String)),
    );
  }
}

/** Claims on layer 2 in their order, and the status of each message after them. */
async function claims({ steps, claims: all, statuses }: RollingJson, status: Map<Hex, number>, report: Report) {
  const missing = 'MessageDoesNotExistOrHasAlreadyBeenClaimed';
  for (const { number, hash, calldata, slot, before, after, verdict, again } of all) {
    const name = `claim of ${number} on layer 2`;
    await report.check(`${name}: message`, () => differs(steps[number - 1]!.hash, hash));
    if (calldata === undefined) report.skip(`${name}: calldata`, 'the file has none');
    else
      await report.check(`${name}: calldata`, () => {
        const message = claimedMessage(calldata);
        return differs(
          [CLAIM_MESSAGE, number, hash],
          [calldata.slice(0, 10), Number(message.nonce), bytesToHex(hashMessage(message))],
        );
      });
    await report.check(`${name}: slot`, () => differs(slot, bytesToHex(inboxSlot(hexToBytes(hash)))));
    await report.check(`${name}: verdict`, () => {
      const held = status.get(hash) ?? UNKNOWN;
      const isTaken = held === RECEIVED;
      if (isTaken) status.set(hash, CLAIMED);
      const expected = [held, status.get(hash) ?? UNKNOWN, isTaken ? undefined : [missing, hash]];
      return differs(
        [before, after, verdict.accepted ? undefined : [verdict.error, ...(verdict.args ?? [])]],
        expected,
      );
    });
    if (again !== undefined)
      await report.check(`${name} again`, () =>
        differs([again.accepted, again.error, again.args], [status.get(hash) === RECEIVED, missing, [hash]]),
      );
  }
  for (const [number, held] of statuses)
    await report.check(`status of message ${number}`, () =>
      differs(held, status.get(steps[number - 1]!.hash) ?? UNKNOWN),
    );
}

interface StorageRow {
  datum: string;
  slot: number;
  key?: string;
  storageKey: Hex;
  value: Hex;
}

interface ProofAnswer {
  what: string;
  params: [Hex, Hex[], Hex];
  result: { storageProof: { key: Hex }[] };
}

interface StorageJson {
  header: { stateRoot: Hex };
  rollup: { address: Hex; rows: StorageRow[] };
  messageService: { rows: StorageRow[] };
  proofs: ProofAnswer[];
  zeroLeaves: (ProofAnswer & { header: { stateRoot: Hex } })[];
}

/** The slot of a datum of the rollup by the rules of `src`; undefined where those have none. */
function ruledSlot(contract: RollupContract, { datum, key = '0' }: StorageRow): Uint8Array | undefined {
  const root = new Uint8Array(32);
  const claim = () => messageSlots(contract, { root, nonce: 0n });
  const forced = () => forcedTransactionSlots([BigInt(key)]);
  switch (datum) {
    case 'rate limit: limit':
      return claim()[0];
    case 'rate limit: end of the period':
      return claim()[1];
    case 'rate limit: used':
      return claim()[2];
    case 'pause bits':
      return claim()[3];
    case 'l2MerkleRootsDepths':
      return messageSlots(contract, { root: hexToBytes(key), nonce: 0n })[4];
    case 'claimed bits':
      return messageSlots(contract, { root, nonce: BigInt(key) << 8n })[5];
    case 'currentL2BlockNumber':
      return anchorSlots(contract, 0)[0];
    case 'stateRootHashes':
      return stateRootSlot(contract, Number(key));
    case 'currentFinalizedState':
      return forced()[0];
    case 'nextForcedTransactionNumber':
      return forced()[1];
    case 'forcedTransactionFeeInWei':
      return forced()[2];
    case 'forced: deadline':
      return forced()[3];
    case 'forced: rolling hash':
      return forced()[4];
    default:
      return undefined;
  }
}

/** Slots and what they hold, proofs of them, and the state of a claim by a proof. */
async function storage(material: Material, report: Report): Promise<void> {
  const { header, rollup, messageService, proofs, zeroLeaves } = material.json<StorageJson>(STORAGE);
  const contract = rollupAt(rollup.address);
  const of = (datum: string) => rollup.rows.filter((row) => row.datum === datum);
  const places = { rollup: rollup.rows, 'message service': messageService.rows };
  for (const [place, rows] of Object.entries(places))
    for (const row of rows)
      await report.check(`slot of ${place}: ${row.datum} ${row.key ?? ''}`, () => {
        const formula = row.key === undefined ? bytesToHex(word(row.slot)) : entrySlot(row.key, row.slot);
        const ruled = place === 'rollup' ? ruledSlot(contract, row) : undefined;
        return differs([row.storageKey, row.storageKey], [formula, ruled === undefined ? formula : bytesToHex(ruled)]);
      });
  if (material.has(ROLLING)) await storedHashes(material.json<RollingJson>(ROLLING), places, report);
  const values = new Map(rollup.rows.map(({ storageKey, value }) => [storageKey, value]));
  // A leaf of value zero is no false answer: what it proves is zero.
  for (const { what, params, result, stateRoot } of [
    ...proofs.map((one) => ({ ...one, stateRoot: header.stateRoot })),
    ...zeroLeaves.map((one) => ({ ...one, stateRoot: one.header.stateRoot })),
  ])
    await report.check(`eth_getProof: ${what}`, () => {
      const [address, keys] = params;
      const storageKeys = keys.map((key) => hexToBytes(key));
      const request = { address: hexToBytes(address), storageKeys, stateRoot: hexToBytes(stateRoot) };
      const proof = verifyEthereumProof(request, result);
      if (!proof.verified) return `refused: ${proof.reason} at ${proof.at}, ${proof.message}`;
      const expected = keys.map((key) => (address === rollup.address ? values.get(key) : NONE));
      return differs(
        [proof.account !== undefined, proof.slots.map(({ value }) => bytesToHex(value))],
        [what !== 'an account that does not exist', expected],
      );
    });
  const first = proofs[0]!;
  const roots = of('l2MerkleRootsDepths').map(({ key }) => hexToBytes(key as Hex));
  const question = roots
    .map((root) => ({ root, nonce: 1n }))
    .find((one) => first.params[1].includes(bytesToHex(messageSlots(contract, one)[4]!)))!;
  const request = { ...question, rollup: contract, l1StateRoot: hexToBytes(header.stateRoot) };
  await report.check('what decides about a claim, proved', () => {
    const slots = messageSlots(contract, question).map((slot) => bytesToHex(slot));
    const verdict = verifyClaimState(request, first.result);
    if (!verdict.verified) return verdict.message;
    const value = (datum: string) => BigInt(of(datum)[0]!.value);
    const expected = [value('rate limit: limit'), value('rate limit: end of the period'), value('rate limit: used')];
    const { rateLimit, pauseBits, depth } = verdict;
    return differs(
      [slots, rateLimit.limit, rateLimit.periodEnd, rateLimit.used, pauseBits, depth],
      [first.params[1], ...expected, value('pause bits'), 5n],
    );
  });
  for (const member of ['balance', 'storageHash'] as const)
    await report.check(`the same with another ${member} is refused`, () => {
      const changed = { ...(first.result as object), [member]: `0x${'12'.repeat(member === 'balance' ? 4 : 32)}` };
      return differs(verifyClaimState(request, changed).verified, false);
    });
  if (material.has(FORCED)) await finalizedState(material, contract, report);
}

/** The rows that the messages to layer 2 lead to. */
async function storedHashes(
  { steps, statuses, anchorings: all }: RollingJson,
  places: Record<string, StorageRow[]>,
  report: Report,
) {
  const statusOf = new Map(statuses.map(([number, status]) => [steps[number - 1]!.hash as string, status]));
  const ends = new Map(all.map(({ finalMessageNumber, finalRollingHash }) => [finalMessageNumber, finalRollingHash]));
  const expected: Record<string, (key: string) => string> = {
    rollingHashes: (key) => steps[Number(key) - 1]?.next ?? NONE,
    l1RollingHashes: (key) => ends.get(Number(key)) ?? NONE,
    inboxL1L2MessageStatus: (key) => bytesToHex(word(statusOf.get(key) ?? UNKNOWN)),
    lastAnchoredL1MessageNumber: () => bytesToHex(word(all.at(-1)!.finalMessageNumber)),
  };
  for (const [place, rows] of Object.entries(places))
    for (const { datum, key = '', value } of rows.filter((row) => row.datum in expected))
      await report.check(`value of ${place}: ${datum} ${key}`, () => differs(value, expected[datum]!(key)));
}

/** The finalized state against the proved slot, with what is stored of forced transactions; and changes of it. */
async function finalizedState(material: Material, contract: RollupContract, report: Report): Promise<void> {
  const { header, rollup, proofs } = material.json<StorageJson>(STORAGE);
  const { forced, finalizedStates, parameters } = material.json<ForcedFile>(FORCED);
  const { result } = proofs.find(({ what }) => what === 'forced transactions and the finalized state')!;
  const numbers = rollup.rows.filter(({ datum }) => datum === 'forced: deadline').map(({ key }) => BigInt(key!));
  // The recorded answer has the slots of a claim as well, and in another order.
  const slots = forcedTransactionSlots(numbers).map((slot) => bytesToHex(slot));
  const answer = { ...result, storageProof: slots.map((slot) => result.storageProof.find(({ key }) => key === slot)) };
  const lastFinalizedState = finalizedStateOf(finalizedStates.at(-1)!);
  const l1StateRoot = hexToBytes(header.stateRoot);
  const request = { l1StateRoot, rollup: contract, lastFinalizedState, numbers };
  await report.check('finalized state, proved', () => {
    const verdict = verifyFinalizedState(request, answer);
    if (!verdict.verified) return `refused: ${verdict.reason} at ${verdict.at}, ${verdict.message}`;
    const stored = numbers.map((number) => forced[Number(number) - 1]);
    return differs(
      [
        verdict.nextNumber,
        verdict.fee,
        verdict.transactions.map(({ deadline, rollingHash }) => [deadline, bytesToHex(rollingHash)]),
      ],
      [
        BigInt(forced.length) + 1n,
        BigInt(parameters.fee),
        stored.map((one) => [BigInt(one?.deadline ?? 0), one?.rollingHash ?? NONE]),
      ],
    );
  });
  const others: Partial<Record<keyof LastFinalizedState, bigint | Uint8Array>>[] = [
    { timestamp: lastFinalizedState.timestamp + 1n },
    { messageNumber: lastFinalizedState.messageNumber + 1n },
    { forcedTransactionNumber: lastFinalizedState.forcedTransactionNumber - 1n },
    { messageRollingHash: new Uint8Array(32) },
    { forcedTransactionRollingHash: new Uint8Array(32) },
  ];
  for (const change of others)
    await report.check(`finalized state with another ${Object.keys(change)[0]} is refused`, () => {
      const changed = { ...request, lastFinalizedState: { ...lastFinalizedState, ...change } as LastFinalizedState };
      const verdict = verifyFinalizedState(changed, answer);
      return differs('STATE_MISMATCH', verdict.verified ? 'accepted' : verdict.reason);
    });
}

interface TreeAnswer {
  accountProof: { key: Hex; proof: { value: Hex; proofRelatedNodes: Hex[] } };
  storageProofs: { key: Hex; proof: { value: Hex; proofRelatedNodes: Hex[] } }[];
}

/** Vectors that the production contracts for hashes and for proofs of the zk state are tested with. */
async function vectors(material: Material, report: Report): Promise<void> {
  const { mimc, poseidon2 } = await loadHashKernel({ build: material.build });
  if (material.has(VECTORS.mimc))
    for (const [i, row] of material.json<{ in: Hex[]; out: Hex }[]>(VECTORS.mimc).entries())
      await report.check(`Mimc.sol ${i}`, () =>
        differs(row.out, bytesToHex(mimc.hash(concatBytes(...row.in.map((item) => hexToBytes(item)))))),
      );
  if (material.has(VECTORS.poseidon2))
    for (const [i, row] of material.json<{ in: Hex; out: Hex }[]>(VECTORS.poseidon2).entries())
      await report.check(`Poseidon2.sol ${i}`, () => differs(row.out, bytesToHex(poseidon2.hash(hexToBytes(row.in)))));
  if (material.has(VECTORS.accountKeys))
    for (const { input, output } of material.json<{ input: Hex; output: Hex }[]>(VECTORS.accountKeys))
      await report.check(`key of account ${input}`, () =>
        differs(output, bytesToHex(hashAddress(poseidon2, hexToBytes(input)))),
      );
  if (!material.has(VECTORS.proof)) return;
  const answer = material.json<TreeAnswer>(VECTORS.proof);
  const [account, slot] = [answer.accountProof, answer.storageProofs[0]!];
  // The file has no root: it is the hash of the first node. That of the storage tree is in the account.
  const request = {
    address: hexToBytes(account.key),
    storageKeys: [hexToBytes(slot.key)],
    stateRoot: poseidon2.hash(hexToBytes(account.proof.proofRelatedNodes[0]!)),
  };
  await report.check('SparseMerkleProof.sol: account and slot', () => {
    const verdict = verifyLineaProof(poseidon2, request, answer);
    if (!verdict.verified) return `refused: ${verdict.reason} at ${verdict.at}, ${verdict.message}`;
    const compact = verdict.account && bytesToHex(encodeAccountValue(verdict.account));
    return differs([account.proof.value, slot.proof.value], [compact, bytesToHex(verdict.slots[0]!.value)]);
  });
  for (const [tree, item] of Object.entries({ account, slot }))
    for (const at of [1, 20, 41])
      await report.check(`SparseMerkleProof.sol: another node ${at} of the ${tree} is refused`, () => {
        const changed = structuredClone(item);
        const node = hexToBytes(changed.proof.proofRelatedNodes[at]!);
        // A bit of the last word, which stays canonical.
        node[node.length - 1]! ^= 1;
        changed.proof.proofRelatedNodes[at] = bytesToHex(node);
        const forged =
          tree === 'account' ? { ...answer, accountProof: changed } : { ...answer, storageProofs: [changed] };
        return differs(verifyLineaProof(poseidon2, request, forged).verified, false);
      });
}

const MESSAGE_SENT = '0xe856c2b8bd4eb0027ce32eeaf595c21b0b6b4644b326e5b7bd80a1cf8db72e6c';

/** Recorded logs of Linea's own chains: the hash of the event is that of its members. */
async function recorded(material: Material, report: Report): Promise<void> {
  for (const path of RECORDED.filter(material.has)) {
    const { blocksData } = material.json<{ blocksData: { bridgeLogs: { topics: Hex[]; data: Hex }[] }[] }>(path);
    const logs = blocksData.flatMap(({ bridgeLogs }) => bridgeLogs).filter(({ topics }) => topics[0] === MESSAGE_SENT);
    for (const { topics, data } of logs) {
      const words = hexToBytes(data);
      const at = (i: number) => words.subarray(32 * i, 32 * i + 32);
      const number = (i: number) => BigInt(bytesToHex(at(i)));
      const length = Number(number(4));
      const [, from, to, hash] = topics.map((topic) => hexToBytes(topic));
      await report.check(`recorded message ${bytesToHex(hash!)}`, () => {
        const message = {
          from: from!.subarray(12),
          to: to!.subarray(12),
          fee: number(0),
          value: number(1),
          nonce: number(2),
          data: words.slice(160, 160 + length),
        };
        return equalBytes(hashMessage(message), hash!) ? undefined : `its hash is ${bytesToHex(hashMessage(message))}`;
      });
    }
  }
}

/** Messages between the layers: hashes, trees, claims, and the verdicts of the production contract. */
export const messagesArea: Area = {
  name: 'messages',
  usesKernel: true,
  isOutside: true,
  files: (material) =>
    [TREES, FORGERIES, ROLLING, STORAGE, FORCED, HISTORY, ...Object.values(VECTORS), ...RECORDED].filter(material.has),
  async run(material, report) {
    if (material.has(TREES)) {
      await trees(material, report);
      await everyLeaf(material, report);
      await made(material, report);
    }
    if (material.has(FORGERIES)) {
      const judged = await forgeries(material, report);
      report.note(`${judged} forgeries refused with the error of the contract, ${MADE} more with that of their kind`);
      await report.check('forgeries enough', () => {
        const refused = judged + MADE;
        return refused < REFUSED_AT_LEAST ? `${refused} are refused, not ${REFUSED_AT_LEAST}` : undefined;
      });
    }
    if (material.has(ROLLING)) await rolling(material, report);
    if (material.has(STORAGE)) await storage(material, report);
    if (material.has(FORCED)) {
      const steps = material.has(ROLLING) ? material.json<RollingJson>(ROLLING).steps : undefined;
      await forcedTransactions(material, report, steps && ((number) => steps[number - 1]?.next ?? NONE));
    }
    await vectors(material, report);
    await recorded(material, report);
    if (material.has(HISTORY))
      report.skip(
        HISTORY,
        'it has numbers and rolling hashes alone: without the messages between them none can be computed',
      );
  },
};
