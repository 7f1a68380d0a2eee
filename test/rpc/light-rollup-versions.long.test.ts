import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import type { EvidenceBundle, EvidenceClaim } from '../../src/evidence/evidence-bundle.js';
import { verifyEvidence } from '../../src/evidence/verify-evidence.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { accountAt, KeptStore } from '../support/dev-node.js';
import { serveMock } from '../support/mock-chain.js';
import { type SettledScene, settledScene } from '../support/settled-scene.js';

/*
 * The next rollup contract stores block hashes in place of state roots (docs/spec/rollup-versions.md). The devnet changes in the middle: its
 * blocks up to 6 are finalized by their state roots, those from 7 on by their hashes.
 */

type Json = Record<string, unknown>;

const ADDRESS = accountAt(0);
const SLOT = bytesToHex(tokenBalanceSlot(hexToBytes(ADDRESS)));
const { rollup } = devnet();
/** As the draft of the contract has it. @source docs/spec/rollup-versions.md 1 */
const network = { ...devnet(), rollup: { ...rollup, blockHashesSlot: 456n } };

const scene = (blocks: number, blockHashesFrom = 7) =>
  settledScene(blocks, { chain: { kind: 'devnet', network, finality: { blockHashesFrom } } });

const quantity = (value: number): Hex => `0x${value.toString(16)}`;

/** Opens a light node with the profile of this contract. */
async function opened({ open, checkpoint }: SettledScene, chain = {}, more = {}) {
  const root = await checkpoint();
  return { root, light: await open({ checkpoint: { root } }, { network, ...chain }, more) };
}

/** A layer 1 whose answers to a method are changed. */
const changed =
  (method: string, change: (result: Json) => unknown) =>
  (request: { method: string }, result: unknown): unknown =>
    request.method === method ? change(result as Json) : result;

