import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../conformance/consensus-scenario.js';
import { containersOf } from '../../src/consensus/containers.js';
import { timeOfSlot } from '../../src/consensus/slots.js';
import * as fees from '../../src/fees.js';
import * as hash from '../../src/hash.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { devnet, TEST_TOKEN, type TransactionJson, tokenBalanceSlot } from '../../src/index.js';
import { bigIntToBytes, concatBytes, copyBytes } from '../../src/primitives/bytes.js';
import * as state from '../../src/state.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Key, PageStore, Table } from '../../src/store/page-store.js';
import * as verify from '../../src/verify.js';
import { getProof, rollupState } from '../support/ethereum-tries.js';
import { fixtureJson } from '../support/fixtures.js';
import { lineaAnswerScene } from '../support/linea-answer-scene.js';
import { settledScene } from '../support/settled-scene.js';
import { state as account, address, CODE, change, openSmall, set, word } from '../support/small-state.js';
import { headerJson } from '../support/zero-header.js';
import { lastSlot, network, scenario, updates } from './consensus/scene.js';

/** The ways in which a program holds bytes. */
const FORMS: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  'a plain array': (bytes) => new Uint8Array(bytes),
  'a Buffer of Node': (bytes) => Buffer.from(bytes),
  'a view into a larger buffer': (bytes) => {
    const whole = new Uint8Array(bytes.length + 64).fill(0x5a);
    whole.set(bytes, 32);
    return whole.subarray(32, 32 + bytes.length);
  },
};

type Own = <T>(value: T) => T;

/** Bytes given to a function, with what they held. */
class Given {
  private readonly all: { readonly bytes: Uint8Array; readonly before: Uint8Array }[] = [];

  constructor(private readonly form: (bytes: Uint8Array) => Uint8Array) {}

  /** The same value with bytes of the form. */
  own: Own = <T>(value: T): T => this.copied(value) as T;

  private copied(value: unknown): unknown {
    if (value instanceof Uint8Array) {
      const bytes = this.form(value);
      this.all.push({ bytes, before: copyBytes(value) });
      return bytes;
    }
    if (Array.isArray(value)) return value.map((item) => this.copied(item));
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.copied(member)]));
  }

  /** How many of them were written to. */
  get changed(): number {
    return this.all.filter(({ bytes, before }) => Buffer.compare(bytes, before) !== 0).length;
  }

  get count(): number {
    return this.all.length;
  }

  /** The caller uses its memory for something else. */
  reuse(): void {
    for (const { bytes } of this.all) bytes.fill(0xee);
  }
}

/** A value as text, with bytes of any kind in hex. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'bigint') return `${member}n`;
    if (member instanceof Uint8Array) return verify.bytesToHex(member);
    const buffer = member as { type?: string; data?: number[] } | null;
    return buffer?.type === 'Buffer' && Array.isArray(buffer.data)
      ? verify.bytesToHex(Uint8Array.from(buffer.data))
      : member;
  }) ?? 'undefined';

/** What a function gives, read after the caller has used its memory for something else. */
type Later = () => unknown;

interface Case {
  /** Public names that it covers. */
  readonly names: readonly string[];
  /** Whether the result holds the caller's arrays by its nature. */
  readonly sharesWithResult?: boolean;
  run(own: Own): Later | Promise<Later>;
}

/** Functions whose requests hold no bytes. */
const OF_JSON = new Set(['anchorSlots', 'stateRootSlot']);
const EXTRA_DATA = fees.encodeExtraData({
  fixedCostWei: 1_000n,
  variableCostWei: 2_000n,
  minGasPriceWei: 3_000n,
});
const HISTORY_CODE = verify.hexToBytes(
  '0x3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500',
);

const hasher = await hash.loadHasher('poseidon2');
const kernel = await hash.loadHashKernel();
const known = await openSmall();
const proof = known.prove(0, address(2), [word(1), word(9)]);
const compact = hash.encodeAccountValue(known.account(0, address(2))!);
const dictionary = (await fees.generalDictionary()).bytes;
const kept =
  (value: unknown): Later =>
  () =>
    value;

/** Blocks with their traces, each of the state after those before. */
const traced = await (async () => {
  const held = await openSmall();
  const contract = account(1n, 0n);
  return [
    [change(2, contract, contract, [set(1, 11, 21), set(9, 0, 5)])],
    [change(9, undefined, account(0n, 1n), [set(1, 0, 3)]), change(2, contract, contract, [set(1, 21, 0)])],
  ].map((changes, i) => ({ changes, ...held.applyBlockTraced(i + 1, changes) }));
})();

