import { expect } from 'vitest';
import type { Hasher } from '../../src/kernel/contracts.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { KeyHashes } from '../../src/state/hash-cache.js';
import { formatTrace } from '../../src/state/trace.js';
import { checkTraces } from '../../src/state/trace-check.js';
import { applyTraced } from '../../src/state/traced-application.js';
import type { WorldState, ZkAccountChange } from '../../src/state/world-state.js';
import { PlainState } from '../support/plain-state.js';
import { faultyBlock, type Model, type Random, randomBlock, type SmallWorld } from '../support/random-blocks.js';

interface Moment {
  readonly block: number;
  readonly twin: PlainState;
  readonly model: Model;
}

/** A world state beside its twin, which applies blocks operation by operation to plain tries and keeps every state whole. */
export class WorldPair {
  readonly state: WorldState;
  readonly hasher: Hasher;
  readonly world: SmallWorld;
  /** Held blocks, oldest first. */
  readonly moments: Moment[] = [];
  /** Keys inserted, changed and removed, blocks refused, and ways back and releases taken. */
  steps = 0;

  readonly traced: boolean;

  /**
   * @param hasher - the twin's
   * @param traced - whether `apply` may ask for traces; the twin then hashes every step
   */
  constructor(state: WorldState, hasher: Hasher, world: SmallWorld, traced = false) {
    this.state = state;
    this.hasher = hasher;
    this.world = world;
    this.traced = traced;
  }

  get newest(): Moment {
    return this.moments.at(-1)!;
  }

  get model(): Model {
    return this.moments.at(-1)?.model ?? this.world.addresses.map(() => undefined);
  }

  /** @param traced - whether the state gives its traces, to be compared with the twin's and checked */
  apply(changes: readonly ZkAccountChange[], model: Model, traced = false): void {
    const block = (this.moments.at(-1)?.block ?? -1) + 1;
    const twin = this.moments.at(-1)?.twin.copy() ?? new PlainState(this.hasher, this.traced);
    const before = twin.operations;
    const parentRoot = twin.accounts.topRoot;
    const strange = () => traced && !this.world.addresses.every((address) => twin.ownsStorage(address));
    const strangeBefore = strange();
    const expected = applyTraced({ hasher: this.hasher, keys: new KeyHashes(this.hasher) }, twin, changes);
    const root = bytesToHex(twin.accounts.topRoot);
    if (traced) {
      const done = this.state.applyBlockTraced(block, changes);
      expect(bytesToHex(done.root)).toBe(root);
      expect(done.traces.map(formatTrace)).toEqual(expected.map(formatTrace));
      const verdict = checkTraces(this.hasher, parentRoot, [done.traces], { order: true });
      // The reference keeps the storage root of an account that is recreated without a slot, and no traces can show why.
      const excused = strangeBefore || strange() ? 'STORAGE_ROOT_MISMATCH' : undefined;
      if (!verdict.verified && verdict.reason !== excused) throw new Error(verdict.message);
    } else {
      expect(bytesToHex(this.state.applyBlock(block, changes))).toBe(root);
    }
    this.moments.push({ block, twin, model });
    this.steps += twin.operations - before;
  }

  refuse(changes: readonly ZkAccountChange[], code: string, traced = false): void {
    const { state } = this;
    const apply = (block: number) =>
      traced ? state.applyBlockTraced(block, changes) : state.applyBlock(block, changes);
    expect(() => apply(this.newest.block + 1)).toThrow(expect.objectContaining({ code }));
    this.steps++;
  }

  revertTo(block: number): void {
    this.state.revertTo(block);
    this.moments.length = 1 + this.moments.findIndex((moment) => moment.block === block);
    this.steps++;
  }

  releaseBefore(block: number): void {
    this.state.releaseBefore(block);
    this.moments.splice(
      0,
      this.moments.findIndex((moment) => moment.block === block),
    );
    this.steps++;
  }

  /** Heads, roots and free positions of every held block. */
  compareRoots(): void {
    const { state, moments } = this;
    expect([state.oldest, state.head]).toEqual([moments[0]!.block, this.newest.block]);
    for (const { block, twin } of moments) {
      expect(bytesToHex(state.root(block))).toBe(bytesToHex(twin.accounts.topRoot));
      expect(state.nextFreeNode(block)).toBe(twin.accounts.nextFreeNode);
    }
  }

  /** Reads and the proof of one account with all its slots: the twin's bytes, and right to the strict verifier. */
  compareAccount(moment: Moment, account: number): void {
    const { block, twin, model } = moment;
    const { keys } = this.world;
    const address = this.world.addresses[account]!;
    const expected = model[account];
    const values = keys.map((_, key) => expected?.slots[key] ?? 0);
    const held = this.state.account(block, address);
    expect(held).toEqual(twin.account(address));
    expect([held?.nonce, held?.balance]).toEqual([expected?.nonce, expected?.balance]);
    expect(keys.map((key) => this.state.slot(block, address, key).at(-1))).toEqual(values);

    const answer = JSON.parse(JSON.stringify(this.state.prove(block, address, keys)));
    expect(answer).toEqual(twin.prove(address, keys));
    const request = { address, storageKeys: keys, stateRoot: twin.accounts.topRoot };
    const verdict = verifyLineaProof(this.hasher, request, answer);
    if (!verdict.verified) throw new Error(`block ${block}, account ${account}: ${verdict.reason} at ${verdict.at}`);
    expect(verdict.slots.map(({ value }) => value.at(-1))).toEqual(values);
  }
}

/** One random sequence: blocks, blocks that are refused, ways back and releases, compared after each. */
export function playBlocks(pair: WorldPair, steps: number, random: Random): void {
  const { world } = pair;
  const traced = () => pair.traced && random(3) > 0;
  const next = () => randomBlock(random, world, pair.model, 4);
  const anyMoment = () => pair.moments[random(pair.moments.length)]!;
  const anyAccount = () => random(world.addresses.length);
  const { changes, model } = next();
  pair.apply(changes, model, traced());
  while (pair.steps < steps) {
    const kind = random(12);
    if (kind < 8) {
      const block = next();
      pair.apply(block.changes, block.model, traced());
    } else if (kind === 8) {
      const { changes: broken, code } = faultyBlock(random, world, pair.model, next());
      pair.refuse(broken, code, traced());
    } else if (kind < 11) {
      pair.revertTo(anyMoment().block);
    } else {
      pair.releaseBefore(pair.moments[random(Math.ceil(pair.moments.length / 2))]!.block);
    }
    pair.compareRoots();
    pair.compareAccount(pair.newest, anyAccount());
    pair.compareAccount(anyMoment(), anyAccount());
  }
  for (const moment of pair.moments) pair.compareAccount(moment, anyAccount());
}