describe('a rollup contract that stores block hashes', () => {
  test('finalized is the finalized block itself; accounts, calls, receipts and logs rest on its header', async () => {
    const stage = await scene(12);
    const { dev } = stage;
    const { light } = await opened(stage);
    // Block 12 is the newest, and 10 the newest finalized one.
    expect(await light.ask('eth_getBlockByNumber', 'finalized', false)).toEqual(
      await dev.ask('eth_getBlockByNumber', '0xa', false),
    );
    expect(light.reports.at(-1)).toMatchObject({ class: 'proved', level: 'settled' });
    const data = `0x70a08231${ADDRESS.slice(2).padStart(64, '0')}`;
    const questions: [string, ...unknown[]][] = [
      ['eth_getBalance', ADDRESS, 'finalized'],
      ['eth_getStorageAt', TEST_TOKEN, SLOT, 'finalized'],
      ['eth_getCode', TEST_TOKEN, 'safe'],
      ['eth_call', { to: TEST_TOKEN, data }, 'finalized'],
      ['eth_getProof', ADDRESS, [], 'finalized'],
      ['eth_getLogs', { fromBlock: 'finalized', toBlock: 'finalized' }],
      ['eth_getBlockReceipts', 'finalized'],
    ];
    for (const [method, ...params] of questions) {
      const there = JSON.parse(JSON.stringify(params).replaceAll(/finalized|safe/g, '0xa')) as unknown[];
      expect(await light.ask(method, ...params), method).toEqual(await dev.ask(method, ...there));
      expect(light.reports.at(-1), method).toMatchObject({ level: 'settled' });
    }
    for (const number of [10, 9, 7, 6, 3, 0]) {
      const asked = quantity(number);
      expect(await light.ask('eth_getBlockByNumber', asked, false)).toEqual(
        await dev.ask('eth_getBlockByNumber', asked, false),
      );
      expect(light.reports.at(-1), asked).toMatchObject({ level: 'settled' });
    }
    await light.ask('eth_getBlockByNumber', '0xb', false);
    expect(light.reports.at(-1)).toMatchObject({ level: 'plain' });
  });

  test('linea_getProof has no root to hold against: tags and the block say so, an older one with a root is answered', async () => {
    const stage = await scene(12);
    const { dev } = stage;
    const { light } = await opened(stage);
    for (const tag of ['finalized', 'latest', '0xa'])
      await expect(light.ask('linea_getProof', ADDRESS, [], tag), tag).rejects.toThrow(
        /block 10 is on layer 1 by its hash, without a state root/,
      );
    expect(await light.ask('linea_getProof', TEST_TOKEN, [SLOT], '0x6')).toEqual(
      await dev.ask('linea_getProof', TEST_TOKEN, [SLOT], '0x6'),
    );
    expect(light.reports.at(-1)).toMatchObject({ level: 'settled', zkBlock: 6 });
    await expect(dev.ask('linea_getProof', ADDRESS, [], 'finalized')).rejects.toThrow(
      /block 10 is on layer 1 by its hash/,
    );
  });

  test('the change in the middle, with a light node that is open and one that slept', async () => {
    const stage = await scene(8);
    const { dev, clock, checkpoint, open } = stage;
    const store = new KeptStore();
    const { root, light } = await opened(stage);
    const slept = await open({ checkpoint: { root } }, { network }, { store });
    for (const { ask } of [light, slept]) {
      expect(await ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x5' });
      expect(await ask('linea_getProof', ADDRESS, [], 'finalized')).toEqual(
        await dev.ask('linea_getProof', ADDRESS, [], '0x6'),
      );
    }
    await slept.node.close();
    await dev.ask('anvil_mine', '0x1');
    clock.advance(10_000);
    // The first finalization that stores a hash.
    expect(await light.ask('eth_getBlockByNumber', 'finalized', false)).toEqual(
      await dev.ask('eth_getBlockByNumber', '0x7', false),
    );
    await dev.ask('anvil_mine', '0x2');
    await checkpoint();
    const woken = await open({ checkpoint: { root } }, { network }, { store });
    for (const { ask, reports } of [light, woken]) {
      expect(await ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x9' });
      expect(reports.at(-1)).toMatchObject({ level: 'settled' });
      expect(await ask('linea_getProof', ADDRESS, [], '0x6')).toEqual(
        await dev.ask('linea_getProof', ADDRESS, [], '0x6'),
      );
    }
  });

  test('without the slot in the profile, a finalization without a root is ROOT_MISSING', async () => {
    const stage = await scene(12);
    const { light } = await opened(stage, { network: devnet() });
    await expect(light.ask('eth_getBlockByNumber', 'finalized', false)).rejects.toThrow(/ROOT_MISSING/);
  });

  test('called, not proved: the getter answers, and a contract without it has roots', async () => {
    const stage = await scene(12);
    const light = await stage.open({}, { network, layerOne: [stage.execution.url] });
    await expect(light.ask('linea_getProof', ADDRESS, [], 'finalized')).rejects.toThrow(/on layer 1 by its hash/);
    const old = await settledScene(8);
    const other = await old.open({}, { network, layerOne: [old.execution.url] });
    expect(await other.ask('linea_getProof', ADDRESS, [], 'finalized')).toEqual(
      await old.dev.ask('linea_getProof', ADDRESS, [], '0x6'),
    );
    // An error that is no revert does not say that there is no such getter.
    old.execution.options.answers = ({ params: [call] }) => {
      if ((call as { data?: string } | undefined)?.data?.startsWith('0x34cdf78d') !== true) return undefined;
      throw Object.assign(new Error('header not found'), { code: -32000 });
    };
    const unsure = await old.open({}, { network, layerOne: [old.execution.url] });
    await expect(unsure.ask('linea_getProof', ADDRESS, [], 'finalized')).rejects.toThrow(/header not found/);
  });

  test('a devnet whose profile has no place for hashes is refused', async () => {
    await expect(
      settledScene(1, { chain: { kind: 'devnet', finality: { blockHashesFrom: 3 } } }),
    ).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
      message: /finality.blockHashesFrom: needs rollup.blockHashesSlot/,
    });
  });
});

describe('lies about the stored hash', () => {
  const lies: [string, string, (result: Json) => unknown, RegExp][] = [
    [
      'a proof of another hash',
      'eth_getProof',
      (result) => {
        const proofs = result.storageProof as Json[];
        return { ...result, storageProof: proofs.with(2, { ...proofs[2], value: `0x${'77'.repeat(32)}` }) };
      },
      /refused/,
    ],
    [
      'a hash of zero, to hide it',
      'eth_getProof',
      (result) => {
        const proofs = result.storageProof as Json[];
        return { ...result, storageProof: proofs.with(2, { ...proofs[2], value: '0x0' }) };
      },
      /refused/,
    ],
  ];
  test.each(lies)('%s', async (_, method, change, message) => {
    const stage = await scene(12);
    const { light } = await opened(stage);
    stage.execution.options.tamper = changed(method, (result) =>
      (result.storageProof as Json[] | undefined)?.length === 3 ? change(result) : result,
    );
    await expect(light.ask('eth_getBlockByNumber', 'finalized', false)).rejects.toThrow(message);
  });

  test('a header that has not the stored hash, of layer 2', async () => {
    const stage = await scene(12);
    const { light } = await opened(stage);
    stage.endpoint.options.tamper = changed('eth_getBlockByHash', (result) => ({
      ...result,
      stateRoot: `0x${'12'.repeat(32)}`,
    }));
    await expect(light.ask('eth_getBlockByNumber', 'finalized', false)).rejects.toThrow(/HEADER_HASH/);
  });
});

