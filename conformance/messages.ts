import type { PlumblineError } from '../src/errors.js';
import { keccak256 } from '../src/kernel/keccak.js';
import type { RollupContract } from '../src/networks/network.js';
import { concatBytes, equalBytes } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import {
  type BridgeMessage,
  type ClaimState,
  claimCalldata,
  claimRefusal,
  hashMessage,
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

const [TREES, FORGERIES, ROLLING, STORAGE] = ['trees', 'forgeries', 'rolling-hash', 'storage'].map(
  (name) => `messages/${name}.json`,
) as [string, string, string, string];
const RECORDED = ['messages/bridge/prover-v2/logs.json', 'messages/bridge/recorded-sepolia/logs.json'];
const DEPTHS_SLOT = 336n;
const CLAIMED_SLOT = 335n;
/** Forgeries beside those that the contract judged. */
const MADE = 1_700;

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

/** The verdicts of the contract. What the recipient of a call does, slots do not say. */
async function forgeries(material: Material, report: Report): Promise<void> {
  const { forgeries: all, verifierOnly } = material.json<ForgeriesJson>(FORGERIES);
  for (const { id, kind, what, params, state, verdict } of all) {
    const name = `forgery ${id}, ${kind}: ${what}`;
    if (params == null || kind === 'calldata') {
      report.skip(name, 'it is in the bytes of the calldata alone, which are made here and not read');
      continue;
    }
    await report.check(name, () => {
      const message = messageOf(params);
      const siblings = params.siblings.map((one) => hexToBytes(one));
      const claim = { message, siblings, leafIndex: params.leafIndex, root: hexToBytes(params.root) };
      const refusal = claimRefusal(claim, stateOf(state, message.nonce), BigInt(state.timestamp));
      // No uint32: the call reverts before the contract's own checks, and no calldata is made.
      if (verdict.error === null) return differs(claimCalldataOf(claim), 'OUT_OF_RANGE');
      if (kind === 'call' && what !== 'rollup without ether') return differs(refusal ?? 'slots allow', 'slots allow');
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

/** More of the same kinds, over the proofs that the contract's verifier took. */
async function made(material: Material, report: Report): Promise<void> {
  const random = seededRandom(38);
  const { finalizations } = material.json<TreesJson>(TREES);
  const proofs = finalizations.flatMap(({ depth, messages, proofs: list }) =>
    list.filter(() => depth > 0 && depth <= 32).map((proof) => ({ depth, message: messages[proof.leaf]!, proof })),
  );
  const rich = 10n ** 30n;
  for (let i = 0; i < MADE; i++) {
    const { depth, message, proof } = proofs[random(proofs.length)]!;
    const [what, error, change] = CHANGES[i % CHANGES.length]!;
    const claim: MessageClaim = {
      message: messageOf(message),
      siblings: proof.siblings.map((one) => hexToBytes(one)),
      leafIndex: proof.leafIndex,
      root: hexToBytes(proof.root),
    };
    const rateLimit = { limit: rich, periodEnd: 10n, used: 0n };
    const state = { depth: BigInt(depth), isClaimed: false, pauseBits: 0n, rateLimit, balance: rich };
    await report.check(`made ${i}, ${what}`, () => {
      const untouched = claimRefusal(claim, state, 5n);
      const refusal = claimRefusal(change(claim, random), state, 5n);
      return differs([untouched ?? 'slots allow', refusal], ['slots allow', error]);
    });
  }
}

interface RollingJson {
  steps: { number: number; hash: Hex; previous: Hex; next: Hex; slot: Hex }[];
}

async function rolling(material: Material, report: Report): Promise<void> {
  const { steps } = material.json<RollingJson & { steps: MessageJson[] }>(ROLLING);
  for (const step of steps as unknown as (MessageJson & RollingJson['steps'][number])[]) {
    await report.check(`message ${step.number} of layer 1`, () =>
      differs(bytesToHex(hashMessage(messageOf({ ...step, nonce: `${step.number}` }))), step.hash),
    );
    await report.check(`rolling hash ${step.number}`, () =>
      differs(bytesToHex(rollingHash(hexToBytes(step.previous), hexToBytes(step.hash))), step.next),
    );
  }
}

interface StorageJson {
  header: { stateRoot: Hex };
  rollup: { address: Hex; rows: { datum: string; key?: string; storageKey: Hex; value: Hex }[] };
  proofs: { what: string; params: [Hex, Hex[], Hex]; result: unknown }[];
}

/** Slots, and the state of a claim by a proof. */
async function storage(material: Material, report: Report): Promise<void> {
  const { header, rollup, proofs } = material.json<StorageJson>(STORAGE);
  const contract = rollupAt(rollup.address);
  const of = (datum: string) => rollup.rows.filter((row) => row.datum === datum);
  for (const { key, storageKey } of of('l2MerkleRootsDepths'))
    await report.check(`slot of root ${key}`, () =>
      differs(bytesToHex(messageSlots(contract, { root: hexToBytes(key as Hex), nonce: 0n })[4]!), storageKey),
    );
  for (const { key, storageKey } of of('claimed bits'))
    await report.check(`claimed word ${key}`, () => {
      const nonce = BigInt(key!) << 8n;
      return differs(bytesToHex(messageSlots(contract, { root: new Uint8Array(32), nonce })[5]!), storageKey);
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
  files: (material) => [TREES, FORGERIES, ROLLING, STORAGE, ...RECORDED].filter(material.has),
  async run(material, report) {
    if (material.has(TREES)) {
      await trees(material, report);
      await made(material, report);
    }
    if (material.has(FORGERIES)) await forgeries(material, report);
    if (material.has(ROLLING)) await rolling(material, report);
    if (material.has(STORAGE)) await storage(material, report);
    await recorded(material, report);
    report.note('forced transactions and the vectors of the contracts for Poseidon2 and MiMC are not read yet');
  },
};
