import { encodeAbiParameters, keccak256, numberToHex, toBytes, toFunctionSelector } from 'viem';
import { namehash } from 'viem/ens';
import { describe, expect, test } from 'vitest';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { devnet } from '../../src/networks/devnet.js';
import { ethereum, hoodi } from '../../src/networks/ethereum.js';
import { linea } from '../../src/networks/linea.js';
import type { Network } from '../../src/networks/network.js';
import type { Hex } from '../../src/primitives/hex.js';
import { attestedScene } from '../support/attested-chain.js';
import { devNode, stranger } from '../support/dev-node.js';
import { deployEns, ENS } from '../support/ens-contracts.js';

const ALICE = stranger('a1');
const BOB = stranger('b0');
const ens = { registry: ENS.registry };
const ADDR = '0x3b3b57de';
const ADDR_OF_COIN = '0xf1cb7e06';
const NAME = '0x691f3431';
const RESOLVE = '0x9061b923';
const SUPPORTS = '0x01ffc9a7';

/** A devnet with a name service. */
async function ensNode() {
  const dev = await devNode({ chain: { kind: 'devnet', network: { ...devnet(), ens } } });
  return { ...dev, ens: await deployEns(dev.ask) };
}

/** A light node of a layer 1 with a name service, in which alice.eth is ALICE and ALICE is alice.eth, and endpoints of it. */
async function attestedNames(options: Parameters<typeof attestedScene>[0] = {}) {
  const scene = await attestedScene(options);
  const { dev, servers, clock, carry, slotNow, finalized, network } = scene;
  const names = await deployEns(dev.ask);
  await names.address('alice.eth', ALICE);
  await names.reverse(ALICE, 'alice.eth');
  const attest = async () => {
    clock.advance(3_000);
    const number = await dev.number();
    for (const server of servers) server.attested = { block: await carry(slotNow() - 1, number, finalized) };
    return number;
  };
  const number = await attest();
  const { node, reports } = await scene.open({}, { network: { ...network, ens } });
  return { ...scene, node, reports, names, number, attest };
}

describe('on a light node of a layer 1', () => {
  test('a name is read from attested state, and the answer says of which block', async () => {
    const { dev, node, reports, number, names, attest, endpoints } = await attestedNames();
    const { hash } = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', numberToHex(number), false);
    const trust = { level: 'attested', block: { number, hash } };
    endpoints[0]!.seen.length = 0;
    expect(await node.resolveName('Alice.ETH')).toEqual({
      name: 'alice.eth',
      coinType: 60,
      status: 'resolved',
      address: ALICE,
      resolver: ENS.records,
      trust,
    });
    // The questions are run here: what is asked of an endpoint is state with its proofs.
    const asked = new Set(endpoints[0]!.seen.flat().map(({ method }) => method));
    expect([...asked].filter((method) => !/^eth_(get(Proof|Code|Block|Header)|chainId)/.test(method))).toEqual([]);
    expect(reports.at(-1)).toMatchObject({
      method: 'plumbline_resolveName',
      class: 'computed',
      level: 'attested',
      blocks: [{ number, hash }],
    });
    const lookup = { method: 'plumbline_lookupAddress', params: [ALICE] } as const;
    expect(await node.request(lookup)).toEqual(await node.lookupAddress(ALICE));
    expect(await node.lookupAddress(ALICE)).toEqual({
      address: ALICE,
      coinType: 60,
      status: 'found',
      name: 'alice.eth',
      trust,
    });
    // Before the name was there, and after it has moved.
    expect(await node.resolveName('alice.eth', { block: 'finalized' })).toMatchObject({
      status: 'failed',
      reason: 'malformed',
      contract: ENS.registry,
      trust: { level: 'settled', block: { number: 3 } },
    });
    await names.address('alice.eth', BOB);
    await attest();
    expect(await node.resolveName('alice.eth', { block: numberToHex(number) })).toMatchObject({ address: ALICE });
    expect(await node.resolveName('alice.eth')).toMatchObject({ address: BOB });
    expect(await node.lookupAddress(ALICE)).toMatchObject({
      status: 'otherAddress',
      claimed: 'alice.eth',
      forward: BOB,
    });
  });

  test('an endpoint that lies about a slot of the registry is refused, and never gives an address', async () => {
    const { dev, node, endpoints, number } = await attestedNames({ endpoints: 1 });
    const lie = { on: true };
    endpoints[0]!.options.tamper = ({ method, params }, result) => {
      if (!lie.on || method !== 'eth_getProof' || params[0] !== ENS.registry) return result;
      const proof = structuredClone(result) as { storageProof: { value: Hex }[] };
      for (const one of proof.storageProof) one.value = ENS.hostile;
      return proof;
    };
    await expect(node.resolveName('alice.eth')).rejects.toThrow(
      `about account ${ENS.registry} was refused: VALUE_MISMATCH`,
    );
    await expect(node.resolveName('bob.eth')).rejects.toThrow('VALUE_MISMATCH');
    lie.on = false;
    expect(await node.resolveName('alice.eth')).toMatchObject({ status: 'resolved', address: ALICE });
    expect(await node.resolveName('bob.eth')).toMatchObject({ status: 'noResolver', trust: { block: { number } } });
    expect(await dev.number()).toBe(number);
  });

  test('what is read is fetched together', async () => {
    const { node, endpoints } = await attestedNames();
    endpoints[0]!.seen.length = 0;
    await node.resolveName('alice.eth');
    const rounds = endpoints[0]!.seen.filter((calls) => calls.some(({ method }) => method === 'eth_getProof')).length;
    expect(rounds).toBeLessThanOrEqual(5);
  });
});

