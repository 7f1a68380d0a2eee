import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN as token, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { accountAt, PRICE, stranger, word } from '../support/dev-node.js';
import { type MockEndpoint, type MockOptions, serveMock } from '../support/mock-chain.js';
import { settledScene } from '../support/settled-scene.js';
import { signTransaction } from '../support/sign.js';

type Tamper = NonNullable<MockOptions['tamper']>;

const receiver = stranger('77');
const slot = bytesToHex(tokenBalanceSlot(hexToBytes(receiver)));
const transfer = (amount: bigint) => `0xa9059cbb${word(BigInt(receiver)).slice(2)}${word(amount).slice(2)}` as Hex;

/** What is read of the newest finalized block: each kind of read, of accounts and slots that exist and that do not. */
const READS: readonly (readonly [string, ...unknown[]])[] = [
  ['eth_getBalance', accountAt(0)],
  ['eth_getTransactionCount', accountAt(0)],
  ['eth_getCode', token],
  ['eth_getCode', accountAt(0)],
  ['eth_getStorageAt', token, slot],
  ['eth_getStorageAt', token, '0x99'],
  ['eth_getStorageValues', { [token]: [slot, '0x2'], [accountAt(1)]: ['0x1'], [stranger('99')]: ['0x0'] }],
  ['eth_getBalance', stranger('99')],
  ['eth_getCode', stranger('99')],
];

/** Says of the state of every block but the newest one that it is missing, as a full node does. */
const pruned: Tamper = ({ method, params }, result) => {
  const block = method === 'eth_getProof' ? params[2] : method === 'eth_getCode' ? params[1] : 'latest';
  if (block === 'latest') return result;
  throw Object.assign(new Error('missing trie node 11 (path ) state 0x22 is not available'), { code: -32000 });
};

/** Block 5 is the newest finalized one; it differs from block 4 in each of the reads. */
async function scene() {
  const { dev, ...rest } = await settledScene(1);
  for (let nonce = 0; nonce < 6; nonce++) {
    const data = transfer(BigInt(nonce + 1));
    const transaction = signTransaction(0, { nonce, to: token, data, gasLimit: 100_000n, ...PRICE });
    await dev.ask('eth_sendRawTransaction', transaction);
  }
  return { dev, ...rest, checkpoint: { root: await rest.checkpoint() } };
}

async function mockOf(dev: { readonly node: Parameters<typeof serveMock>[0] }, tamper: Tamper): Promise<MockEndpoint> {
  const mock = await serveMock(dev.node, { tamper });
  onTestFinished(() => mock.close());
  return mock;
}

