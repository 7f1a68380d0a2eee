import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSeals } from '../../src/chain/light/open-heads.js';
import { headerHash } from '../../src/ethereum/header.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { RequestArguments, UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { readHeader } from '../../src/proof/headers.js';
import { RestGroup } from '../../src/upstream/rest-group.js';
import { accountAt } from '../support/dev-node.js';
import { type Fate, faultOf, type Outcome, otherDigit, otherQuantity, type Pick, VARIANTS } from '../support/liar.js';
import { type SealedAnswers, sealBlock, VALIDATORS } from '../support/liar-seals.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import { type MockUpstream, openMockUpstream } from '../support/mock-upstream.js';
import { seededRandom } from '../support/random.js';
import { ShiftedClock } from '../support/shifted-clock.js';

const network = { ...devnet(), sealing: { maru: { validators: VALIDATORS } } };
const holder = accountAt(0);

/** Changes what Maru says; true seals are `sealed(signers)`. */
type SealLie = (
  answers: SealedAnswers,
  pick: Pick,
  sealed: (signers: readonly number[]) => SealedAnswers,
  variant: number,
) => SealedAnswers;
const attestations = ({ block }: SealedAnswers) => block.data.message.body.attestations;
const payload = ({ block }: SealedAnswers) => block.data.message.body.execution_payload;

/** Two of four, or one, or none: below the quorum of three. */
const FEW = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3], [0], [3], [], [1, 1, 1, 1]];
const WITH_STRANGER = ['40123', '04123', '01423', '01243', '01234', '4123', '1243', '0124', '4', '44'].map((signers) =>
  [...signers].map(Number),
);
const PAYLOAD = [
  'parent_hash',
  'fee_recipient',
  'state_root',
  'receipts_root',
  'logs_bloom',
  'prev_randao',
  'gas_limit',
  'gas_used',
  'extra_data',
  'block_hash',
];

const LIES: [name: string, lie: SealLie, alone: Fate][] = [
  [
    'a seal by a stranger',
    (_, __, sealed, variant) => sealed(WITH_STRANGER[variant]!),
    { check: /^SEAL_BY_STRANGER$/, what: /^sealed block$/, at: /^commitSeals\[\d\]$/ },
  ],
  [
    'a quorum that is short',
    (_, __, sealed, variant) => sealed(FEW[variant]!),
    { check: /^QUORUM_SHORT$/, what: /^sealed block$/, at: /^commitSeals$/ },
  ],
  [
    'a spoilt seal',
    (answers, pick) => {
      const some = attestations(answers)[pick(4)];
      some.signature = otherDigit(some.signature, pick);
      return answers;
    },
    { check: /^SEAL_(INVALID|BY_STRANGER)$/, what: /^sealed block$/, at: /^commitSeals\[\d\]$/ },
  ],
  [
    'a sealed payload',
    (answers, pick, _, variant) => {
      const [fields, name] = [payload(answers), PAYLOAD[variant]!];
      fields[name] = fields[name].startsWith('0x') ? otherDigit(fields[name], pick) : String(BigInt(fields[name]) + 1n);
      return answers;
    },
    { check: /^BODY_ROOT_MISMATCH$/, what: /^sealed block$/, at: /^header\.bodyRoot$/ },
  ],
  [
    'a beacon header',
    ({ block, header }, pick, _, variant) => {
      for (const answer of variant % 2 === 0 ? [header, block] : [header]) {
        const { message } = answer.data;
        message.parent_root = otherDigit(message.parent_root, () => pick.length);
      }
      header.data.message.timestamp = String(Number(header.data.message.timestamp) + 1 + variant);
      return { block, header };
    },
    { check: /^(STATE_ROOT_MISMATCH|ANSWERS_DIFFER)$/, what: /^sealed block$/ },
  ],
];

/** Blocks of the chain; the first sealed block that is not stale is `maxLagBlocks` below the last. */
const BLOCKS = 120;
const LAG = 32;