describe('a name', () => {
  test.each([
    // @source adraffy/ens-normalize.js validate/custom-tests.json, part of the validation tests of ENSIP-15
    ['vitalik.eth', 'vitalik.eth'],
    ['bRAnTlY.eTh', 'brantly.eth'],
    ['Öbb.at', 'öbb.at'],
    ['Ⅷ', 'viii'],
    ["a'a’a", 'a’a’a'],
    ['💩💩︎💩️', '💩💩💩'],
    ['_____a', '_____a'],
    ['', undefined],
    ['.eth', undefined],
    ['eth.', undefined],
    ['．', undefined],
    ['te st', undefined],
    ['test\u200D', undefined],
    ['a_b', undefined],
    ['xn--ls8h', undefined],
    ['a\u0303\u0303', undefined],
    ['💩\u200D💩', undefined],
  ])('is normalised by ENSIP-15: %j', async (given, normalised) => {
    const { node } = await ensNode();
    if (normalised === undefined)
      await expect(node.resolveName(given)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringMatching(/^Invalid name params \(name: is (not a name by ENSIP-15: |empty\))/),
      });
    else expect(await node.resolveName(given)).toMatchObject({ name: normalised, status: 'noResolver' });
  });

  test('of the wrong kind, too long, or with unknown options is refused', async () => {
    const { node } = await ensNode();
    for (const [name, options, message] of [
      [5, {}, 'name: is not a string'],
      ['a'.repeat(1_001), {}, 'name: has more than 1000 characters'],
      [`${'a'.repeat(256)}.eth`, {}, 'name: is longer than 1000 bytes, or has a label of more than 255'],
      ['a.eth', { coinType: 2 ** 32 }, 'options.coinType: must be a whole number below 2^32'],
      ['a.eth', { coinType: -1 }, 'options.coinType: must be a whole number below 2^32'],
      ['a.eth', { coin: 60 }, 'options.coin: is not known; there are coinType, block'],
      ['a.eth', { block: 'newest' }, 'options.block: is neither a block tag nor hex'],
    ] as const)
      await expect(node.resolveName(name as string, options as object)).rejects.toThrow(
        `Invalid ${message.startsWith('options.block') ? 'block param' : 'name params'} (${message})`,
      );
    await expect(node.lookupAddress('0x12')).rejects.toThrow('address: expected 20 bytes, got 1');
    await expect(node.lookupAddress(ALICE, { coinType: 0 })).rejects.toThrow('must be 60 or from 0x80000000 on');
  });

  test('has an address for each coin type', async () => {
    const { node, ens } = await ensNode();
    await ens.address('alice.eth', ALICE);
    await ens.address('alice.eth', BOB, 0x8000_0000n + 59_144n);
    const script = `0x76a914${'11'.repeat(20)}88ac` as const;
    await ens.address('alice.eth', script, 0n);
    expect(await node.resolveName('alice.eth', { coinType: 0x8000_e708 })).toMatchObject({ address: BOB });
    expect(await node.resolveName('alice.eth', { coinType: 0 })).toMatchObject({ address: script });
    expect(await node.resolveName('alice.eth', { coinType: 3 })).toMatchObject({ status: 'noRecord' });
    expect(await node.request({ method: 'plumbline_resolveName', params: ['alice.eth'] })).toMatchObject({
      address: ALICE,
      trust: { level: 'held' },
    });
    // Addresses of the EVM have 20 bytes.
    await ens.address('alice.eth', `${BOB}00`, 0x8000_0000n + 10n);
    expect(await node.resolveName('alice.eth', { coinType: 0x8000_000a })).toMatchObject({
      status: 'failed',
      reason: 'malformed',
    });
    await ens.address('alice.eth', stranger('00'));
    expect(await node.resolveName('alice.eth')).toMatchObject({ status: 'noRecord', resolver: ENS.records });
  });

  test('below a resolver of a whole subtree is resolved by it; below any other it has no resolver', async () => {
    const { node, ens } = await ensNode();
    await ens.resolver('wild.eth', 'wildcard');
    await ens.address('plain.eth', ALICE);
    const ending = (label: string) => `0x${keccak256(toBytes(label)).slice(-40)}`;
    expect(await node.resolveName('wild.eth')).toMatchObject({ address: ending('wild'), resolver: ENS.wildcard });
    expect(await node.resolveName('deep.er.wild.eth')).toMatchObject({ address: ending('deep') });
    expect(await node.resolveName('a.wild.eth')).toMatchObject({ status: 'noRecord', resolver: ENS.wildcard });
    expect(await node.resolveName('sub.wild.eth', { coinType: 0 })).toMatchObject({
      status: 'failed',
      reason: 'reverted',
      contract: ENS.wildcard,
    });
    expect(await node.resolveName('sub.plain.eth')).toMatchObject({ status: 'noResolver' });
    // A resolver of its own comes first.
    await ens.address('own.wild.eth', BOB);
    expect(await node.resolveName('own.wild.eth')).toMatchObject({ address: BOB, resolver: ENS.records });
  });

  test('whose resolver asks for a server is not proved, and no server is asked', async () => {
    const { node, ens } = await ensNode();
    await ens.resolver('far.eth', 'offchain');
    const fetched: unknown[] = [];
    const before = globalThis.fetch;
    globalThis.fetch = async (input) => {
      fetched.push(input);
      throw new Error('nothing is fetched');
    };
    try {
      for (const name of ['far.eth', 'sub.far.eth']) {
        const found = await node.resolveName(name);
        expect(found).toMatchObject({ status: 'notProved', reason: 'offchainLookup', resolver: ENS.offchain });
        expect(found).not.toHaveProperty('address');
      }
    } finally {
      globalThis.fetch = before;
    }
    expect(fetched).toEqual([]);
    await ens.reverse(ALICE, 'far.eth');
    expect(await node.lookupAddress(ALICE)).toMatchObject({
      status: 'notProved',
      record: 'forward',
      claimed: 'far.eth',
    });
    await ens.resolver(`${BOB.slice(2)}.addr.reverse`, 'offchain');
    expect(await node.lookupAddress(BOB)).toMatchObject({ status: 'notProved', record: 'reverse' });
  });
});