const transaction: fees.SizedTransaction = {
  type: 2,
  from: address(1),
  nonce: 1n,
  gasLimit: 50_000n,
  maxFeePerGas: 8n,
  maxPriorityFeePerGas: 1n,
  to: address(2),
  value: 5n,
  data: Uint8Array.of(1, 2, 3, 0, 255),
  chainId: 59144n,
  accessList: [{ address: address(3), storageKeys: [word(1)] }],
};

const answerOf = ({ version, json }: { version: string; json?: unknown }) => ({ version, data: json });
const ANSWERS = { update: 'updates', finality: 'finality_update', optimistic: 'optimistic_update' } as const;
const now = timeOfSlot(network, lastSlot) * 1000;
const from = { root: verify.hexToBytes(scenario.trustedBlockRoot), bootstrap: answerOf(scenario.bootstrap!) };
/** The first five answers in SSZ: those of the kind `updates` with a length and a fork digest before them. */
const answersInSsz = updates.slice(0, 5).map(({ layout, data }, i) => {
  const op = scenario.steps[i]!.op as keyof typeof KINDS;
  const bytes = containersOf(layout, 32)[KINDS[op]].encode(data as never);
  const sized = concatBytes(bigIntToBytes(BigInt(bytes.length + 4), 8).reverse(), new Uint8Array(4), bytes);
  return { kind: ANSWERS[op], answer: op === 'update' ? sized : bytes };
});
const firstState = await (async () => {
  const verdict = await verify.verifyConsensusUpdate({ network, from, answers: [], now });
  if (!verdict.verified) throw new Error(verdict.reason);
  return verdict.state;
})();
/** The bootstrap in SSZ. */
const bootstrapInSsz = (() => {
  const { version, json } = scenario.bootstrap!;
  const type = containersOf(version as Parameters<typeof containersOf>[0], 32).bootstrap;
  return type.encode(type.fromJson(json, ''));
})();

const { trieLog } = fixtureJson<{ trieLog: string }>('state/trielog-generated.json');
const { rollup, trie: layerOne, stateRoot: l1StateRoot } = await rollupState();
const anchorProof = await getProof(
  layerOne,
  l1StateRoot,
  verify.hexToBytes(rollup.address),
  verify.anchorSlots(rollup, 10),
);
const claimProof = await getProof(
  layerOne,
  l1StateRoot,
  verify.hexToBytes(rollup.address),
  verify.messageSlots({ ...rollup, rootDepthsSlot: 336n, claimedSlot: 335n }, { root: word(1), nonce: 1n }),
);
/** Signed by a key made for tests, for chain 1337. */
const FORCED = verify.hexToBytes(
  '0x02f8768205398201e584150ccb328417b711698301b88094178de173c3ec3bfaac601398645594e202b0972087510e4df426ecc380c001a0cb474c3ac05fb38ec3fdc848926139d977e373710174e3d36092c7ad05471d1aa018315da012b1ce2299e1c079d48532778dab828d7fb68a7066c26f4493d949f2',
);
const plain = await getProof(layerOne, l1StateRoot, address(0), [word(1)]);
const genesis = JSON.parse(readFileSync(new URL('../fixtures/rpc-suite/genesis.json', import.meta.url), 'utf8'));
const chainFile = new Uint8Array(readFileSync(new URL('../fixtures/rpc-suite/chain.rlp', import.meta.url)));
const HISTORY = verify.hexToBytes('0x0000f90827f1c53a10cb7a02335b175320002935');
const FIRST_BLOCK = [
  change(1, undefined, account(0n, 100n)),
  change(2, undefined, { ...account(1n, 0n), code: CODE }, [set(1, 0, 11), set(2, 0, 12), set(3, 0, 13)]),
  change(3, undefined, { ...account(1n, 5n), code: CODE }),
];
const NO_PAGES = { getMany: async (keys: readonly string[]) => keys.map(() => undefined) };
const STORED = await (async () => {
  const held = await state.openState({ scheme: 'poseidon2', pages: NO_PAGES });
  held.applyBlock(0, FIRST_BLOCK);
  return held.takePages().puts;
})();
/** The file of a devnet with two blocks. */
const EXPORTED = await (async () => {
  const node = await createInlineNode({ store: new MemoryStore() });
  await node.request({ method: 'anvil_mine', params: ['0x2'] });
  const file = await node.exportChain();
  await node.close();
  return file;
})();