describe('accounts at finalized where endpoints do not hold its state', () => {
  test('are read from the zk state after the finalized block, and the report names it', async () => {
    const { dev, endpoint, open, checkpoint } = await scene();
    endpoint.options.tamper = pruned;
    const { ask, reports } = await open({ checkpoint });
    for (const [method, ...params] of READS) {
      for (const tag of ['finalized', 'safe']) {
        expect(await ask(method, ...params, tag), method).toEqual(await dev.ask(method, ...params, '0x5'));
        expect(reports.at(-1), method).toMatchObject({
          class: 'proved',
          level: 'settled',
          blocks: [],
          zkBlock: 5,
          layerOne: { checkpoint },
        });
      }
    }
    expect(await dev.ask('eth_getStorageAt', token, slot, '0x5')).not.toEqual(
      await dev.ask('eth_getStorageAt', token, slot, '0x4'),
    );
  });

  test('are read from the block below it where endpoints hold that', async () => {
    const { dev, open, checkpoint } = await scene();
    const { ask, reports } = await open({ checkpoint });
    for (const [method, ...params] of READS) {
      expect(await ask(method, ...params, 'finalized'), method).toEqual(await dev.ask(method, ...params, '0x4'));
      expect(reports.at(-1), method).toMatchObject({ level: 'settled', blocks: [{ number: 4 }] });
      expect(reports.at(-1), method).not.toHaveProperty('zkBlock');
    }
  });

  test('cost one request for the state that is missing, then none for it', async () => {
    const { endpoint, open, checkpoint } = await scene();
    endpoint.options.tamper = pruned;
    const { ask } = await open({ checkpoint }, { finalityMaxAgeMs: 60_000 });
    const methods = () => endpoint.seen.flat().map(({ method }) => method);
    await ask('eth_getBalance', accountAt(0), 'finalized');
    expect(methods().filter((method) => method === 'eth_getProof')).toHaveLength(1);
    endpoint.seen.length = 0;
    await ask('eth_getBalance', accountAt(1), 'finalized');
    expect(methods()).toEqual(['linea_getProof']);
    await ask('eth_getTransactionCount', accountAt(1), 'finalized');
    expect(methods()).toEqual(['linea_getProof']);
  });

  test('a proof for the ordinary state is never made from the zk state', async () => {
    const { endpoint, open, checkpoint } = await scene();
    endpoint.options.tamper = pruned;
    const { ask } = await open({ checkpoint });
    await expect(ask('eth_getProof', token, [slot], 'finalized')).rejects.toMatchObject({
      message: /missing trie node/,
    });
  });

  test('where the zk state is missing too, no answer is given', async () => {
    const { endpoint, open, checkpoint } = await scene();
    // The proof of the history contract is there, and no other one.
    endpoint.options.tamper = (call, result) => {
      if (call.method === 'linea_getProof' && (call.params[1] as Hex[]).length === 0)
        throw Object.assign(new Error('BLOCK_MISSING_IN_CHAIN - block is missing'), { code: -32600 });
      return pruned(call, result);
    };
    const { ask, reports } = await open({ checkpoint });
    await expect(ask('eth_getBalance', accountAt(0), 'finalized')).rejects.toMatchObject({
      message: /BLOCK_MISSING_IN_CHAIN/,
    });
    expect(reports.at(-1)).not.toHaveProperty('level', 'settled');
  });

  test('a lie in any answer is refused, and an honest endpoint beside is believed', async () => {
    const { dev, endpoint, open, checkpoint } = await scene();
    const lies: Record<string, readonly [read: readonly [string, ...unknown[]], lie: Tamper]> = {
      'another balance': [
        ['eth_getBalance', accountAt(0)],
        ({ method }, result) => {
          if (method === 'linea_getProof') changeAccount(result, 1);
          return result;
        },
      ],
      'another nonce': [
        ['eth_getTransactionCount', accountAt(0)],
        ({ method }, result) => {
          if (method === 'linea_getProof') changeAccount(result, 0);
          return result;
        },
      ],
      'another slot': [
        ['eth_getStorageAt', token, slot],
        ({ method }, result) => {
          if (method !== 'linea_getProof') return result;
          (result as Proof).storageProofs[0]!.proof.value = word(10n ** 30n);
          return result;
        },
      ],
      'no account': [
        ['eth_getBalance', accountAt(0)],
        ({ method }, result) => (method === 'linea_getProof' ? dev.ask(method, stranger('98'), [], '0x5') : result),
      ],
      'the state of another block': [
        ['eth_getBalance', accountAt(0)],
        ({ method, params }, result) =>
          method === 'linea_getProof' ? dev.ask(method, params[0], params[1], '0x4') : result,
      ],
      'other code': [
        ['eth_getCode', token],
        ({ method }, result) => (method === 'eth_getCode' ? `${result as Hex}00` : result),
      ],
      'no code': [['eth_getCode', token], ({ method }, result) => (method === 'eth_getCode' ? '0x' : result)],
    };
    const honest = await mockOf(dev, pruned);
    for (const [name, [[method, ...params], lie]] of Object.entries(lies)) {
      endpoint.options.tamper = async (call, result) => {
        // The hash of the block below is honest, so that the lie is about the account.
        const isRing = call.method === 'linea_getProof' && call.params[0] === HISTORY;
        return isRing ? result : lie(call, await pruned(call, result));
      };
      const alone = await open({ checkpoint });
      await expect(alone.ask(method, ...params, 'finalized'), name).rejects.toMatchObject({ message: /refused/ });
      const beside = await open({ checkpoint }, { endpoints: [endpoint.url, honest.url], level: 'plain' });
      expect(await beside.ask(method, ...params, 'finalized'), name).toEqual(await dev.ask(method, ...params, '0x5'));
      expect(beside.reports.at(-1), name).toMatchObject({ level: 'settled', zkBlock: 5 });
    }
  });
});

