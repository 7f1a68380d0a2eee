import { beforeAll, describe, expect, test } from 'vitest';
import { signAsCommittee, simulatedCommittee } from '../../../src/chain/devnet/layer-one/simulated-beacon.js';
import type { BeaconNetwork } from '../../../src/consensus/beacon-network.js';
import { SIMULATED_BEACON } from '../../../src/consensus/beacon-networks.js';
import {
  beaconBlockHeader,
  computeSigningRoot,
  containersOf,
  denebExecutionHeader,
  type ExecutionPayloadHeader,
  type GloasLightClientHeader,
  isValidLightClientHeader,
  type LightClientHeader,
  layerOneBlock,
  objectFrom,
  type PayloadLightClientHeader,
  stateIndices,
} from '../../../src/consensus/containers.js';
import { judgeConsensus } from '../../../src/consensus/judge-consensus.js';
import { hashPair, toJson } from '../../../src/consensus/ssz.js';
import { storeFromBytes, storeToBytes } from '../../../src/consensus/stored.js';
import { ZERO_WORD } from '../../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../../src/primitives/hex.js';

/*
 * The light client across the fork to Gloas. Indices, lengths and the vector of a body are those of docs/spec/glamsterdam.md 3, 4 and 6,
 * computed with @lodestar/types 1.50.0; the chain is forged with trees of its own, in which everything but the leaves is zero.
 */

const FORK = 'gloas';
/** Epoch of Gloas in the chain of this test, in the middle of period 20. */
const EPOCH = 164;
const network: BeaconNetwork = {
  ...SIMULATED_BEACON,
  forks: [...SIMULATED_BEACON.forks, { name: FORK, epoch: EPOCH, version: '0x06e70400' }],
};
const SLOT = 8 * EPOCH;
const word = (byte: number) => new Uint8Array(32).fill(byte);

/** Nodes of a tree by generalized index. */
type Tree = Map<number, Uint8Array>;
const isAbove = (gindex: number, below: number): boolean =>
  below >= gindex && (below === gindex || isAbove(gindex, below >> 1));
function node(tree: Tree, gindex: number): Uint8Array {
  const leaf = tree.get(gindex);
  if (leaf !== undefined) return leaf;
  if (![...tree.keys()].some((below) => isAbove(gindex, below))) return ZERO_WORD;
  return hashPair(node(tree, 2 * gindex), node(tree, 2 * gindex + 1));
}
function branch(tree: Tree, gindex: number, length = Math.floor(Math.log2(gindex))): Uint8Array[] {
  const siblings: Uint8Array[] = [];
  for (let at = gindex; at > 1; at >>= 1) siblings.push(node(tree, at ^ 1));
  return [...Array.from({ length: length - siblings.length }, () => ZERO_WORD), ...siblings];
}

/** Generalized index of `block_hash` in an execution header of 17 members. */
const BLOCK_HASH = 44;
const EXECUTION = 25;

/** The execution header as a tree over the roots of its members, which are written apart from the library's container. */
function executionTree(execution: ExecutionPayloadHeader): Tree {
  const {
    parentHash,
    feeRecipient,
    stateRoot,
    receiptsRoot,
    prevRandao,
    blockHash,
    transactionsRoot,
    withdrawalsRoot,
  } = execution;
  const number = (value: bigint) => Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
  const address = new Uint8Array(32);
  address.set(feeRecipient);
  const zeros = (depth: number): Uint8Array => (depth === 0 ? ZERO_WORD : hashPair(zeros(depth - 1), zeros(depth - 1)));
  const leaves = [
    ...[parentHash, address, stateRoot, receiptsRoot, zeros(3), prevRandao],
    ...[execution.blockNumber, execution.gasLimit, execution.gasUsed, execution.timestamp].map(number),
    ...[hashPair(ZERO_WORD, ZERO_WORD), number(execution.baseFeePerGas), blockHash, transactionsRoot, withdrawalsRoot],
    ...[execution.blobGasUsed, execution.excessBlobGas].map(number),
  ];
  const tree: Tree = new Map();
  for (let i = 0; i < 32; i++) tree.set(32 + i, leaves[i] ?? ZERO_WORD);
  return tree;
}

const executionOf = (number: number): ExecutionPayloadHeader => ({
  ...{ parentHash: word(1), feeRecipient: new Uint8Array(20).fill(2), stateRoot: word(number), receiptsRoot: word(4) },
  ...{ logsBloom: new Uint8Array(256), prevRandao: word(5), blockNumber: BigInt(number), gasLimit: 30n, gasUsed: 20n },
  ...{ timestamp: 9n, extraData: new Uint8Array(), baseFeePerGas: 7n, blockHash: word(0x40 + number) },
  ...{ transactionsRoot: word(6), withdrawalsRoot: word(7), blobGasUsed: 0n, excessBlobGas: 0n },
});

