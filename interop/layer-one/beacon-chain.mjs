// A beacon chain in one process that drives a real execution client by the engine API.
//
// State transition, SSZ types, light-client branches and the REST codec are Lodestar's (npm, 1.46.0).
// Block making, fork choice (the newest branch), light-client assembly and serving are ours.
// Every block passes stateTransition with all signatures, and the execution client's newPayload.
//
//   LODESTAR_PRESET=minimal node beacon-chain.mjs ENGINE REST_PORT GENESIS_TIME EXECUTION [FORKS] [SECONDS]
//
// ENGINE, EXECUTION  URLs of the execution client (engine API without a token; JSON-RPC)
// FORKS              JSON, epochs: {"deneb":2,"electra":4,"fulu":6}; Capella is at 0
// SECONDS            seconds of a slot (2). The execution genesis must name fork times that fit.
// SIGUSR2            leaves the two newest blocks, for others
// environment        SKIP=n leaves every n-th slot empty, DEBUG=1 prints stacks
//
// The packages hide some files behind "exports"; those are imported by path, so node_modules stands beside this file.

import { aggregateSignatures } from '@chainsafe/blst';
import { BitArray, fromHexString, toHexString } from '@chainsafe/ssz';
import { createBeaconConfig, createChainForkConfig } from '@lodestar/config';
import { minimalChainConfig } from '@lodestar/config/configs';
import * as params from '@lodestar/params';
import * as st from '@lodestar/state-transition';
import { isBetterUpdate, toLightClientUpdateSummary } from '@lodestar/state-transition/light-client';
import { ssz } from '@lodestar/types';
import fastify from 'fastify';
import { getDefinitions as blockDefs } from './node_modules/@lodestar/api/lib/beacon/routes/beacon/index.js';
import { getRoutes as lcRoutes } from './node_modules/@lodestar/api/lib/beacon/server/lightclient.js';
import { createFastifyRoutes } from './node_modules/@lodestar/api/lib/utils/server/index.js';
import {
  getBlockBodyExecutionHeaderProof,
  getCurrentSyncCommitteeBranch,
  getFinalizedRootProof,
  getNextSyncCommitteeBranch,
  getSyncCommitteesWitness,
} from './node_modules/@lodestar/state-transition/lib/lightClient/proofs.js';