describe('accounts at the number of the newest finalized block', () => {
  test('are read from the zk state, as its header is not settled yet', async () => {
    const { dev, open, checkpoint } = await scene();
    const { ask, reports } = await open({ checkpoint });
    for (const [method, ...params] of READS) {
      expect(await ask(method, ...params, '0x5'), method).toEqual(await dev.ask(method, ...params, '0x5'));
      expect(reports.at(-1), method).toMatchObject({ level: 'settled', blocks: [], zkBlock: 5 });
    }
    await ask('eth_getBalance', accountAt(0), '0x4');
    expect(reports.at(-1)).toMatchObject({ level: 'settled', blocks: [{ number: 4 }] });
    await ask('eth_getBalance', accountAt(0), '0x6');
    expect(reports.at(-1)).toMatchObject({ level: 'plain', blocks: [{ number: 6 }] });
  });

  test('are read at the level of the endpoints where none has the zk state', async () => {
    const { dev, endpoint, open, checkpoint } = await scene();
    endpoint.options.missing = ['linea_getProof'];
    const { ask, reports } = await open({ checkpoint });
    expect(await ask('eth_getBalance', accountAt(0), '0x5')).toEqual(
      await dev.ask('eth_getBalance', accountAt(0), '0x5'),
    );
    expect(reports.at(-1)).toMatchObject({ level: 'plain', blocks: [{ number: 5 }] });
  });
});

describe('calls at finalized where endpoints do not hold its state', () => {
  const balanceOf = { to: token, data: `0x70a08231${word(BigInt(receiver)).slice(2)}` };
  /** Returns the number of its block and the hash of the block below. */
  const context = { data: '0x435f5260014303' + '4060205260405ff3' };

  test('are executed on the finalized block: its zk state, and its header at the level of the endpoints', async () => {
    const { dev, endpoint, open, checkpoint } = await scene();
    endpoint.options.tamper = pruned;
    const { ask, reports } = await open({ checkpoint });
    for (const call of [balanceOf, context]) {
      for (const tag of ['finalized', 'safe']) {
        expect(await ask('eth_call', call, tag)).toEqual(await dev.ask('eth_call', call, '0x5'));
        const { blocks, ...report } = reports.at(-1)!;
        expect(report).toMatchObject({ class: 'computed', level: 'plain', zkBlock: 5 });
        expect(blocks.at(-1)).toMatchObject({ number: 5 });
      }
    }
    expect(await dev.ask('eth_call', balanceOf, '0x5')).not.toEqual(await dev.ask('eth_call', balanceOf, '0x4'));
  });

  test('are executed on the settled block where endpoints hold its state', async () => {
    const { dev, open, checkpoint } = await scene();
    const { ask, reports } = await open({ checkpoint });
    for (const call of [balanceOf, context]) {
      expect(await ask('eth_call', call, 'finalized')).toEqual(await dev.ask('eth_call', call, '0x4'));
      expect(reports.at(-1)).toMatchObject({ class: 'computed', level: 'settled', blocks: [{ number: 4 }] });
    }
  });

  test('an error says what to do for a block that is named by its number, and for an estimate', async () => {
    const { endpoint, open, checkpoint } = await scene();
    endpoint.options.tamper = pruned;
    const { ask } = await open({ checkpoint });
    const strict = await open({ checkpoint }, { required: { finalized: 'settled' } });
    await expect(strict.ask('eth_call', balanceOf, 'finalized')).rejects.toMatchObject({
      message: /block 5 is at level plain/,
    });
    const message = /no endpoint holds the state after block 4; give an endpoint that holds older states/;
    await expect(ask('eth_call', balanceOf, '0x4')).rejects.toMatchObject({ message });
    await expect(ask('linea_estimateGas', balanceOf, 'finalized')).rejects.toMatchObject({ message });
  });

  test('a header that does not follow the settled block is refused', async () => {
    const { endpoint, open, checkpoint } = await scene();
    const { ask } = await open({ checkpoint });
    const other = await settledScene(6);
    const fork = await other.dev.ask<object>('eth_getBlockByNumber', '0x5', false);
    endpoint.options.tamper = (call, result) =>
      call.method === 'eth_getBlockByNumber' && call.params[0] === '0x5' ? fork : pruned(call, result);
    await expect(ask('eth_call', balanceOf, 'finalized')).rejects.toMatchObject({ message: /refused/ });
  });
});

const HISTORY = '0x0000f90827f1c53a10cb7a02335b175320002935';

interface Proof {
  readonly accountProof: { readonly proof: { value: Hex } };
  readonly storageProofs: readonly { readonly proof: { value: Hex } }[];
}

/** Changes a word of the account in a `linea_getProof` answer. */
function changeAccount(answer: unknown, index: number): void {
  const { proof } = (answer as Proof).accountProof;
  const at = 2 + 64 * index;
  proof.value = `${proof.value.slice(0, at)}${word(12345n).slice(2)}${proof.value.slice(at + 64)}` as Hex;
}
