import type { Chain } from './chain.js';

/**
 * A chain whose members all call those of `current()`. A chain that wraps another one spreads this and overrides what it
 * changes. The type is `Required<Chain>`: a new member of `Chain` that is missing here does not compile.
 *
 * @param current - called for each use. Its kind, its network and which optional members it has must not change
 */
export function forwardingChain(current: () => Chain): Required<Chain> {
  const { kind, network, blocks, accountsAt, prepare, withBody, announced } = current();
  const { trust, layerOneEvidence, collectEvidence, forward, onRemoval, takenBack } = current();
  return {
    kind,
    network,
    head: () => current().head(),
    block: (reference, signal) => current().block(reference, signal),
    blocks: blocks && ((first, last, signal) => current().blocks!(first, last, signal)),
    transaction: (hash) => current().transaction(hash),
    receipt: (hash) => current().receipt(hash),
    receipts: (block) => current().receipts(block),
    logs: (query) => current().logs(query),
    pendingTransactions: () => current().pendingTransactions(),
    announced: announced && ((hash, signal) => current().announced!(hash, signal)),
    exclusion: (hash) => current().exclusion(hash),
    forward: forward && ((method, params, signal) => current().forward!(method, params, signal)),
    stateAt: (block, signal, onBlock) => current().stateAt(block, signal, onBlock),
    accountsAt: accountsAt && ((reference, onRead, signal) => current().accountsAt!(reference, onRead, signal)),
    prepare: prepare && ((plan) => current().prepare!(plan)),
    prepareSimulation: (plan) => current().prepareSimulation(plan),
    withBody: withBody && ((block) => current().withBody!(block)),
    contextOf: (block) => current().contextOf(block),
    pendingContext: (parent) => current().pendingContext(parent),
    trust: trust && ((block) => current().trust!(block)),
    layerOneEvidence: layerOneEvidence && (() => current().layerOneEvidence!()),
    collectEvidence: collectEvidence && ((claim) => current().collectEvidence!(claim)),
    prices: (block) => current().prices(block),
    proof: (address, storageKeys, block, signal) => current().proof(address, storageKeys, block, signal),
    zkProof: (address, storageKeys, reference, onBlock) => current().zkProof(address, storageKeys, reference, onBlock),
    submit: (raw, limits) => current().submit(raw, limits),
    onHead: (listener) => current().onHead(listener),
    takenBack: takenBack && (() => current().takenBack!()),
    onRemoval: onRemoval && ((listener) => current().onRemoval!(listener)),
    onPendingTransaction: (listener) => current().onPendingTransaction(listener),
    close: () => current().close(),
  };
}