class BufferStore implements PageStore {
  private readonly inner = new MemoryStore();
  constructor(private readonly own: Own) {}
  async get(table: Table, key: Key) {
    return this.own(await this.inner.get(table, key));
  }
  keys(table: Table) {
    return this.inner.keys(table);
  }
  async getMany(table: Table, keys: readonly Key[]) {
    return this.own(await this.inner.getMany(table, keys));
  }
  commit(commit: Parameters<PageStore['commit']>[0]) {
    return this.inner.commit(commit);
  }
  clear() {
    return this.inner.clear();
  }
  async close() {}
}

const CASES: readonly Case[] = [
  { names: ['bytesToHex'], run: (own) => kept(verify.bytesToHex(own(word(258)))) },
  { names: ['tokenBalanceSlot'], run: (own) => kept(tokenBalanceSlot(own(address(5)))) },
  { names: ['decodeAccountValue'], run: (own) => kept(hash.decodeAccountValue(own(compact))) },
  { names: ['encodeAccountValue'], run: (own) => kept(hash.encodeAccountValue(own(known.account(0, address(2))!))) },
  { names: ['hashAccountValue'], run: (own) => kept(hash.hashAccountValue(hasher, own(compact))) },
  { names: ['hashAddress'], run: (own) => kept(hash.hashAddress(hasher, own(address(2)))) },
  { names: ['hashCode'], run: (own) => kept(hash.hashCode(hasher, own(CODE))) },
  { names: ['hashWord'], run: (own) => kept(hash.hashWord(hasher, own(word(7)))) },
  {
    names: ['loadHasher', 'loadHashKernel'],
    run: (own) =>
      kept([
        hasher.hash(own(word(1))),
        hasher.hashMany(own(concatBytes(word(1), word(2))), 32),
        hasher.compress(own(word(1)), own(word(2))),
        kernel.permutePoseidon2(own(new Uint8Array(64).fill(1))),
        hasher.climb(own(word(3)), [5], own(concatBytes(...Array.from({ length: 40 }, (_, i) => word(i))))),
      ]),
  },
  { names: ['parseExtraData'], run: (own) => kept(fees.parseExtraData(own(EXTRA_DATA))) },
  {
    names: ['encodeForSizing', 'encodeSigned'],
    run: (own) => kept([fees.encodeForSizing(own(transaction)), fees.encodeSigned(own(transaction))]),
  },
  {
    names: ['sizingBytes', 'transactionForSizing'],
    run(own) {
      const call = { from: address(1), to: address(2), data: Uint8Array.of(9, 8, 7), value: 1n };
      const context = { gasLimit: 21_000n, baseFee: 7n, latestNonce: 3n, chainId: 59144n };
      const sized = fees.transactionForSizing(own(call), context);
      const bytes = fees.sizingBytes(own(call), context);
      return () => [bytes, fees.encodeForSizing(sized)];
    },
    // A `SizedTransaction` holds the members of the call; it is data, not an answer about them.
    sharesWithResult: true,
  },
  {
    names: ['loadCalldataSizer'],
    async run(own) {
      const sizer = await fees.loadCalldataSizer(own(dictionary));
      const input = own(fees.encodeSigned(transaction));
      const first = sizer.lzssSize(input);
      return () => [
        first,
        sizer.lzssSize(fees.encodeSigned(transaction)),
        sizer.compressedTxSize(chainFile.subarray(0, 999)),
      ];
    },
  },
  { names: ['loadDictionary'], run: async (own) => kept(await fees.loadDictionary({ bytes: own(dictionary) })) },
  {
    names: ['verifyEthereumProof'],
    run: (own) =>
      kept(
        verify.verifyEthereumProof(own({ address: address(0), storageKeys: [word(1)], stateRoot: l1StateRoot }), plain),
      ),
  },
  {
    names: ['verifyL1Anchor'],
    run: (own) => kept(verify.verifyL1Anchor(own({ l1StateRoot, rollup, l2BlockNumber: 10 }), anchorProof)),
  },
  {
    names: ['messageTrees', 'inboxSlot', 'rollingHash', 'verifyMessageProof'],
    run(own) {
      const message = { from: address(1), to: address(2), fee: 0n, value: 5n, nonce: 1n, data: Uint8Array.of(1, 2) };
      const leaf = verify.hashMessage(own(message));
      const [tree] = verify.messageTrees(own([leaf, word(7)]));
      const siblings = verify.siblingsOf(tree!, 0);
      const request = { message, siblings, leafIndex: 0, root: tree!.root, depth: 5 };
      const verdict = verify.verifyMessageProof(own(request));
      return () => [tree, siblings, verdict, verify.inboxSlot(own(leaf)), verify.rollingHash(own(leaf), own(word(3)))];
    },
  },
  {
    names: ['verifyClaimState'],
    run(own) {
      const slots = { rootDepthsSlot: 336n, claimedSlot: 335n };
      const request = { l1StateRoot, rollup: { ...rollup, ...slots }, root: word(1), nonce: 1n };
      return kept(verify.verifyClaimState(own(request), claimProof));
    },
  },
  {
    names: ['readForcedTransaction', 'forcedRollingHash'],
    async run(own) {
      const read = await verify.readForcedTransaction(own(FORCED), 1337);
      const mimc = await hash.loadHasher('mimc');
      return kept([read, verify.forcedRollingHash(mimc, own(word(0)), own({ ...read, deadline: 957n }))]);
    },
  },
  {
    names: ['verifyLineaProof'],
    run(own) {
      const request = { address: address(2), storageKeys: [word(1), word(9)], stateRoot: known.root(0) };
      return kept(verify.verifyLineaProof(hasher, own(request), proof));
    },
  },
  {
    names: ['verifyTreeItem'],
    run(own) {
      const question = {
        key: 2n,
        hkey: hash.hashAddress(hasher, address(2)),
        hashValue: (value: Uint8Array) => hash.hashAccountValue(hasher, value),
        valueBytes: 192,
        zeroIsAbsent: false,
      };
      return kept(verify.verifyTreeItem(hasher, own(known.root(0)), own(question), proof.accountProof));
    },
  },
  {
    names: ['verifySettledHeader'],
    run(own) {
      const scene = lineaAnswerScene('poseidon2');
      const json = headerJson(9_000);
      const storage = scene.storage(word(809), verify.hexToBytes(json.hash));
      const top = scene.state(HISTORY, scene.account(storage.root, HISTORY_CODE));
      const answer = { accountProof: scene.present(top, HISTORY), storageProofs: [scene.present(storage, word(809))] };
      const request = { block: 9_000, finalized: 9_100, stateRoot: top.root };
      return kept(verify.verifySettledHeader(scene.hasher, own(request), answer, json));
    },
  },
  {
    names: ['verifyConsensusUpdate'],
    async run(own) {
      const fromRoot = await verify.verifyConsensusUpdate(
        own({ network, from: { root: from.root, bootstrap: bootstrapInSsz }, answers: answersInSsz, now }),
      );
      const fromState = await verify.verifyConsensusUpdate(
        own({ network, from: { state: firstState }, answers: answersInSsz, now }),
      );
      return kept([fromRoot, fromState]);
    },
  },
  {
    names: ['verifyEvidence'],
    async run(own) {
      const { open, checkpoint, clock } = await settledScene();
      const root = await checkpoint();
      const { node } = await open({ checkpoint: { root } });
      const bundle = await node.exportEvidence({ address: TEST_TOKEN, storageKeys: [] });
      const trust = { network: devnet(), checkpoint: verify.hexToBytes(root), now: clock.now() };
      const verdict = await verify.verifyEvidence(bundle, own(trust));
      return kept([verdict.verified, verdict.verified && verdict.finalized.number]);
    },
  },
  { names: ['decodeTrieLog'], run: (own) => kept(state.decodeTrieLog(own(verify.hexToBytes(trieLog)))) },
  {
    names: ['openState'],
    async run(own) {
      const held = await state.openState({ scheme: 'poseidon2', pages: NO_PAGES });
      held.applyBlock(0, own(FIRST_BLOCK));
      for (const [i, { changes }] of traced.entries()) held.applyBlock(i + 1, own(changes));
      const early = [held.account(1, own(address(2))), held.slot(2, own(address(9)), own(word(1)))];
      return () => [
        early,
        held.root(),
        held.slot(2, address(2), word(9)),
        held.prove(1, address(2), [word(1)]),
        held.takePages(),
      ];
    },
  },
  {
    names: ['openState from pages', 'openPagedState'],
    async run(own) {
      const pages = new Map(STORED.map(({ key, value }) => [key, value]));
      const getMany = async (keys: readonly string[]) => own(keys.map((key) => pages.get(key)));
      const loaded = await state.openState({ scheme: 'poseidon2', pages: { getMany } });
      const paged = await state.openPagedState(hasher, { getMany });
      const proved = await paged.prove(own(address(2)), own([word(1)]));
      return async () => [
        proved,
        loaded.root(),
        loaded.prove(0, address(2), [word(1)]),
        await paged.account(address(3)),
      ];
    },
  },
  {
    names: ['witnessFromProofs', 'WitnessTrie', 'KeyFollower'],
    run(own) {
      const accounts = state.witnessFromProofs(hasher, own(known.root(0)), [proof.accountProof]);
      const storageRoot = known.account(0, address(2))!.storageRoot;
      const storage = state.witnessFromProofs(hasher, own(storageRoot), proof.storageProofs);
      const follower = new state.KeyFollower(
        hasher,
        accounts,
        own([{ address: address(2), slots: [word(1), word(9)], storage }]),
      );
      for (const { traces } of traced) follower.follow(own(traces));
      const trie = state.WitnessTrie.open(hasher, 5, own(verify.hexToBytes(`0x${'01'.repeat(32)}`)));
      const empty = state.WitnessTrie.empty(hasher);
      const step = empty.put(
        own({ hkey: hash.hashWord(hasher, word(1)), hval: hash.hashWord(hasher, word(2)), value: word(2) }),
      );
      return () => [
        follower.root,
        follower.account(address(2)),
        follower.slot(address(2), word(9)),
        trie.subRoot,
        step,
        empty.read(hash.hashWord(hasher, word(1))),
      ];
    },
  },
  {
    names: ['witnessBefore', 'WitnessState'],
    run(own) {
      const witness = state.witnessBefore(hasher, own(traced[0]!.traces))!;
      const traces = witness.copy().apply(own(traced[0]!.changes));
      return () => [witness.accounts.topRoot, traces.map(state.formatTrace)];
    },
  },
  {
    names: ['checkTraces', 'formatTrace'],
    run(own) {
      const blocks = traced.map(({ traces }) => traces);
      return kept([state.checkTraces(hasher, own(known.root(0)), own(blocks)), own(blocks[0]!).map(state.formatTrace)]);
    },
  },
  {
    names: ['chain.importBlocks'],
    async run(own) {
      const node = await createInlineNode({ chain: { kind: 'devnet', genesis, importBlocks: own(chainFile) } });
      return async () => {
        let number = 1;
        let block = await node.request({ method: 'eth_getBlockByNumber', params: ['0x1', true] });
        while (block!.transactions.length === 0)
          block = await node.request({
            method: 'eth_getBlockByNumber',
            params: [`0x${(++number).toString(16)}`, true],
          });
        const { hash } = block!.transactions[0] as TransactionJson;
        const raw = await node.request({ method: 'debug_getRawTransaction', params: [hash] });
        await node.close();
        return [block, raw];
      };
    },
  },
  {
    names: ['importChain'],
    async run(own) {
      const node = await createInlineNode({ store: new MemoryStore() });
      await node.importChain(own(EXPORTED));
      return async () => {
        const block = await node.request({ method: 'eth_getBlockByNumber', params: ['latest', true] });
        await node.close();
        return block;
      };
    },
  },
  {
    names: ['a store of the caller'],
    async run(own) {
      const store = new BufferStore(own);
      const chain = { kind: 'devnet' } as const;
      const first = await createInlineNode({ chain, store });
      await first.request({ method: 'anvil_mine', params: ['0x3'] });
      await first.close();
      const node = await createInlineNode({ chain, store });
      return async () => {
        const block = await node.request({ method: 'eth_getBlockByNumber', params: ['0x2', true] });
        await node.close();
        // What follows from the time of the blocks is another in each run.
        return { ...block, timestamp: '', mixHash: '', hash: '', parentHash: '', stateRoot: '' };
      };
    },
  },
];