describe('a resolver that answers wrongly', () => {
  const word = (value: bigint) => numberToHex(value, { size: 32 });
  const yes = word(1n);

  test.each([
    ['nothing', [[ADDR, 0n, '0x']], 'malformed'],
    ['31 bytes', [[ADDR, 0n, `0x${'00'.repeat(31)}`]], 'malformed'],
    ['a number above those of addresses', [[ADDR, 0n, word(1n << 160n)]], 'malformed'],
    ['a revert', [[ADDR, 1n, '0x']], 'reverted'],
    ['a revert with another error', [[ADDR, 1n, toFunctionSelector('Denied()')]], 'reverted'],
    ['an endless loop', [[ADDR, 2n, '0x']], 'outOfGas'],
    ['an invalid instruction', [[ADDR, 3n, '0x']], 'halted'],
    ['64 KiB and one byte', [[ADDR, 4n, word(65_537n)]], 'tooLarge'],
    [
      'a whole subtree by a short answer',
      [
        [SUPPORTS, 0n, yes],
        [RESOLVE, 0n, word(32n)],
      ],
      'malformed',
    ],
    [
      'a whole subtree by an offset behind its end',
      [
        [SUPPORTS, 0n, yes],
        [RESOLVE, 0n, `${word(2n ** 255n)}${word(32n).slice(2)}`],
      ],
      'malformed',
    ],
    [
      'a whole subtree by a length behind its end',
      [
        [SUPPORTS, 0n, yes],
        [RESOLVE, 0n, `${word(32n)}${word(2n ** 256n - 1n).slice(2)}`],
      ],
      'malformed',
    ],
    [
      'a whole subtree by an inner answer that is too short',
      [
        [SUPPORTS, 0n, yes],
        [RESOLVE, 0n, encodeAbiParameters([{ type: 'bytes' }], ['0x1234'])],
      ],
      'malformed',
    ],
  ] as const)('by %s gives no address', async (_, answers, reason) => {
    const { node, ens } = await ensNode();
    await ens.resolver('bad.eth', 'hostile');
    for (const [selector, mode, answer] of answers) await ens.tell(selector, mode, answer);
    const found = await node.resolveName('bad.eth');
    expect(found).toMatchObject({ status: 'failed', reason, contract: ENS.hostile });
    expect(found).not.toHaveProperty('address');
  });

  test('to the question whether it resolves subtrees is asked as one that does not', async () => {
    const { node, ens } = await ensNode();
    await ens.resolver('odd.eth', 'hostile');
    await ens.tell(ADDR, 0n, word(BigInt(ALICE)));
    for (const [mode, answer] of [
      [0n, '0x01'],
      [0n, word(2n)],
      [1n, '0x'],
      [2n, '0x'],
    ] as const) {
      await ens.tell(SUPPORTS, mode, answer);
      expect(await node.resolveName('odd.eth')).toMatchObject({ status: 'resolved', address: ALICE });
    }
  });

  test('with bytes of any offset or length for another coin type gives no address', async () => {
    const { node, ens } = await ensNode();
    await ens.resolver('bad.eth', 'hostile');
    for (const answer of [
      word(32n),
      `${word(2n ** 64n)}${word(20n).slice(2)}`,
      `${word(32n)}${word(21n).slice(2)}${BOB.slice(2)}`,
      '0x',
    ] as Hex[]) {
      await ens.tell(ADDR_OF_COIN, 0n, answer);
      expect(await node.resolveName('bad.eth', { coinType: 0 })).toMatchObject({
        status: 'failed',
        reason: 'malformed',
      });
    }
  });

  test('at the budget of gas of the node ends the request with an error', async () => {
    const node = await createInlineNode({
      chain: { kind: 'devnet', network: { ...devnet(), ens } },
      gasBudget: 5_000_000,
    });
    try {
      const names = await deployEns((method, ...params) => node.request({ method, params } as never));
      await names.resolver('bad.eth', 'hostile');
      await names.tell(ADDR, 2n);
      await expect(node.resolveName('bad.eth')).rejects.toThrow(/more than 5000000 gas/);
    } finally {
      await node.close();
    }
  });
});