interface Block {
  readonly header: LightClientHeader;
  readonly state: Tree;
}

/** A block whose state names another as final. @param payload - number of its payload, after the fork of the newest before it */
function block(slot: number, payload: number, final?: Block): Block {
  const isNew = slot >= SLOT;
  const indices = stateIndices(isNew ? 'gloas' : 'electra');
  const period = Math.floor(slot / 64);
  const state: Tree = new Map([
    [indices.currentSyncCommittee, simulatedCommittee(period).root],
    [indices.nextSyncCommittee, simulatedCommittee(period + 1).root],
    [indices.finalizedRoot, final === undefined ? ZERO_WORD : beaconBlockHeader.hashTreeRoot(final.header.beacon)],
  ]);
  const execution = executionOf(payload);
  const body: Tree = isNew
    ? new Map([
        [2856, execution.blockHash],
        [22857, word(0x88)],
      ])
    : new Map([[EXECUTION, denebExecutionHeader.hashTreeRoot(execution)]]);
  const beacon = {
    ...{ slot: BigInt(slot), proposerIndex: 0n, parentRoot: word(3) },
    ...{ stateRoot: node(state, 1), bodyRoot: node(body, 1) },
  };
  const header = isNew
    ? { beacon, executionBlockHash: execution.blockHash, executionBranch: branch(body, 2856) }
    : { beacon, execution, executionBranch: branch(body, EXECUTION) };
  return { header, state };
}

/** A header before Gloas as containers of Gloas have it. */
function upgraded({ beacon, execution, executionBranch }: PayloadLightClientHeader): GloasLightClientHeader {
  const inside = branch(executionTree(execution), BLOCK_HASH);
  const siblings = [...inside, ...executionBranch];
  const surplus = Array.from({ length: 11 - siblings.length }, () => ZERO_WORD);
  return { beacon, executionBlockHash: execution.blockHash, executionBranch: [...surplus, ...siblings] };
}
const inGloas = (header: LightClientHeader) => ('execution' in header ? upgraded(header) : header);

/** A finality update of a block, in the container of the block's fork. */
function update(attested: Block, final: Block, changes: object = {}, version?: string) {
  const slot = Number(attested.header.beacon.slot);
  const isNew = slot >= SLOT;
  const bits = new Uint8Array(4).fill(0xff);
  const message = computeSigningRoot(network, attested.header.beacon, slot + 1);
  return {
    version: version ?? (isNew ? FORK : 'fulu'),
    data: {
      attestedHeader: attested.header,
      finalizedHeader: isNew ? inGloas(final.header) : final.header,
      finalityBranch: branch(attested.state, stateIndices(isNew ? 'gloas' : 'electra').finalizedRoot),
      syncAggregate: {
        syncCommitteeBits: bits,
        syncCommitteeSignature: signAsCommittee(Math.floor((slot + 1) / 64), bits, message),
      },
      signatureSlot: BigInt(slot + 1),
      ...changes,
    },
  };
}
const asJson = ({ version, data }: ReturnType<typeof update>) => ({ version, data: toJson(data) });

const first = block(SLOT - 20, 1);
const lastFulu = block(SLOT - 9, 2, first);
/** Proves the payload of the last block before the fork. */
const firstGloas = block(SLOT + 2, 2, lastFulu);
const gloas = block(SLOT + 10, 3, firstGloas);
const later = block(SLOT + 19, 4, gloas);

const now = (network.genesisTime + SLOT + 30) * 1000;
const bootstrap = {
  version: 'fulu',
  data: toJson({
    header: first.header,
    currentSyncCommittee: simulatedCommittee(Math.floor((SLOT - 20) / 64)).committee,
    currentSyncCommitteeBranch: branch(first.state, stateIndices('electra').currentSyncCommittee),
  }),
};
const root = beaconBlockHeader.hashTreeRoot(first.header.beacon);
const judged = (
  answers: readonly unknown[],
  from: Parameters<typeof judgeConsensus>[0]['from'] = { root, bootstrap },
  on = network,
) =>
  judgeConsensus({
    ...{ network: on, from, now },
    answers: answers.map((answer) => ({ kind: 'finality_update' as const, answer })),
  });

