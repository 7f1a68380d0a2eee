import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { headerHash } from '../../src/ethereum/header.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { readHeader } from '../../src/proof/headers.js';
import { accountAt, PRICE, stranger, word } from '../support/dev-node.js';
import {
  type Answer,
  type Fate,
  type Lie,
  openStage,
  otherDigit,
  otherQuantity,
  type Pick,
  type Question,
  type Stage,
  type Tell,
} from '../support/liar.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const BLOCKS = 48;
const holder = accountAt(0);
const estimate: Question = [
  'linea_estimateGas',
  { from: holder, to: token, data: transferCalldata(stranger('77'), 5n) },
];
const balance: Question = ['eth_getBalance', holder, 'latest'];
const number: Question = ['eth_blockNumber'];

async function history(dev: PlumblineNode): Promise<void> {
  for (let nonce = 0; nonce < 4; nonce++) {
    const raw = signTransaction(0, { nonce, to: stranger('11'), value: 3n, gasLimit: 21_000n, ...PRICE });
    await dev.request({ method: 'eth_sendRawTransaction', params: [raw] });
  }
  for (let block = 4; block < BLOCKS; block++) await dev.request({ method: 'evm_mine', params: [] });
}

const isBlock = (method: string) => method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash';
/** A lie about the newest block. */
const ofHead =
  (change: (block: Answer, pick: Pick, variant: number) => Answer): Tell =>
  ({ method, params }, result, pick, variant) =>
    isBlock(method) && params[0] === 'latest' ? change(result, pick, variant) : undefined;
/** A lie about every block near the head, so that there is no older one to agree on. */
const ofFork =
  (change: (block: Answer, pick: Pick, variant: number) => Answer): Tell =>
  ({ method }, result, pick, variant) =>
    isBlock(method) && Number(result?.number) > BLOCKS - 8 ? change(result, pick, variant) : undefined;
/** A block that was never made, with the hash that its fields have. */
const invented = (block: Answer, fields: object): Answer => {
  const changed = { ...block, ...fields };
  return { ...changed, hash: bytesToHex(headerHash(readHeader(changed))) };
};
/** As `invented`, on a parent that was never made either. */
const fork = (block: Answer, fields: object): Answer =>
  invented(block, { parentHash: word(BigInt(block.hash) ^ 1n), ...fields });
/** Fixed cost, variable cost and gas price of the extra data, one of them another. */
function otherPrices(extraData: Hex, pick: Pick): Hex {
  const bytes = hexToBytes(extraData);
  bytes[1 + 4 * pick(3) + 2 + pick(2)]! ^= 1 + pick(255);
  return bytesToHex(bytes);
}

const FIELDS = [
  'parentHash',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'baseFeePerGas',
];
const hashed = { check: /^HASH_MISMATCH$/, what: /^header$/, at: /^hash$/ };
const unvouched = { check: /^TRUST_LEVEL_NOT_REACHED$/, what: /linked.*2 endpoints have to agree/ };
/** Lies that one endpoint alone cannot reveal, so that the level asks for two: refused by two, right again with a third. */
const needsTwo: Partial<Lie> & { readonly alone: Fate } = {
  alone: unvouched,
  withOne: true,
  beside: 'right',
  honest: 2,
};

