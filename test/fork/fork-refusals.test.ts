import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import { forkScene, HOLDER, tokensOf, transferAsHolder } from '../support/fork-scene.js';
import { inProofOf, type SeenCall } from '../support/mock-chain.js';
import { transferCalldata } from '../support/sign.js';

/** Each is about what the balance of `HOLDER` in tokens rests on. */
const LIES: Record<string, (call: SeenCall, result: unknown) => unknown> = {
  'a value of a slot': inProofOf(TEST_TOKEN, (proof) => {
    for (const slot of proof.storageProof) slot.value = '0xffff';
  }),
  'a slot that is said to be empty': inProofOf(TEST_TOKEN, (proof) => {
    for (const slot of proof.storageProof) Object.assign(slot, { value: '0x0', proof: [] });
  }),
  'an account that is said to be missing': inProofOf(TEST_TOKEN, (proof) => {
    proof.accountProof = proof.accountProof.slice(0, 1);
  }),
  'other code': ({ method, params }, result) =>
    method === 'eth_getCode' && params[0] === TEST_TOKEN ? `${result as Hex}00` : result,
};

describe('an endpoint that lies to a fork', () => {
  test.each(Object.entries(LIES))('%s is refused', async (_, tamper) => {
    const { open } = await forkScene([{ tamper }]);
    const { ask } = await open();
    await expect(tokensOf(ask, HOLDER)).rejects.toMatchObject({
      code: -32000,
      message: expect.stringMatching(/^the answer of http/),
    });
    // What a transaction needs is refused as well, and no block is made.
    const head = await ask('eth_blockNumber');
    await expect(transferAsHolder(ask, 30n)).rejects.toThrow();
    expect(await ask('eth_blockNumber')).toBe(head);
  });

  test.each(Object.entries(LIES))('%s: another endpoint is asked', async (_, tamper) => {
    const { dev, open } = await forkScene([{ tamper }, {}]);
    const { ask } = await open({ agreeing: 1, level: 'plain' });
    expect(await tokensOf(ask, HOLDER)).toBe(await tokensOf(dev.ask, HOLDER));
  });

  test('a fork does not open where the state cannot be proved', async () => {
    const tamper = inProofOf(accountAt(0), (proof) => {
      proof.balance = '0x1';
    });
    const { open } = await forkScene([{ tamper }]);
    await expect(open()).rejects.toMatchObject({ code: 'ANSWER_REFUSED' });
  });

  test('a fork of a chain with another id does not open', async () => {
    const { open } = await forkScene();
    await expect(open({ network: { ...devnet(), chainId: 1 } })).rejects.toMatchObject({
      code: 'UPSTREAM_WRONG_CHAIN',
    });
  });
});

describe('an endpoint that hangs', () => {
  test('a request ends in its time, and those after it go on when the endpoint answers', async () => {
    const { endpoints, open, dev } = await forkScene();
    const { ask } = await open({}, { requestTimeoutMs: 1_500 });
    const before = await tokensOf(dev.ask, HOLDER);
    await ask('anvil_setBalance', HOLDER, '0xde0b6b3a7640000');
    endpoints[0]!.options.tamper = () => new Promise(() => {});
    await expect(ask('eth_getBalance', TEST_TOKEN, 'latest')).rejects.toThrow(/Timeout expired/);
    await ask('anvil_impersonateAccount', HOLDER);
    const transaction = { from: HOLDER, to: TEST_TOKEN, data: transferCalldata(stranger('b2'), 5n), gas: '0x186a0' };
    await expect(ask('eth_sendTransaction', { ...transaction, gasPrice: '0x3b9aca00' })).rejects.toThrow(
      /Timeout expired/,
    );
    delete endpoints[0]!.options.tamper;
    await transferAsHolder(ask, 30n);
    expect(await ask('eth_blockNumber')).toBe('0x5');
    expect(await tokensOf(ask, HOLDER)).toBe(before - 30n);
  });
});

