import { beforeAll, describe, expect, test } from 'vitest';
import {
  asJson,
  type BodyVector,
  block,
  branch,
  EPOCH,
  executionOf,
  FORK,
  headerOfBody,
  inGloas,
  network,
  SLOT,
  update,
  upgraded,
  word,
} from '../../../conformance/gloas-chain.js';
import { simulatedCommittee } from '../../../src/chain/devnet/layer-one/simulated-beacon.js';
import {
  beaconBlockHeader,
  containersOf,
  type GloasLightClientHeader,
  isValidLightClientHeader,
  layerOneBlock,
  objectFrom,
  type PayloadLightClientHeader,
  stateIndices,
} from '../../../src/consensus/containers.js';
import { judgeConsensus } from '../../../src/consensus/judge-consensus.js';
import { toJson } from '../../../src/consensus/ssz.js';
import { storeFromBytes, storeToBytes } from '../../../src/consensus/stored.js';
import { beaconNetwork, beaconNetworkOf } from '../../../src/networks/beacon-networks.js';
import { ZERO_WORD } from '../../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../../src/primitives/hex.js';
import { fixtureJson } from '../../support/fixtures.js';

const first = block(SLOT - 20, 1);
const lastFulu = block(SLOT - 9, 2, first);
/** Proves the payload of the last block before the fork. */
const firstGloas = block(SLOT + 2, 2, lastFulu);
const gloas = block(SLOT + 10, 3, firstGloas);
const later = block(SLOT + 19, 4, gloas);

/** The first block of Gloas as a trusted one. */
const trustedGloas = {
  root: beaconBlockHeader.hashTreeRoot(firstGloas.header.beacon),
  data: {
    header: firstGloas.header,
    currentSyncCommittee: simulatedCommittee(Math.floor((SLOT + 2) / 64)).committee,
    currentSyncCommitteeBranch: branch(firstGloas.state, 2945),
  },
};

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
  const { body } = fixtureJson<{ body: BodyVector }>('consensus/glamsterdam.json');
  const siblings = body.executionBranch.map((sibling) => hexToBytes(sibling));
  const header = headerOfBody(body);

  test('proves the hash of the payload before it, and no other', () => {
    expect(isValidLightClientHeader(network, header)).toBe(true);
    expect(isValidLightClientHeader(network, { ...header, executionBlockHash: hexToBytes(body.ownBlockHash) })).toBe(
      false,
    );
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
    const { root: trusted, data } = trustedGloas;
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
    const before = beaconNetworkOf('simulated');
    const bytes = containersOf('gloas', 32).finalityUpdate.encode(good.data as never);
    for (const answer of [asJson(good), bytes]) {
      await expect(judged([answer], { root, bootstrap }, before)).rejects.toMatchObject({
        code: 'FORK_UNSUPPORTED',
        details: { fork: FORK },
      });
    }
  });

  describe('is neither true nor false with a schedule that moved', () => {
    const begins = (epoch: number) => beaconNetwork('simulated', { gloas: epoch });
    const lateFulu = update(block(SLOT - 4, 2, first), first);
    const movedFrom = (slot: number) => ({
      code: 'FORK_SCHEDULE',
      details: { network: 'simulated', fork: FORK, slot },
    });

    test.each([
      ['Gloas came before its epoch', good, EPOCH + 20, SLOT + 2],
      ['Gloas did not come in its epoch', lateFulu, EPOCH - 1, SLOT - 4],
    ] as const)('%s', async (_, { data, version }, epoch, slot) => {
      const bytes = containersOf(version === FORK ? 'gloas' : 'electra', 32).finalityUpdate.encode(data as never);
      for (const answer of [asJson({ data, version }), bytes])
        await expect(judged([answer], { root, bootstrap }, begins(epoch))).rejects.toMatchObject(movedFrom(slot));
      // Also after an update that holds.
      const older = asJson(update(block(SLOT - 12, 2, first), first));
      await expect(
        judged([older, asJson({ data, version })], { root, bootstrap }, begins(epoch)),
      ).rejects.toMatchObject(movedFrom(slot));
    });

    test('a trusted block', async () => {
      const from = { root: trustedGloas.root, bootstrap: { version: FORK, data: toJson(trustedGloas.data) } };
      await expect(judged([], from, begins(EPOCH + 20))).rejects.toMatchObject(movedFrom(SLOT + 2));
    });

    test('but false if its signature holds under neither', async () => {
      const { syncAggregate } = update(later, gloas).data;
      const forged = asJson(update(firstGloas, lastFulu, { syncAggregate }));
      expect(await judged([forged], { root, bootstrap }, begins(EPOCH + 20))).toMatchObject({
        reason: 'VERSION_MISMATCH',
      });
      expect(await judged([forged], { root, bootstrap })).toMatchObject({ reason: 'SIGNATURE' });
    });
  });

  test('bytes of another length', async () => {
    const bytes = containersOf('gloas', 32).finalityUpdate.encode(good.data as never);
    for (const wrong of [bytes.subarray(1), new Uint8Array([...bytes, 0])])
      await expect(judged([wrong], { state })).rejects.toMatchObject({
        code: expect.stringMatching(/PROOF_MALFORMED|FORK_UNSUPPORTED/),
      });
  });
});