const LIES: Lie[] = [
  {
    name: 'a header field',
    ask: (variant) => [number, balance, estimate][variant % 3]!,
    tell: ofHead((block, pick, variant) => {
      const field = FIELDS[variant]!;
      return {
        ...block,
        [field]: block[field].length > 20 ? otherDigit(block[field], pick) : otherQuantity(block[field], pick),
      };
    }),
    alone: { check: /^(HASH_MISMATCH|OTHER_BLOCK)$/, what: /^header$/ },
    honest: 2,
  },
  {
    name: 'a header field of an older block',
    ask: (variant) => ['eth_getBlockByNumber', `0x${(BLOCKS - 12 + variant).toString(16)}`, false],
    tell: ({ method, params }, result, pick, variant) => {
      if (!isBlock(method) || Number(params[0]) !== BLOCKS - 12 + variant) return undefined;
      const field = FIELDS[variant]!;
      return {
        ...result,
        [field]: result[field].length > 20 ? otherDigit(result[field], pick) : otherQuantity(result[field], pick),
      };
    },
    alone: hashed,
  },
  {
    name: 'an older block that does not link',
    ask: (variant) => ['eth_getBlockByNumber', `0x${(BLOCKS - 12 + variant).toString(16)}`, false],
    tell: ({ method, params }, result, pick, variant) =>
      isBlock(method) && Number(params[0]) === BLOCKS - 12 + variant
        ? invented(result, { stateRoot: otherDigit(result.stateRoot, pick) })
        : undefined,
    alone: { check: /^PARENT_MISMATCH$/, what: /^header of block \d+$/, at: /^parentHash$/ },
  },
  {
    name: 'an older block left out',
    ask: (variant) => ['eth_getBlockByNumber', `0x${(BLOCKS - 12 + variant).toString(16)}`, false],
    tell: ({ method, params }, _, __, variant) =>
      isBlock(method) && Number(params[0]) === BLOCKS - 12 + variant ? null : undefined,
    alone: { check: /^MISSING$/, what: /^header of block \d+$/ },
  },
  {
    name: 'a block far below left out',
    ask: (variant) => ['eth_getBlockByNumber', `0x${(variant + 1).toString(16)}`, false],
    tell: ({ method, params }, _, __, variant) =>
      isBlock(method) && Number(params[0]) === variant + 1 ? null : undefined,
    alone: { check: /^MISSING$/, what: /^header of block \d+$/ },
    honest: 2,
  },
  {
    name: 'a block far below that was never made',
    ask: (variant) => ['eth_getBlockByNumber', `0x${(variant + 1).toString(16)}`, false],
    tell: ({ method, params }, result, pick, variant) =>
      isBlock(method) && Number(params[0]) === variant + 1
        ? invented(result, { stateRoot: otherDigit(result.stateRoot, pick) })
        : undefined,
    alone: { check: /^UPSTREAM_DISAGREEMENT$/, what: /no two endpoints agree, but 2 must/ },
    withOne: true,
    honest: 2,
  },
  {
    name: 'another block in place of one far below',
    ask: (variant) => ['eth_getBlockByNumber', `0x${(variant + 1).toString(16)}`, false],
    tell: ({ method, params }, _, pick, variant) =>
      isBlock(method) && Number(params[0]) === variant + 1 ? older[variant + 2 + pick(20)] : undefined,
    alone: { check: /^OTHER_BLOCK$/, what: /^header$/, at: /^number$/ },
    honest: 2,
  },
  {
    name: 'a header as no block has one',
    ask: (variant) => [number, balance, estimate][variant % 3]!,
    tell: ofHead((block, pick, variant) =>
      invented(
        block,
        [
          { difficulty: `0x${(1 + pick(1_000_000)).toString(16)}` },
          { nonce: `0x${(1 + pick(1_000_000)).toString(16).padStart(16, '0')}` },
          { sha3Uncles: otherDigit(block.sha3Uncles, pick) },
          { gasUsed: `0x${(BigInt(block.gasLimit) + BigInt(1 + pick(1_000))).toString(16)}` },
          { extraData: `0x${'01'.repeat(33 + pick(64))}` },
        ][variant % 5]!,
      ),
    ),
    alone: { check: /^(CONSTANT_MISMATCH|LIMIT_EXCEEDED)$/, what: /^header of block \d+$/ },
    honest: 2,
  },
  {
    name: 'a block by its hash',
    ask: (variant) => ['eth_getBlockByHash', older[3 * variant].hash, false],
    tell: ({ method }, result, pick) =>
      method === 'eth_getBlockByHash' ? invented(result, { miner: otherDigit(result.miner, pick) }) : undefined,
    alone: { check: /^OTHER_BLOCK$/, what: /^header$/, at: /^hash$/ },
  },
  {
    name: 'a state root',
    ask: (variant) => (variant % 2 === 0 ? balance : ['eth_call', { to: token, data: '0x18160ddd' }, 'latest']),
    tell: ofHead((block, pick) => invented(block, { stateRoot: otherDigit(block.stateRoot, pick) })),
    alone: { check: /^NODE_HASH_MISMATCH$/, what: /^account 0x/, at: /^accountProof\[0\]$/ },
    honest: 2,
  },
  {
    name: 'a state root, where two have to agree',
    ask: (variant) => [number, balance, estimate][variant % 3]!,
    tell: ofFork((block, pick) => fork(block, { stateRoot: otherDigit(block.stateRoot, pick) })),
    ...needsTwo,
  },
  {
    name: 'prices in the extra data, without the hash',
    ask: (variant) => [estimate, ['eth_gasPrice'] as const][variant % 2]!,
    tell: ofHead((block, pick) => ({ ...block, extraData: otherPrices(block.extraData, pick) })),
    alone: hashed,
    honest: 2,
  },
  {
    name: 'prices in the extra data',
    ask: (variant) => [estimate, ['eth_gasPrice'] as const][variant % 2]!,
    tell: ofFork((block, pick) => fork(block, { extraData: otherPrices(block.extraData, pick) })),
    ...needsTwo,
  },
  {
    name: 'a head number that is too high',
    ask: (variant) => (variant % 2 === 0 ? number : balance),
    tell: ofHead((block, pick, variant) =>
      invented(block, { number: `0x${(Number(block.number) + 40 + variant * 100 + pick(90)).toString(16)}` }),
    ),
    ...needsTwo,
  },
  {
    name: 'a head number that is a little too high',
    ask: (variant) => (variant % 2 === 0 ? number : balance),
    tell: ofHead((block, _, variant) =>
      invented(block, { number: `0x${(Number(block.number) + 1 + 3 * variant).toString(16)}` }),
    ),
    alone: 'right',
    withOne: true,
  },
  {
    name: 'a head number without its hash',
    ask: (variant) => (variant % 2 === 0 ? number : balance),
    tell: ofHead((block, pick) => ({ ...block, number: otherQuantity(block.number, pick) })),
    alone: hashed,
    honest: 2,
  },
  {
    name: 'a stale head',
    ask: (variant) => (variant % 2 === 0 ? number : balance),
    tell: ofHead((_, __, variant) => older[BLOCKS - 5 - 4 * variant]),
    ...needsTwo,
    chain: { maxLagBlocks: 4 },
  },
  {
    name: 'a chain of another id',
    ask: (variant) => (variant % 2 === 0 ? number : balance),
    tell: ({ method }, _, pick, variant) =>
      method === 'eth_chainId' ? [`0x${(1 + pick(59_000)).toString(16)}`, 59_139 + variant][variant % 2] : undefined,
    alone: { check: /^UPSTREAM_WRONG_CHAIN$/, what: / (?:serves chain \w+|names no chain id), not 59139 / },
    honest: 2,
  },
];
/** Blocks by their number. */
const older: Answer[] = [];

describe('lies about the head', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(history);
    for (let at = 0; at <= BLOCKS; at++)
      older.push(await stage.truth(['eth_getBlockByNumber', `0x${at.toString(16)}`, false]));
  });
  afterAll(() => stage.close());

  test.each(LIES.map((lie) => [lie.name, lie] as const))('%s', async (_, lie) => {
    expect(await stage.check(lie)).toEqual([]);
  });
});