describe('the name of an address', () => {
  /** What is asked about ALICE after records are set. */
  const lookups = (node: PlumblineNode) => node.lookupAddress(ALICE);

  test('says which record is missing', async () => {
    const { node, ens } = await ensNode();
    expect(await lookups(node)).toMatchObject({ status: 'noResolver', record: 'reverse' });
    await ens.resolver(`${ALICE.slice(2)}.addr.reverse`, 'records');
    expect(await lookups(node)).toMatchObject({ status: 'noRecord', record: 'reverse', resolver: ENS.records });
    await ens.reverse(ALICE, 'alice.eth');
    expect(await lookups(node)).toMatchObject({ status: 'noResolver', record: 'forward', claimed: 'alice.eth' });
    await ens.resolver('alice.eth', 'records');
    expect(await lookups(node)).toMatchObject({ status: 'noRecord', record: 'forward', claimed: 'alice.eth' });
    await ens.address('alice.eth', ALICE);
    expect(await lookups(node)).toMatchObject({ status: 'found', name: 'alice.eth' });
  });

  test("is not the name of somebody else's that it claims", async () => {
    const { node, ens } = await ensNode();
    await ens.address('bob.eth', BOB);
    await ens.reverse(ALICE, 'bob.eth');
    const found = await lookups(node);
    expect(found).toMatchObject({ status: 'otherAddress', claimed: 'bob.eth', forward: BOB });
    expect(found).not.toHaveProperty('name');
  });

  test.each(['Alice.eth', 'alice.eth ', 'alice..eth', 'a\u200Dlice.eth', 'аlice.eth', `${'a'.repeat(256)}.eth`])(
    'is not one that is not normalised: %j',
    async (claimed) => {
      const { node, ens } = await ensNode();
      // The record is there under the very name, for who would not normalise it.
      await ens.address(claimed.includes('..') ? 'alice.eth' : claimed, ALICE);
      await ens.reverse(ALICE, claimed);
      expect(await lookups(node)).toMatchObject({ status: 'notNormalized', claimed });
    },
  );

  test('is no text that is not UTF-8, or longer than a name', async () => {
    const { node, ens } = await ensNode();
    await ens.resolver(`${ALICE.slice(2)}.addr.reverse`, 'hostile');
    for (const bytes of ['0xff', `0x${'61'.repeat(1_001)}`] as const) {
      await ens.tell(NAME, 0n, encodeAbiParameters([{ type: 'bytes' }], [bytes]));
      expect(await lookups(node)).toMatchObject({ status: 'failed', reason: 'malformed', record: 'reverse' });
    }
  });

  test('on another chain has its own reverse record, and its own forward record', async () => {
    const { node, ens, ask } = await ensNode();
    const coinType = 0x8000_e708;
    const reverse = `${ALICE.slice(2)}.8000e708.reverse`;
    await ens.reverse(ALICE, 'alice.eth');
    await ens.address('alice.eth', ALICE);
    expect(await node.lookupAddress(ALICE, { coinType })).toMatchObject({ status: 'noResolver', record: 'reverse' });
    await ens.resolver(reverse, 'hostile');
    await ens.tell(NAME, 0n, encodeAbiParameters([{ type: 'string' }], ['alice.eth']));
    expect(await node.lookupAddress(ALICE, { coinType })).toMatchObject({ status: 'noRecord', record: 'forward' });
    await ens.address('alice.eth', ALICE, BigInt(coinType));
    expect(await node.lookupAddress(ALICE, { coinType })).toMatchObject({ status: 'found', name: 'alice.eth' });
    expect(namehash(reverse)).toHaveLength(66);
    expect(await ask('eth_chainId')).toBe('0xe703');
  });
});