const [, , engine, port, genesisTime, execution, forksJson = '{}', seconds = '2'] = process.argv;
const GT = Number(genesisTime);
const SPS = Number(seconds);
const forks = JSON.parse(forksJson);
const VALIDATORS = 64;
const INF = Infinity;
const chainConfig = {
  ...minimalChainConfig,
  PRESET_BASE: 'minimal',
  CONFIG_NAME: 'interop',
  SECONDS_PER_SLOT: SPS,
  SLOT_DURATION_MS: SPS * 1000,
  MIN_GENESIS_TIME: GT,
  GENESIS_DELAY: 0,
  TERMINAL_TOTAL_DIFFICULTY: 0n,
  ALTAIR_FORK_EPOCH: 0,
  BELLATRIX_FORK_EPOCH: 0,
  CAPELLA_FORK_EPOCH: 0,
  DENEB_FORK_EPOCH: forks.deneb ?? INF,
  ELECTRA_FORK_EPOCH: forks.electra ?? INF,
  FULU_FORK_EPOCH: forks.fulu ?? INF,
  GLOAS_FORK_EPOCH: INF,
  HEZE_FORK_EPOCH: INF,
};
const fc = createChainForkConfig(chainConfig);
const keys = st.interopSecretKeys(VALIDATORS);
const hex = toHexString;
const unhex = fromHexString;
const quantity = (n) => `0x${BigInt(n).toString(16)}`;
const rpc = async (url, method, p) => {
  const r = await (
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: p }),
    })
  ).json();
  if (r.error) throw new Error(`${method}: ${JSON.stringify(r.error).slice(0, 300)}`);
  return r.result;
};
// --- Genesis: interop validators over the execution client's block 0
const g = await rpc(execution, 'eth_getBlockByNumber', ['0x0', false]);
const gFork = fc.getForkName(0);
const elHash = g.hash;
const { getGenesisBeaconState } = await import('./node_modules/@lodestar/state-transition/lib/util/genesis.js');
const { getTemporaryBlockHeader } = await import('./node_modules/@lodestar/state-transition/lib/util/blockRoot.js');
const view = getGenesisBeaconState(
  fc,
  ssz.phase0.Eth1Data.defaultValue(),
  getTemporaryBlockHeader(fc, fc.getForkTypes(0).BeaconBlock.defaultValue()),
);
view.genesisTime = GT;
view.eth1Data = ssz.phase0.Eth1Data.toViewDU({
  depositRoot: new Uint8Array(32),
  depositCount: BigInt(VALIDATORS),
  blockHash: unhex(elHash),
});
view.eth1DepositIndex = VALIDATORS;
view.randaoMixes = ssz.phase0.RandaoMixes.toViewDU(
  Array.from({ length: params.EPOCHS_PER_HISTORICAL_VECTOR }, () => unhex(elHash)),
);
const cred = new Uint8Array(32);
cred[0] = 1;
cred.set(unhex('0x70997970C51812dc3A010C7d01b50e0d17dc79C8'), 12);
for (const k of keys) {
  view.validators.push(
    ssz.phase0.Validator.toViewDU({
      pubkey: k.toPublicKey().toBytes(),
      withdrawalCredentials: cred,
      effectiveBalance: 32e9,
      slashed: false,
      activationEligibilityEpoch: 0,
      activationEpoch: 0,
      exitEpoch: INF,
      withdrawableEpoch: INF,
    }),
  );
  view.balances.push(32e9);
  view.previousEpochParticipation.push(0);
  view.currentEpochParticipation.push(0);
  view.inactivityScores.push(0);
}
view.commit();
view.genesisValidatorsRoot = view.validators.hashTreeRoot();
const ephT = fc.getForkTypes(0).ExecutionPayloadHeader ?? ssz[gFork].ExecutionPayloadHeader;
const eph = {
  parentHash: unhex(g.parentHash),
  feeRecipient: unhex(g.miner),
  stateRoot: unhex(g.stateRoot),
  receiptsRoot: unhex(g.receiptsRoot),
  logsBloom: unhex(g.logsBloom),
  prevRandao: unhex(g.mixHash),
  blockNumber: 0,
  gasLimit: Number(g.gasLimit),
  gasUsed: 0,
  timestamp: Number(g.timestamp),
  extraData: unhex(g.extraData),
  baseFeePerGas: BigInt(g.baseFeePerGas),
  blockHash: unhex(g.hash),
  transactionsRoot: ssz.bellatrix.Transactions.hashTreeRoot([]),
  withdrawalsRoot: ssz.capella.Withdrawals.hashTreeRoot([]),
  blobGasUsed: 0n,
  excessBlobGas: 0n,
};
view.latestExecutionPayloadHeader = ephT.toViewDU(eph);
if (gFork !== 'capella' && gFork !== 'deneb') {
  view.depositRequestsStartIndex = params.UNSET_DEPOSIT_REQUESTS_START_INDEX;
}
view.fork = ssz.phase0.Fork.toViewDU({
  previousVersion: fc.forks[gFork].prevVersion ?? fc.forks[gFork].version,
  currentVersion: fc.forks[gFork].version,
  epoch: 0,
});
view.commit();
const config = createBeaconConfig(chainConfig, view.genesisValidatorsRoot);
const caches = () =>
  st.createEmptyEpochCacheImmutableData(chainConfig, { genesisValidatorsRoot: view.genesisValidatorsRoot });