describe('a body of Gloas', () => {
  /** docs/spec/glamsterdam.md 6. */
  const [ones, zeros] = [`ff0f${'00'.repeat(30)}`, '00'.repeat(32)];
  const twice = 'db56114e00fdd4c1f85c892bf35ac9a89289aaecb1ebd0a96cde606a748b5d71';
  const siblings = [
    'ddef4d0b197ba0ee1a0bdbad26e30c0bb04876f24e4c071f9070e707c19e280e',
    ...[ones, twice],
    'f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b',
    'ecd4a878b6c7bcf6438295bf67c723ab129332cad5125f5c8de575a63aa3a826',
    'b800f6d30c70ce6180844e10dd0b5afb231f6d078162aec63314b8f55e070ecc',
    'c78009fdf07fc56a11f122370658a353aaa542ed63e44c4bc15ff4cd105ab33c',
    zeros,
    'c5cc8f4af31540d91b722421dfa2cbda6d27c84238c58c43240ba99a9703a794',
    ...[twice, `ff1f${'00'.repeat(30)}`],
  ].map((text) => hexToBytes(`0x${text}`));
  const bodyRoot = hexToBytes('0x4c9efcc86dcfa910bf7dbc149d49223b3bebad633ed768deebb14e414a118313');
  const header: GloasLightClientHeader = {
    beacon: { ...gloas.header.beacon, bodyRoot },
    executionBlockHash: word(0x77),
    executionBranch: siblings,
  };

  test('proves the hash of the payload before it, and no other', () => {
    expect(isValidLightClientHeader(network, header)).toBe(true);
    expect(isValidLightClientHeader(network, { ...header, executionBlockHash: word(0x88) })).toBe(false);
    for (let i = 0; i < 11; i++) {
      const executionBranch = siblings.map((sibling, k) => (k === i ? sibling.with(31, sibling[31]! ^ 1) : sibling));
      expect(isValidLightClientHeader(network, { ...header, executionBranch })).toBe(false);
    }
    // The eighth sibling is zero, and no surplus.
    const shorter = { ...header, executionBranch: siblings.filter((_, i) => i !== 7) };
    expect(isValidLightClientHeader(network, shorter)).toBe(false);
  });

  test('is not read as one of another fork', () => {
    const earlier = { ...header, beacon: { ...header.beacon, slot: BigInt(SLOT - 1) } };
    expect(isValidLightClientHeader(network, earlier)).toBe(false);
    expect(
      isValidLightClientHeader(network, { ...(first.header as PayloadLightClientHeader), beacon: header.beacon }),
    ).toBe(false);
  });
});

test.each([
  ['mainnet', 512, { bootstrap: 25_472, update: 26_424, finalityUpdate: 1_448, optimisticUpdate: 664 }],
  ['minimal', 32, { bootstrap: 2_432, update: 3_324, finalityUpdate: 1_388, optimisticUpdate: 604 }],
] as const)('containers of the %s preset have a fixed size', (_, size, sizes) => {
  const containers = containersOf('gloas', size);
  expect(Object.fromEntries(Object.entries(containers).map(([kind, type]) => [kind, type.size]))).toEqual(sizes);
});

describe('a client across the fork', () => {
  const steps = [
    update(lastFulu, first),
    update(firstGloas, lastFulu),
    update(gloas, firstGloas),
    update(later, gloas),
  ];

  test.each([
    ['JSON', asJson],
    [
      'SSZ',
      ({ version, data }: ReturnType<typeof update>) => {
        const { finalityUpdate } = containersOf(version === FORK ? 'gloas' : 'electra', 32);
        return finalityUpdate.encode(data as never);
      },
    ],
  ] as const)('follows in %s, and its store is read again at each step', async (_, shown) => {
    let from: Parameters<typeof judgeConsensus>[0]['from'] = { root, bootstrap };
    const proved: unknown[] = [];
    for (const step of steps) {
      const verdict = await judged([shown(step)], from);
      if (!verdict.verified) throw new Error(`${verdict.reason} ${verdict.at} ${verdict.message}`);
      const { slot, blockHash, number, stateRoot } = verdict.finalized;
      proved.push([slot, bytesToHex(blockHash), number, stateRoot && bytesToHex(stateRoot)]);
      expect(storeToBytes(network, storeFromBytes(network, verdict.state))).toEqual(verdict.state);
      from = { state: verdict.state };
    }
    const hash = (payload: number) => bytesToHex(executionOf(payload).blockHash);
    expect(proved).toEqual([
      [SLOT - 20, hash(1), 1, bytesToHex(word(1))],
      // In a container of Gloas a header has a hash alone. The first block of Gloas proves the last payload before.
      [SLOT - 9, hash(2), undefined, undefined],
      [SLOT + 2, hash(2), undefined, undefined],
      [SLOT + 10, hash(3), undefined, undefined],
    ]);
  });

  test('all at once', async () => {
    expect(await judged(steps.map(asJson))).toMatchObject({ verified: true, finalized: { slot: SLOT + 10 } });
  });

  test('a checkpoint after the fork begins a store', async () => {
    const data = {
      header: firstGloas.header,
      currentSyncCommittee: simulatedCommittee(Math.floor((SLOT + 2) / 64)).committee,
      currentSyncCommitteeBranch: branch(firstGloas.state, 2945),
    };
    const trusted = beaconBlockHeader.hashTreeRoot(firstGloas.header.beacon);
    const bytes = containersOf('gloas', 32).bootstrap.encode(data as never);
    for (const answer of [{ version: FORK, data: toJson(data) }, bytes]) {
      const verdict = await judged([asJson(steps[3]!)], { root: trusted, bootstrap: answer });
      expect(verdict).toMatchObject({ verified: true, finalized: { slot: SLOT + 10 } });
    }
    expect(layerOneBlock(network, objectFrom(network, 'bootstrap', bytes).data.header).number).toBeUndefined();
  });
});