describe('a network without ENS', () => {
  const chain = (network: Network): InlineOptions => ({
    chain: { kind: 'light', network, endpoints: ['http://127.0.0.1:9'] },
  });

  test.each([
    ['linea', chain(linea)],
    ['hoodi', chain(hoodi)],
    ['devnet', {}],
  ] as const)('refuses both methods and says what to do: %s', async (name, options) => {
    const { node, ask } = await devNode(options);
    const message =
      `Method not enabled (plumbline_resolveName needs the name service of a layer 1, and ${name} has none: ask a node of ` +
      'ethereum or sepolia, or name the registry in `ens` of the network profile)';
    await expect(node.resolveName('alice.eth')).rejects.toMatchObject({ code: 4200, message });
    await expect(node.lookupAddress(ALICE)).rejects.toMatchObject({ code: 4200 });
    const response = await node.handle(
      new Request('http://node/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'plumbline_resolveName', params: ['alice.eth'] }),
      }),
    );
    expect(await response.json()).toMatchObject({ error: { code: -32604, message } });
    expect(await ask('eth_chainId')).toMatch(/^0x/);
  });

  test('is every one but mainnet and Sepolia; a registry that is no address is refused', async () => {
    expect(ethereum.ens).toEqual(ens);
    const broken = { ...ethereum, ens: { registry: '0x12' as const } };
    await expect(createInlineNode(chain(broken))).rejects.toThrow(
      'chain.network.ens.registry: must be an address of 20 bytes in hex',
    );
  });
});