describe('lies about seals', () => {
  let dev: PlumblineNode;
  let l2: MockEndpoint[];
  let third: MockEndpoint;
  let maru: MockUpstream[];
  let execution: Record<string, Hex>;
  let said: SealedAnswers;

  beforeAll(async () => {
    dev = await createInlineNode({ chain: { kind: 'devnet', network } });
    for (let i = 0; i < BLOCKS; i++) await dev.request({ method: 'evm_mine', params: [] });
    execution = (await dev.request<UntypedMethod>({
      method: 'eth_getBlockByNumber',
      params: ['latest', false],
    })) as typeof execution;
    l2 = await Promise.all([serveMock(dev), serveMock(dev)]);
    third = await serveMock(dev);
    const serve = (answers: () => SealedAnswers) =>
      openMockUpstream({
        get: (path) => ({ status: 200, body: path.includes('/headers/') ? answers().header : answers().block }),
      });
    const truth = sealBlock(execution);
    said = truth;
    maru = [await serve(() => said), await serve(() => truth)];
  });
  afterAll(async () => {
    await Promise.all([...l2, third, ...maru].map((mock) => mock.close()));
    await dev.close();
  });

  const question = { method: 'eth_getBalance', params: [holder, 'latest'] };
  const ask = (count: number, endpoints = [l2[1]!.url]) => askNode(question, count, endpoints);
  async function askNode(what: RequestArguments, count: number, endpoints: readonly string[]): Promise<Outcome> {
    const errors: unknown[] = [];
    const options = { onError: (error: unknown) => errors.push(error) };
    const sources = maru.slice(0, count).map(({ url }) => url);
    const chain = { kind: 'light', network, endpoints, maru: sources, level: 'sealed' } as const;
    const node = await createInlineNode({ ...options, chain });
    try {
      return { answer: await node.request<UntypedMethod>(what) };
    } catch (thrown) {
      return { error: errors[0] ?? thrown, thrown };
    } finally {
      await node.close();
    }
  }

  test.each(LIES)('%s', async (_, lie, alone) => {
    const expected = await dev.request<UntypedMethod>(question);
    const seen = new Set<string>();
    for (let variant = 0; variant < VARIANTS; variant++) {
      const pick = seededRandom(variant * 7919 + 17);
      said = lie(sealBlock(execution), pick, (signers) => sealBlock(execution, signers), variant);
      seen.add(JSON.stringify(said));
      expect(faultOf(await ask(1), alone, expected), `${variant} alone`).toBeUndefined();
      expect(faultOf(await ask(2), 'right', expected), `${variant} beside`).toBeUndefined();
    }
    expect(seen.size).toBe(VARIANTS);
    said = sealBlock(execution);
    expect(faultOf(await ask(1), 'right', expected), 'no false seals').toBeUndefined();
  });

  describe('a sealed head that is stale', () => {
    const question = { method: 'eth_blockNumber' };
    const blockAt = async (number: number) => {
      const params = [`0x${number.toString(16)}`, false];
      return (await dev.request<UntypedMethod>({ method: 'eth_getBlockByNumber', params })) as typeof execution;
    };
    /** Down to the first block. */
    const stale = (variant: number) => BLOCKS - LAG - 1 - Math.floor((variant * (BLOCKS - LAG - 2)) / (VARIANTS - 1));
    const alone: Fate = { check: /^TRUST_LEVEL_NOT_REACHED$/, what: /^trust level sealed.* sealed block \d+ is stale/ };
    const top = `0x${BLOCKS.toString(16)}`;

    test('is refused by a new node where another endpoint is newer', async () => {
      const seen = new Set<number>();
      for (let variant = 0; variant < VARIANTS; variant++) {
        seen.add(stale(variant));
        said = sealBlock(await blockAt(stale(variant)));
        const ask = (count: number) =>
          askNode(question, count, variant % 2 === 0 ? [l2[1]!.url] : l2.map(({ url }) => url));
        expect(faultOf(await ask(1), alone, top), `${variant} alone`).toBeUndefined();
        expect(faultOf(await ask(2), 'right', top), `${variant} beside`).toBeUndefined();
      }
      expect(seen.size).toBe(VARIANTS);
      said = sealBlock(await blockAt(BLOCKS - LAG));
      expect(await askNode(question, 1, [l2[1]!.url])).toEqual({ answer: `0x${(BLOCKS - LAG).toString(16)}` });
    });

    test('is refused by a node that has seen newer blocks, even if layer-2 endpoints fall back too', async () => {
      for (let variant = 0; variant < VARIANTS; variant++) {
        for (const count of [1, 2]) {
          said = sealBlock(execution);
          const clock = new ShiftedClock();
          const sources = maru.slice(0, count).map(({ url }) => url);
          const chain = { kind: 'light', network, endpoints: [l2[0]!.url], maru: sources, level: 'sealed' } as const;
          const node = await createInlineNode({ clock, chain });
          expect(await node.request<UntypedMethod>(question)).toBe(top);
          const old = await blockAt(stale(variant));
          said = sealBlock(old);
          if (variant % 2 === 1)
            l2[0]!.options.tamper = ({ method, params }, result) =>
              method === 'eth_getBlockByNumber' && params[0] === 'latest' ? old : result;
          for (const later of [5_000, 600_000]) {
            clock.advance(later);
            const outcome = await node.request<UntypedMethod>(question).catch(({ message }) => message);
            if (count === 2 && variant % 2 === 0) expect(outcome, `${variant}`).toBe(top);
            else expect(outcome, `${variant}`).toMatch(/is stale|no endpoint has reached block/);
          }
          delete l2[0]!.options.tamper;
          await node.close();
        }
      }
      said = sealBlock(execution);
    });

    test('an endpoint of layer 2 that invents its height among three does not make a sealed head stale', async () => {
      said = sealBlock(execution);
      l2[0]!.options.tamper = ({ method, params }, result) => {
        if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return result;
        const changed = { ...(result as object), number: '0x3e8' };
        return { ...changed, hash: bytesToHex(headerHash(readHeader(changed))) };
      };
      const three = [...l2, third].map(({ url }) => url);
      expect(await askNode(question, 1, three)).toEqual({ answer: top });
      delete l2[0]!.options.tamper;
    });

    test('a source that cannot be reached is not reported as false', async () => {
      const dead = await openMockUpstream({ get: () => ({ status: 503, body: {} }) });
      said = sealBlock(await blockAt(5));
      const group = new RestGroup({
        role: 'maru',
        endpoints: [dead.url, maru[0]!.url, maru[1]!.url],
      });
      const blame = vi.spyOn(group.group, 'reportFalse');
      const head = await openSeals(network, group).head(undefined, 60);
      expect(head.number).toBe(BLOCKS);
      expect(blame.mock.calls).toEqual([[group.group.endpoints[1]!.id, 'its sealed block is stale']]);
      group.close();
      await dead.close();
      said = sealBlock(execution);
    });
  });

  test('a head that is not the sealed one is refused; so is an endpoint without the sealed block', async () => {
    const expected = await dev.request<UntypedMethod>(question);
    said = sealBlock(execution);
    for (let variant = 0; variant < VARIANTS; variant++) {
      const pick = seededRandom(variant + 5);
      l2[0]!.options.tamper = ({ method }, result) => {
        const block = result as Record<string, Hex>;
        if (method === 'eth_getBlockByHash') return variant % 2 === 0 ? null : { ...block, gasUsed: '0x1' };
        return method === 'eth_getBlockByNumber'
          ? { ...block, timestamp: otherQuantity(block.timestamp!, pick) }
          : block;
      };
      const fate = { check: /^(HASH_MISMATCH|TRUST_LEVEL_NOT_REACHED)$/, what: /^header$|sealed/ };
      expect(faultOf(await ask(1, [l2[0]!.url]), fate, expected), `${variant} alone`).toBeUndefined();
      const both = l2.map(({ url }) => url);
      expect(faultOf(await ask(1, both), 'right', expected), `${variant} beside`).toBeUndefined();
    }
    delete l2[0]!.options.tamper;
  });
});