describe('across the fork is refused', () => {
  let state: Uint8Array;
  beforeAll(async () => {
    const verdict = await judged([asJson(update(lastFulu, first))]);
    if (!verdict.verified) throw new Error(verdict.reason);
    state = verdict.state;
  });
  const good = update(firstGloas, lastFulu);
  const header = firstGloas.header as GloasLightClientHeader;
  const surplus = upgraded(lastFulu.header as PayloadLightClientHeader);
  const [, ...rest] = surplus.executionBranch;

  test.each([
    [
      'a branch at the index of the fork before',
      { finalityBranch: branch(firstGloas.state, 169, 9) },
      'FINALITY_BRANCH',
    ],
    ['another sibling', { finalityBranch: [...good.data.finalityBranch.slice(0, 8), word(1)] }, 'FINALITY_BRANCH'],
    [
      'a surplus that is not zero',
      { finalizedHeader: { ...surplus, executionBranch: [word(1), ...rest] } },
      'FINALIZED_EXECUTION_BRANCH',
    ],
    [
      'a surplus at the other end',
      { finalizedHeader: { ...surplus, executionBranch: [...rest.slice(1), ZERO_WORD, ZERO_WORD] } },
      'FINALIZED_EXECUTION_BRANCH',
    ],
    [
      'the hash of its own payload in place of the parent',
      { attestedHeader: { ...header, executionBlockHash: word(0x88) } },
      'ATTESTED_EXECUTION_BRANCH',
    ],
    ['the header of another block', { finalizedHeader: inGloas(first.header) }, 'FINALITY_BRANCH'],
    [
      'another hash of the final block',
      { finalizedHeader: { ...surplus, executionBlockHash: word(9) } },
      'FINALIZED_EXECUTION_BRANCH',
    ],
  ])('%s', async (_, changes, reason) => {
    const forged = update(firstGloas, lastFulu, changes);
    expect(await judged([asJson(forged)], { state })).toMatchObject({ verified: false, reason });
  });

  test('a version that is not of its members, either way', async () => {
    const fulu = update(block(SLOT - 2, 2, lastFulu), lastFulu);
    const cases = [
      update(firstGloas, lastFulu, {}, 'fulu'),
      { ...fulu, version: FORK },
      update(firstGloas, lastFulu, {}, 'deneb'),
    ];
    for (const one of cases)
      expect(await judged([asJson(one)], { state })).toMatchObject({ reason: 'VERSION_MISMATCH' });
    // A slot of another fork than the container.
    const early = { ...header, beacon: { ...header.beacon, slot: BigInt(SLOT - 1) } };
    expect(await judged([asJson(update(firstGloas, lastFulu, { attestedHeader: early }))], { state })).toMatchObject({
      reason: 'VERSION_MISMATCH',
    });
  });

  test('a fork whose epoch the profile does not have, in JSON and in SSZ', async () => {
    const before = { ...network, forks: SIMULATED_BEACON.forks };
    const bytes = containersOf('gloas', 32).finalityUpdate.encode(good.data as never);
    for (const answer of [asJson(good), bytes]) {
      await expect(judged([answer], { root, bootstrap }, before)).rejects.toMatchObject({
        code: 'FORK_UNSUPPORTED',
        details: { fork: FORK },
      });
    }
  });

  test('bytes of another length', async () => {
    const bytes = containersOf('gloas', 32).finalityUpdate.encode(good.data as never);
    for (const wrong of [bytes.subarray(1), new Uint8Array([...bytes, 0])])
      await expect(judged([wrong], { state })).rejects.toMatchObject({
        code: expect.stringMatching(/PROOF_MALFORMED|FORK_UNSUPPORTED/),
      });
  });
});