describe('a bundle of evidence', () => {
  const CLAIMS: Readonly<Record<string, EvidenceClaim>> = {
    account: { address: TEST_TOKEN, storageKeys: [SLOT] },
    absent: { address: `0x${'99'.repeat(20)}`, storageKeys: [] },
    older: { block: 4 },
    newest: { block: 10 },
  };

  test('proves accounts and blocks by the header of the finalized block', async () => {
    const stage = await scene(12);
    const { root, light } = await opened(stage);
    for (const [name, claim] of Object.entries(CLAIMS)) {
      const bundle = JSON.parse(JSON.stringify(await light.node.exportEvidence(claim))) as EvidenceBundle;
      // Of this bundle: what is signed after it is refused.
      const trust = { network, checkpoint: hexToBytes(root), now: stage.clock.now() };
      const verdict = await verifyEvidence(bundle, trust);
      if (!verdict.verified) throw new Error(`${name}: ${verdict.message}`);
      expect(verdict.finalized.number).toBe(10);
      expect(verdict.finalized.stateRoot).toBeUndefined();
      if (name === 'account')
        expect(verdict.ethereumProof!.slots.map(({ value }) => BigInt(bytesToHex(value)))).toEqual([
          1_000_000n * 10n ** 18n,
        ]);
      if (name === 'absent') expect(verdict.ethereumProof!.account).toBeUndefined();
      if ('block' in claim) {
        const expected = await stage.dev.ask<Json>('eth_getBlockByNumber', quantity(claim.block), false);
        expect(bytesToHex(verdict.header!.hash)).toBe(expected.hash);
      }
      // Each part is needed, and none can be another's.
      const { finalizedHeader, ...without } = bundle;
      const damaged: [string, object][] = [
        ['finalizedHeader', { ...bundle, finalizedHeader: { ...(finalizedHeader as object), gasUsed: '0x1' } }],
        ['rollup', { ...bundle, rollup: { ...(bundle.rollup as object), storageHash: `0x${'00'.repeat(32)}` } }],
      ];
      for (const [link, other] of damaged)
        expect(await verifyEvidence(other, trust), `${name} ${link}`).toMatchObject({ verified: false, link });
      const missing = await verifyEvidence(without, trust).catch((error: unknown) => error);
      expect(missing).not.toMatchObject({ verified: true });
    }
  });

  test('asks the next endpoint where one gives a false proof of the state', async () => {
    const stage = await scene(12);
    const liar = await serveMock(stage.dev.node);
    onTestFinished(() => liar.close());
    const { light } = await opened(stage, { endpoints: [liar.url, stage.endpoint.url], level: 'plain' });
    liar.options.tamper = changed('eth_getProof', (result) => ({ ...result, balance: '0x1' }));
    for (const claim of [CLAIMS.account!, CLAIMS.older!])
      expect(await light.node.exportEvidence(claim)).toMatchObject({ claim, finalized: 10 });
    expect(liar.seen.flat().filter(({ method }) => method === 'eth_getProof').length).toBeGreaterThan(0);
  });

  test('of before the change still holds after it, and needs no header', async () => {
    const stage = await scene(8);
    const { root, light } = await opened(stage);
    const before = await light.node.exportEvidence(CLAIMS.account!);
    expect(before).not.toHaveProperty('finalizedHeader');
    await stage.dev.ask('anvil_mine', '0x3');
    stage.clock.advance(10_000);
    const trust = { network, checkpoint: hexToBytes(root), now: stage.clock.now() };
    expect(await verifyEvidence(before, trust)).toMatchObject({ verified: true, finalized: { number: 6 } });
    // A header that nothing on layer 1 asks for is refused.
    const header = await stage.dev.node.request<UntypedMethod>({
      method: 'eth_getBlockByNumber',
      params: ['0x6', false],
    });
    expect(await verifyEvidence({ ...before, finalizedHeader: header }, trust)).toMatchObject({
      verified: false,
      reason: 'NO_BLOCK_HASH',
    });
    expect(await light.node.exportEvidence(CLAIMS.account!)).toHaveProperty('finalizedHeader');
  });
});