describe('what a fork does not have', () => {
  test('zk proofs of its own blocks, but those of the network', async () => {
    const { dev, open } = await forkScene();
    await dev.ask('anvil_mine', 4);
    const { ask } = await open();
    await ask('anvil_mine', 3);
    for (const at of ['latest', 'finalized', '0x9']) {
      await expect(ask('linea_getProof', TEST_TOKEN, [word(2n)], at)).rejects.toThrow(
        /this chain is a fork, whose own blocks have no zk state/,
      );
    }
    expect(await ask('linea_getProof', TEST_TOKEN, [word(2n)], '0x6')).toEqual(
      await dev.ask('linea_getProof', TEST_TOKEN, [word(2n)], '0x6'),
    );
  });

  test('a block that the network does not have', async () => {
    const { open } = await forkScene();
    await expect(open({ block: 77 })).rejects.toMatchObject({ code: 'BLOCK_NOT_FOUND', details: { block: '77' } });
    await expect(open({ block: word(9n) })).rejects.toMatchObject({
      code: 'BLOCK_NOT_FOUND',
      details: { block: word(9n) },
    });
  });

  test('blocks before it to roll back, another endpoint, a file of its chain', async () => {
    const { open } = await forkScene();
    const { ask, node } = await open();
    await ask('anvil_mine', 2);
    await expect(ask('anvil_rollback', 3)).rejects.toThrow(
      'depth: must not exceed 2, the number of blocks since the fork at block 4',
    );
    await expect(ask('anvil_setRpcUrl', 'http://127.0.0.1:1')).rejects.toThrow(/endpoints of a fork are options/);
    await expect(ask('anvil_reset', { forking: { jsonRpcUrl: 'http://127.0.0.1:1' } })).rejects.toThrow(
      /endpoints of a fork are options/,
    );
    await expect(ask('anvil_reset', { forking: { blockNumber: 2 } })).rejects.toThrow(/begins with block 4/);
    await expect(node.exportChain()).rejects.toThrow();
    await expect(node.l1.request({ method: 'eth_blockNumber' })).rejects.toThrow();
  });
});

describe('options of a fork', () => {
  const network = devnet();
  const endpoints = ['http://127.0.0.1:1'];
  const wrong: [string, InlineOptions, string][] = [
    [
      'a misspelt member',
      { chain: { kind: 'devnet', fork: { network, endpoints, blok: 3 } as never } },
      'chain.fork.blok: is not an option; did you mean block?',
    ],
    [
      'a genesis',
      { chain: { kind: 'devnet', genesis: {}, fork: { network, endpoints } } as never },
      'chain.genesis: and chain.fork cannot both be given: a fork takes it from its network',
    ],
    [
      'a scheme',
      { chain: { kind: 'devnet', scheme: 'mimc', fork: { network, endpoints } } as never },
      'chain.scheme: and chain.fork cannot both be given: a fork takes it from its network',
    ],
    [
      'no endpoints',
      { chain: { kind: 'devnet', fork: { network } as never } },
      'chain.fork.endpoints: must be a list of endpoints: docs/providers.md lists some; none is a default, since an endpoint sees what you ask',
    ],
    [
      'no network',
      { chain: { kind: 'devnet', fork: { endpoints } as never } },
      'chain.fork.network: must be a network profile, such as `linea` or `devnet()`; a name is not enough',
    ],
    ['no object', { chain: { kind: 'devnet', fork: 'linea' as never } }, 'chain.fork: must be an object, is a string'],
    [
      'a block that is none',
      { chain: { kind: 'devnet', fork: { network, endpoints, block: -1 } } },
      'chain.fork.block: must be a number of a block, a hash of 32 bytes in hex, or latest, finalized or safe',
    ],
    [
      'a budget of a devnet',
      { storage: { budgets: { devnet: 1 } }, chain: { kind: 'devnet', fork: { network, endpoints } } },
      'storage.budgets.devnet: and chain.fork cannot both be given: blocks of a fork are not pruned',
    ],
  ];
  test.each(wrong)('%s', async (_, options, message) => {
    await expect(createInlineNode(options)).rejects.toMatchObject({ code: 'INVALID_PARAMETER', message });
  });

  test('stranger endpoints: that they cannot be reached is said', async () => {
    const chain = { kind: 'devnet', fork: { network, endpoints } } as const;
    await expect(createInlineNode({ chain })).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(stranger('11')).toHaveLength(42);
  });
});