describe('bytes of a caller', () => {
  it.each(CASES.map((row) => [row.names.join(', '), row] as const))('%s', async (_, { run, sharesWithResult }) => {
    const untouched = new Given(FORMS['a plain array']!);
    const expected = textOf(await (await run(untouched.own))());
    expect(expected.length).toBeGreaterThan(2);
    for (const [name, form] of Object.entries(FORMS)) {
      const given = new Given(form);
      const later = await run(given.own);
      expect([name, given.count > 0, given.changed]).toEqual([name, true, 0]);
      if (sharesWithResult !== true) given.reuse();
      expect([name, textOf(await later())]).toEqual([name, expected]);
    }
  });

  it('are tried on every public function whose parameters name them', () => {
    const text = readFileSync(new URL('../packaging/public-api.txt', import.meta.url), 'utf8');
    const functions = [...text.matchAll(/^export declare function (\w+)\(([\s\S]*?)\): [^\n]*;$/gm)];
    const bytes = functions.filter(([, , parameters]) =>
      /Uint8Array|Request\b|StateTrace|SizedTransaction|AccountValue/.test(parameters!),
    );
    const names = bytes.map(([, name]) => name!).filter((name) => !OF_JSON.has(name));
    const covered = new Set(CASES.flatMap((row) => row.names));
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !covered.has(name))).toEqual([]);
  });
});