// sync committees at genesis
let state = st.createCachedBeaconState(view, caches(), { skipSyncCommitteeCache: true });
const { getNextSyncCommittee } = await import('./node_modules/@lodestar/state-transition/lib/util/syncCommittee.js');
{
  const act = st.getActiveValidatorIndices(state, 0);
  const { syncCommittee } = getNextSyncCommittee(
    fc.getForkSeq(0),
    state,
    act,
    state.epochCtx.effectiveBalanceIncrements,
  );
  view.currentSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
  view.nextSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
  if (fc.getForkSeq(0) >= params.ForkSeq.fulu) {
    const { initializeProposerLookahead } = await import('./node_modules/@lodestar/state-transition/lib/util/fulu.js');
    view.proposerLookahead = ssz.fulu.ProposerLookahead.toViewDU(initializeProposerLookahead(state));
  }
  view.commit();
}
state = st.createCachedBeaconState(view, caches(), {});
console.log('genesis', gFork, 'validators root', hex(view.genesisValidatorsRoot), 'execution', elHash);
const genesisRoot = (() => {
  const h = state.latestBlockHeader.clone();
  h.stateRoot = state.hashTreeRoot();
  return ssz.phase0.BeaconBlockHeader.hashTreeRoot({
    slot: 0,
    proposerIndex: h.proposerIndex,
    parentRoot: h.parentRoot,
    stateRoot: state.hashTreeRoot(),
    bodyRoot: h.bodyRoot,
  });
})();
// --- Store: one branch, all blocks kept, old states dropped (those of epoch boundaries stay, for bootstraps)
const blocks = new Map(); // root -> {block, state, fork, slot, root, exec}
let head = { root: genesisRoot, slot: 0, state, exec: unhex(elHash), block: null, fork: gFork };
blocks.set(hex(genesisRoot), head);
const bySlot = new Map([[0, head]]);
const bestUpdates = new Map();
let finalityUpdate;
let optimisticUpdate;
let finalizedRoot = hex(genesisRoot);
const sign = (i, root) => keys[i].sign(root);
const signRoot = (type, obj, domain) => st.computeSigningRoot(type, obj, domain);
const lcHeader = (b) => {
  const f = b.fork;
  const beacon = {
    slot: b.block.slot,
    proposerIndex: b.block.proposerIndex,
    parentRoot: b.block.parentRoot,
    stateRoot: b.block.stateRoot,
    bodyRoot: fc.getForkTypes(b.slot).BeaconBlockBody.hashTreeRoot(b.block.body),
  };
  const p = b.block.body.executionPayload;
  const execution = {
    ...p,
    transactionsRoot: ssz.bellatrix.Transactions.hashTreeRoot(p.transactions),
    withdrawalsRoot: ssz.capella.Withdrawals.hashTreeRoot(p.withdrawals),
  };
  return { beacon, execution, executionBranch: getBlockBodyExecutionHeaderProof(f, b.block.body) };
};
const zeroLc = (f) => ssz[f].LightClientHeader.defaultValue();
const period = (slot) => Math.floor(slot / (params.SLOTS_PER_EPOCH * params.EPOCHS_PER_SYNC_COMMITTEE_PERIOD));
// The block signs its parent: what its sync aggregate adds to the light-client data.
// Containers of later forks carry earlier headers with zero blob fields.
function lightClient(signed, parent) {
  if (!parent.block) return;
  const agg = signed.body.syncAggregate;
  const n = agg.syncCommitteeBits.getTrueBitIndexes().length;
  if (n === 0) return;
  const f = parent.fork;
  const s = parent.state;
  s.commit();
  const fin = s.finalizedCheckpoint;
  const finB = blocks.get(hex(fin.root));
  const hasFin = fin.epoch > 0 && finB?.block;
  const fix = (h) => {
    const e = { blobGasUsed: 0n, excessBlobGas: 0n, ...h.execution };
    return { ...h, execution: e };
  };
  const attestedHeader = fix(lcHeader(parent));
  const w = getSyncCommitteesWitness(f, s);
  const same = period(signed.slot) === period(parent.slot);
  const update = {
    attestedHeader,
    nextSyncCommittee: same ? s.nextSyncCommittee.toValue() : ssz.altair.SyncCommittee.defaultValue(),
    nextSyncCommitteeBranch: same
      ? getNextSyncCommitteeBranch(w)
      : ssz[f].LightClientUpdate.defaultValue().nextSyncCommitteeBranch,
    finalizedHeader: hasFin ? fix(lcHeader(finB)) : zeroLc(f),
    finalityBranch: hasFin ? getFinalizedRootProof(s) : ssz[f].LightClientUpdate.defaultValue().finalityBranch,
    syncAggregate: agg,
    signatureSlot: signed.slot,
  };
  optimisticUpdate = { version: f, data: { attestedHeader, syncAggregate: agg, signatureSlot: signed.slot } };
  if (hasFin)
    finalityUpdate = {
      version: f,
      data: {
        attestedHeader,
        finalizedHeader: update.finalizedHeader,
        finalityBranch: update.finalityBranch,
        syncAggregate: agg,
        signatureSlot: signed.slot,
      },
    };
  if (same) {
    const p = period(parent.slot);
    const old = bestUpdates.get(p);
    if (!old || isBetterUpdate(toLightClientUpdateSummary(update), toLightClientUpdateSummary(old.data)))
      bestUpdates.set(p, { version: f, data: update });
  }
}
const fromPayload = (p, f) => ({
  parentHash: unhex(p.parentHash),
  feeRecipient: unhex(p.feeRecipient),
  stateRoot: unhex(p.stateRoot),
  receiptsRoot: unhex(p.receiptsRoot),
  logsBloom: unhex(p.logsBloom),
  prevRandao: unhex(p.prevRandao),
  blockNumber: Number(p.blockNumber),
  gasLimit: Number(p.gasLimit),
  gasUsed: Number(p.gasUsed),
  timestamp: Number(p.timestamp),
  extraData: unhex(p.extraData),
  baseFeePerGas: BigInt(p.baseFeePerGas),
  blockHash: unhex(p.blockHash),
  transactions: p.transactions.map(unhex),
  withdrawals: p.withdrawals.map((w) => ({
    index: Number(w.index),
    validatorIndex: Number(w.validatorIndex),
    address: unhex(w.address),
    amount: BigInt(w.amount),
  })),
  ...(f !== 'capella' && { blobGasUsed: BigInt(p.blobGasUsed), excessBlobGas: BigInt(p.excessBlobGas) }),
});
// --- SIGUSR2: the two newest blocks are left, and the next one is made on the one before them
let leaves = false;
process.on('SIGUSR2', () => {
  leaves = true;
});
function leave() {
  leaves = false;
  for (let i = 0; i < 2; i++) {
    bySlot.delete(head.slot);
    head = blocks.get(hex(head.block.parentRoot));
  }
  console.log(`left to slot ${head.slot}`);
}
// --- One slot: ask the execution client for a payload, wrap it, sign everything, import it
async function propose(slot) {
  if (leaves) leave();
  const pre = st.processSlots(head.state, slot);
  const epoch = Math.floor(slot / params.SLOTS_PER_EPOCH);
  const f = config.getForkName(slot);
  const seq = config.getForkSeq(slot);
  const proposer = pre.epochCtx.getBeaconProposer(slot);
  const prevRandao = st.getRandaoMix(pre, epoch);
  const wd = st.getExpectedWithdrawals(seq, pre);
  const withdrawals = wd.expectedWithdrawals ?? wd.withdrawals;
  const fin = blocks.get(finalizedRoot);
  const just = blocks.get(hex(pre.currentJustifiedCheckpoint.root));
  const fcs = {
    headBlockHash: hex(head.exec),
    safeBlockHash: hex(just?.exec ?? fin.exec),
    finalizedBlockHash: hex(fin.exec),
  };
  const attrs = {
    timestamp: quantity(GT + slot * SPS),
    prevRandao: hex(prevRandao),
    suggestedFeeRecipient: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    withdrawals: withdrawals.map((w) => ({
      index: quantity(w.index),
      validatorIndex: quantity(w.validatorIndex),
      address: hex(w.address),
      amount: quantity(w.amount),
    })),
  };
  const v = f === 'capella' ? 2 : 3;
  if (v === 3) attrs.parentBeaconBlockRoot = hex(head.root);
  const r = await rpc(engine, `engine_forkchoiceUpdatedV${v}`, [fcs, attrs]);
  if (!r.payloadId) throw new Error(`no payload ${JSON.stringify(r)}`);
  await new Promise((r) => setTimeout(r, 200));
  const gv = f === 'capella' ? 2 : f === 'deneb' ? 3 : 4;
  const got = await rpc(engine, `engine_getPayloadV${gv}`, [r.payloadId]);
  const ep = got.executionPayload;
  const ex = fromPayload(ep, f);
  // attestations of the slot before, by every validator
  const atts = [];
  const as = slot - 1;
  if (as >= 0) {
    const ae = Math.floor(as / params.SLOTS_PER_EPOCH);
    const start = ae * params.SLOTS_PER_EPOCH;
    const targetRoot =
      start >= slot ? head.root : start === as && head.slot <= start ? head.root : st.getBlockRootAtSlot(pre, start);
    const source = ae === epoch ? pre.currentJustifiedCheckpoint : pre.previousJustifiedCheckpoint;
    const src = { epoch: source.epoch, root: source.root };
    const cps = pre.epochCtx.getCommitteeCountPerSlot(ae);
    const domain = config.getDomain(slot, params.DOMAIN_BEACON_ATTESTER, as);
    const mk = (index) => ({
      slot: as,
      index,
      beaconBlockRoot: st.getBlockRootAtSlot(pre, as),
      source: src,
      target: { epoch: ae, root: targetRoot },
    });
    if (seq >= params.ForkSeq.electra && config.getForkSeq(as) >= params.ForkSeq.electra) {
      const data = mk(0);
      const root = signRoot(ssz.phase0.AttestationData, data, domain);
      let total = 0;
      const sigs = [];
      const cb = BitArray.fromBitLen(params.MAX_COMMITTEES_PER_SLOT);
      for (let c = 0; c < cps; c++) {
        const com = pre.epochCtx.getBeaconCommittee(as, c);
        total += com.length;
        cb.set(c, true);
        for (const i of com) sigs.push(sign(i, root));
      }
      atts.push({
        aggregationBits: BitArray.fromBoolArray(Array(total).fill(true)),
        data,
        signature: aggregateSignatures(sigs).toBytes(),
        committeeBits: cb,
      });
    } else if (seq < params.ForkSeq.electra) {
      for (let c = 0; c < cps; c++) {
        const data = mk(c);
        const root = signRoot(ssz.phase0.AttestationData, data, domain);
        const com = pre.epochCtx.getBeaconCommittee(as, c);
        atts.push({
          aggregationBits: BitArray.fromBoolArray(Array(com.length).fill(true)),
          data,
          signature: aggregateSignatures([...com].map((i) => sign(i, root))).toBytes(),
        });
      }
    }
  }
  // sync aggregate over the head; every fifth slot lacks some members
  const sc = pre.epochCtx.currentSyncCommitteeIndexed.validatorIndices;
  const sdom = config.getDomain(slot, params.DOMAIN_SYNC_COMMITTEE, slot - 1);
  const sroot = signRoot(ssz.Root, st.getBlockRootAtSlot(pre, slot - 1), sdom);
  const bits = Array.from(sc, (_, i) => !(slot % 5 === 0 && i % 6 === 0));
  const sigs = [];
  [...sc].forEach((vi, i) => {
    if (bits[i]) sigs.push(sign(vi, sroot));
  });
  const syncAggregate = {
    syncCommitteeBits: BitArray.fromBoolArray(bits),
    syncCommitteeSignature: aggregateSignatures(sigs).toBytes(),
  };
  const randaoReveal = sign(
    proposer,
    signRoot(ssz.Epoch, epoch, config.getDomain(slot, params.DOMAIN_RANDAO, slot)),
  ).toBytes();
  const body = {
    randaoReveal,
    eth1Data: pre.eth1Data.toValue?.() ?? pre.eth1Data,
    graffiti: new Uint8Array(32),
    proposerSlashings: [],
    attesterSlashings: [],
    attestations: atts,
    deposits: [],
    voluntaryExits: [],
    syncAggregate,
    executionPayload: ex,
    blsToExecutionChanges: [],
    ...(v === 3 && { blobKzgCommitments: [] }),
    ...(seq >= params.ForkSeq.electra && { executionRequests: { deposits: [], withdrawals: [], consolidations: [] } }),
  };
  const block = { slot, proposerIndex: proposer, parentRoot: head.root, stateRoot: new Uint8Array(32), body };
  const opts = { executionPayloadStatus: 'valid', dataAvailabilityStatus: 'Available' };
  const Ty = config.getForkTypes(slot);
  let post = st.stateTransition(
    head.state,
    { message: block, signature: new Uint8Array(96) },
    { ...opts, verifyStateRoot: false, verifyProposer: false, verifySignatures: false },
  );
  block.stateRoot = post.hashTreeRoot();
  const sig = sign(
    proposer,
    signRoot(Ty.BeaconBlock, block, config.getDomain(slot, params.DOMAIN_BEACON_PROPOSER, slot)),
  ).toBytes();
  post = st.stateTransition(
    head.state,
    { message: block, signature: sig },
    { ...opts, verifyStateRoot: true, verifyProposer: true, verifySignatures: true },
  );
  const np =
    f === 'capella'
      ? await rpc(engine, 'engine_newPayloadV2', [ep])
      : f === 'deneb'
        ? await rpc(engine, 'engine_newPayloadV3', [ep, [], hex(head.root)])
        : await rpc(engine, 'engine_newPayloadV4', [ep, [], hex(head.root), got.executionRequests ?? []]);
  if (np.status !== 'VALID') throw new Error(`newPayload ${JSON.stringify(np)}`);
  const root = Ty.BeaconBlock.hashTreeRoot(block);
  const b = { root, slot, state: post, exec: ex.blockHash, block, fork: f };
  blocks.set(hex(root), b);
  bySlot.set(slot, b);
  lightClient(block, head);
  head = b;
  if (post.finalizedCheckpoint.epoch > 0) finalizedRoot = hex(post.finalizedCheckpoint.root);
  for (const [k, x] of bySlot) if (k < slot - 160 && x.state && k % 8 !== 0) x.state = undefined;
  await rpc(engine, `engine_forkchoiceUpdatedV${v}`, [
    {
      headBlockHash: hex(b.exec),
      safeBlockHash: fcs.safeBlockHash,
      finalizedBlockHash: hex(blocks.get(finalizedRoot).exec),
    },
    null,
  ]);
  console.log(
    `slot ${slot} ${f} epoch ${epoch} EL ${ex.blockNumber} txs ${ex.transactions.length} wd ${ex.withdrawals.length} atts ${atts.length} just ${post.currentJustifiedCheckpoint.epoch} fin ${post.finalizedCheckpoint.epoch} rss ${Math.round(process.memoryUsage().rss / 1e6)}`,
  );
}
// --- REST: the routes a light client needs. There is no event stream.
const app = fastify();
const httpError = (status, message) => {
  const e = new Error(message);
  e.statusCode = status;
  return e;
};
const lc = {
  getLightClientUpdatesByRange: async ({ startPeriod, count }) => {
    const l = [];
    for (let p = startPeriod; p < startPeriod + count && l.length < 128; p++) {
      const u = bestUpdates.get(p);
      if (!u) break;
      l.push(u);
    }
    return { data: l.map((u) => u.data), meta: { versions: l.map((u) => u.version) } };
  },
  getLightClientFinalityUpdate: async () => {
    if (!finalityUpdate) throw httpError(404, 'No finality update available');
    return { data: finalityUpdate.data, meta: { version: finalityUpdate.version } };
  },
  getLightClientOptimisticUpdate: async () => {
    if (!optimisticUpdate) throw httpError(404, 'No optimistic update available');
    return { data: optimisticUpdate.data, meta: { version: optimisticUpdate.version } };
  },
  getLightClientCommitteeRoot: async () => {
    throw httpError(404, 'none');
  },
  getLightClientBootstrap: async ({ blockRoot }) => {
    const b = blocks.get(blockRoot);
    if (!b?.block || !b.state) throw httpError(404, `syncCommitteeWitness not available ${blockRoot}`);
    const w = getSyncCommitteesWitness(b.fork, b.state);
    const h = lcHeader(b);
    return {
      data: {
        header: h,
        currentSyncCommittee: b.state.currentSyncCommittee.toValue(),
        currentSyncCommitteeBranch: getCurrentSyncCommitteeBranch(w),
      },
      meta: { version: b.fork },
    };
  },
};
for (const r of Object.values(lcRoutes(fc, lc))) app.route(r);
const header = (b) => {
  const m = b.block
    ? {
        slot: b.block.slot,
        proposerIndex: b.block.proposerIndex,
        parentRoot: b.block.parentRoot,
        stateRoot: b.block.stateRoot,
        bodyRoot: config.getForkTypes(b.slot).BeaconBlockBody.hashTreeRoot(b.block.body),
      }
    : null;
  return { root: b.root, canonical: true, header: { message: m, signature: new Uint8Array(96) } };
};
const bd = {
  getBlockHeader: async ({ blockId }) => {
    const b =
      blockId === 'finalized'
        ? blocks.get(finalizedRoot)
        : blockId === 'head'
          ? head
          : /^0x/.test(blockId)
            ? blocks.get(blockId)
            : bySlot.get(+blockId);
    if (!b?.block) throw httpError(404, 'Block not found');
    const fin = blocks.get(finalizedRoot);
    return { data: header(b), meta: { executionOptimistic: false, finalized: b.slot <= fin.slot } };
  },
};
const defs = blockDefs(fc);
for (const r of Object.values(createFastifyRoutes({ getBlockHeader: defs.getBlockHeader }, bd))) app.route(r);
app.get('/eth/v1/beacon/genesis', async () => ({
  data: {
    genesis_validators_root: hex(config.genesisValidatorsRoot),
    genesis_time: String(GT),
    genesis_fork_version: hex(config.GENESIS_FORK_VERSION),
  },
}));
app.get('/eth/v1/config/spec', async () => ({
  data: {
    PRESET_BASE: 'minimal',
    DEPOSIT_CHAIN_ID: String(Number(await rpc(execution, 'eth_chainId', []))),
    SECONDS_PER_SLOT: String(SPS),
    SLOTS_PER_EPOCH: '8',
    SYNC_COMMITTEE_SIZE: '32',
    EPOCHS_PER_SYNC_COMMITTEE_PERIOD: '8',
    ...Object.fromEntries(
      ['CAPELLA', 'DENEB', 'ELECTRA', 'FULU'].flatMap((n) => [
        [
          `${n}_FORK_EPOCH`,
          chainConfig[`${n}_FORK_EPOCH`] === INF ? '18446744073709551615' : String(chainConfig[`${n}_FORK_EPOCH`]),
        ],
        [`${n}_FORK_VERSION`, hex(chainConfig[`${n}_FORK_VERSION`])],
      ]),
    ),
  },
}));
app.setErrorHandler((e, _req, res) => {
  res.status(e.statusCode ?? 500).send({ code: e.statusCode ?? 500, message: e.message });
});
await app.listen({ host: '127.0.0.1', port: +port });
console.log('REST', port);
// --- Clock
let fails = 0;
for (let slot = 1; ; slot++) {
  const at = (GT + slot * SPS) * 1000;
  const wait = at - Date.now();
  if (wait > 0) await new Promise((r) => setTimeout(r, wait));
  else if (wait < -SPS * 1000 * 4) {
    continue;
  }
  if (process.env.SKIP && slot % Number(process.env.SKIP) === 0) {
    console.log('skip', slot);
    continue;
  }
  try {
    await propose(slot);
    fails = 0;
  } catch (e) {
    console.log('slot', slot, 'failed', e.message.slice(0, 400));
    if (process.env.DEBUG) console.log(e.stack);
    if (++fails > 60) process.exit(1);
  }
}
