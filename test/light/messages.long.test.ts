import { decodeFunctionData, parseAbi } from 'viem';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { PreparedClaim } from '../../src/messages/withdrawal.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { stranger } from '../support/dev-node.js';
import {
  hashOf,
  MESSAGE_SERVICE,
  messageRecord,
  messageScene,
  ROLLUP,
  type TestFinalization,
  type TestMessage,
  treeOf,
} from '../support/message-scene.js';

const [ALICE, BOB] = [stranger('a1'), stranger('b0')];
const message = (nonce: number, more: Partial<TestMessage> = {}): TestMessage => ({
  from: stranger('f0'),
  to: stranger('f1'),
  fee: 0n,
  value: 10n ** 15n + BigInt(nonce),
  nonce: BigInt(nonce),
  data: '0x',
  ...more,
});

/** Of each block from 1 on. Messages 3 to 36 of block 4 need two trees with the one of block 3. */
const MESSAGES: readonly (readonly TestMessage[])[] = [
  [message(1, { from: ALICE, to: BOB, fee: 7n, data: '0x0102030405' }), message(2)],
  [],
  [message(3, { from: BOB, to: ALICE, data: `0x${'ab'.repeat(64)}` })],
  Array.from({ length: 34 }, (_, i) => message(4 + i, i === 33 ? { from: ALICE } : {})),
  [],
  [message(38, { from: ALICE })],
];
const hashes = (first: number, last: number) =>
  MESSAGES.slice(first - 1, last)
    .flat()
    .map(hashOf);
const rootOf = (some: readonly Hex[]) => treeOf(some).at(-1)![0]!;
const finalization = (first: number, last: number): TestFinalization => {
  const all = hashes(first, last);
  const roots = Array.from({ length: Math.ceil(all.length / 32) }, (_, i) => rootOf(all.slice(32 * i, 32 * i + 32)));
  return { first, last, roots, anchored: roots, depth: 5 };
};
const FINALIZATIONS = [finalization(1, 2), finalization(3, 5)];
const [FIRST, CLAIMED, LAST] = [MESSAGES[0]![0]!, MESSAGES[2]![0]!, MESSAGES[3]![33]!];
const UNFINAL = MESSAGES[5]![0]!;
/** Logged by a contract that looks the same; and by the service itself in block 6, with a hash that its message does not have. */
const FALSE = message(99, { from: ALICE });
const FALSE_HASH = hashOf(message(98));
const blocks = MESSAGES.map((own, i) => [
  {
    records: [
      ...own.map((one) => messageRecord(one)),
      ...(i === 5 ? [messageRecord(message(98, { from: ALICE }), FALSE_HASH)] : []),
    ],
  },
  ...(i === 1 ? [{ at: stranger('5f'), records: [messageRecord(FALSE)] }] : []),
]).map((own) => own.filter(({ records }) => records.length > 0));
const scene = (contract: Parameters<typeof messageScene>[2] = {}, finalizations = FINALIZATIONS) =>
  messageScene(blocks, finalizations, contract);
const json = ({ from, to, fee, value, nonce, data }: TestMessage) => ({
  hash: hashOf({ from, to, fee, value, nonce, data }),
  ...{ from, to, data },
  fee: `0x${fee.toString(16)}`,
  value: `0x${value.toString(16)}`,
  nonce: `0x${nonce.toString(16)}`,
});
const ABI = parseAbi([
  'struct Claim { bytes32[] proof; uint256 messageNumber; uint32 leafIndex; address from; address to; uint256 fee; uint256 value; address feeRecipient; bytes32 merkleRoot; bytes data; }',
  'function claimMessageWithProof(Claim claim)',
]);

test('messages() lists those of an address with their state', async () => {
  const { open, l1 } = await scene({ claimed: [3n] });
  const node = await open();
  const { messages, proved, layerOne } = await node.messages({ address: ALICE, fromBlock: 0, toBlock: 6 });
  expect(messages.map(({ hash, state, blockNumber }) => [hash, state, blockNumber])).toEqual([
    [hashOf(FIRST), 'anchored', 1],
    [hashOf(CLAIMED), 'claimed', 3],
    [hashOf(LAST), 'anchored', 4],
    [hashOf(UNFINAL), 'notFinal', 6],
  ]);
  expect(messages[0]).toMatchObject({ ...json(FIRST), logIndex: 0 });
  expect(messages[2]).toMatchObject({ logIndex: 33 });
  expect(proved).toEqual({ from: 0, to: 6, level: 'plain' });
  const block = await l1.dev.ask<{ hash: Hex; timestamp: Hex }>('eth_getBlockByNumber', '0x3', false);
  expect(layerOne).toEqual({
    level: 'settled',
    block: { number: 3, hash: block.hash, timestamp: Number(block.timestamp) },
    finalizedBlock: 5,
  });
  expect((await node.messages({ address: ALICE, fromBlock: 2, toBlock: 2 })).messages).toEqual([]);
  expect((await node.messages({ address: BOB, fromBlock: 1, toBlock: 1 })).messages).toHaveLength(1);
});

describe('prepareClaim()', () => {
  test('proves a message in the second tree of its finalization, in few round trips', async () => {
    const { open, endpoint, execution } = await scene({ claimed: [3n] });
    const node = await open();
    // Both heads are followed.
    await node.messages({ address: ALICE, fromBlock: 6, toBlock: 6 });
    const before = [endpoint.seen.length, execution.seen.length];
    const claim = await node.prepareClaim(hashOf(LAST), { fromBlock: 4, feeRecipient: BOB });
    const asked = [endpoint.seen.slice(before[0]), execution.seen.slice(before[1])].map((all) =>
      all.map((calls) => calls.map(({ method }) => method).join('+')),
    );
    console.log('requests of a claim, of layer 2 and of layer 1:', JSON.stringify(asked));
    if (claim.status !== 'anchored') throw new Error(claim.status);
    const all = hashes(3, 5);
    expect(all).toHaveLength(35);
    const tree = treeOf(all.slice(32));
    const siblings = [0, 1, 2, 3, 4].map((level) => tree[level]![(2 >> level) ^ 1]!);
    expect(claim).toMatchObject({
      message: json(LAST),
      siblings,
      leafIndex: 2,
      root: tree[5]![0],
      depth: 5,
      finalization: { from: 3, to: 5 },
      layerOne: { level: 'settled', finalizedBlock: 5, block: { number: 3 } },
      slotsAllow: true,
    });
    expect(claim).not.toHaveProperty('refusal');
    const { to, data, value } = claim.transaction;
    expect([to, value]).toEqual([ROLLUP, '0x0']);
    const { functionName, args } = decodeFunctionData({ abi: ABI, data });
    expect(functionName).toBe('claimMessageWithProof');
    expect({ ...args[0], from: args[0].from.toLowerCase(), to: args[0].to.toLowerCase() }).toMatchObject({
      proof: siblings,
      messageNumber: LAST.nonce,
      leafIndex: 2,
      from: ALICE,
      to: LAST.to,
      fee: 0n,
      value: LAST.value,
      merkleRoot: tree[5]![0],
      data: '0x',
    });
    expect(args[0].feeRecipient.toLowerCase()).toBe(BOB);
  });

  test('finds the block itself, and says what was claimed, is not final, and is not there', async () => {
    const { open } = await scene({ claimed: [3n] });
    const node = await open();
    expect(await node.prepareClaim(hashOf(FIRST))).toMatchObject({
      status: 'anchored',
      leafIndex: 0,
      message: json(FIRST),
    });
    expect(await node.prepareClaim(hashOf(CLAIMED))).toMatchObject({
      status: 'claimed',
      leafIndex: 0,
      slotsAllow: false,
      refusal: 'MessageAlreadyClaimed',
    });
    expect(await node.prepareClaim(hashOf(UNFINAL))).toMatchObject({
      status: 'notFinal',
      blockNumber: 6,
      message: json(UNFINAL),
      layerOne: { finalizedBlock: 5 },
    });
    for (const [hash, options] of [FALSE_HASH, hashOf(FALSE)].flatMap((one) => [
      [one, {}] as const,
      [one, { fromBlock: 1, toBlock: 6 }] as const,
    ]))
      expect(await node.prepareClaim(hash, options)).toMatchObject({ status: 'notFound', proved: { to: 6 } });
    expect(await node.prepareClaim(hashOf(FIRST), { fromBlock: 2, toBlock: 6 })).toMatchObject({
      status: 'notFound',
      proved: { from: 2, to: 6 },
    });
  });

  test('reads messages in parts where an endpoint refuses many blocks, and in proved logs where it has none', async () => {
    const long = [...Array.from({ length: 600 }, () => []), ...blocks];
    const [first, second] = FINALIZATIONS as [TestFinalization, TestFinalization];
    const joined = { ...second, first: 1, last: 605, roots: finalization(1, 5).roots };
    expect(first.roots).toHaveLength(1);
    const { open, endpoint } = await messageScene(long, [{ ...joined, anchored: joined.roots }]);
    const limited = async (limit: number) => {
      let [refused, taken] = [0, 0];
      endpoint.options.answers = ({ method, params }) => {
        if (method !== 'eth_getLogs') return undefined;
        const { fromBlock, toBlock } = params[0] as { fromBlock: Hex; toBlock: Hex };
        if (Number(toBlock) - Number(fromBlock) < limit) taken++;
        else {
          refused++;
          throw { code: -32005, message: 'query returned too many blocks' };
        }
      };
      const node = await open();
      const claim = await node.prepareClaim(hashOf(LAST), { fromBlock: 604 });
      const siblingsOfLast = treeOf(hashes(1, 5).slice(32));
      expect(claim).toMatchObject({ status: 'anchored', leafIndex: 4, root: siblingsOfLast[5]![0] });
      return [refused > 0, taken > 0];
    };
    expect(await limited(200)).toEqual([true, true]);
    expect(await limited(1)).toEqual([true, false]);
    expect(await limited(1_000)).toEqual([false, true]);
  });

  test('fails where layer 1 tells no events, and says what does not need them', async () => {
    const { open, execution } = await scene();
    execution.options.missing = ['eth_getLogs'];
    const node = await open();
    await expect(node.prepareClaim(hashOf(LAST), { fromBlock: 4 })).rejects.toThrow(/eth_getLogs|Method not found/);
    expect(await node.prepareClaim(hashOf(UNFINAL))).toMatchObject({ status: 'notFinal' });
    expect(await node.prepareClaim(hashOf(FALSE))).toMatchObject({ status: 'notFound' });
  });

  test('an old message, which layer 1 has recorded itself, is claimed without a proof', async () => {
    const { open } = await scene({ inbox: [hashOf(FIRST)] }, [
      { ...FINALIZATIONS[0]!, anchored: [] },
      FINALIZATIONS[1]!,
    ]);
    const node = await open();
    const claim = await node.prepareClaim(hashOf(FIRST), { fromBlock: 1, feeRecipient: BOB });
    expect(claim).toMatchObject({
      status: 'inbox',
      blockNumber: 1,
      message: json(FIRST),
      layerOne: { level: 'settled' },
    });
    if (claim.status !== 'inbox') throw new Error(claim.status);
    const { args } = decodeFunctionData({
      abi: parseAbi([
        'function claimMessage(address from, address to, uint256 fee, uint256 value, address feeRecipient, bytes data, uint256 nonce)',
      ]),
      data: claim.transaction.data,
    });
    expect(args.map((one) => (typeof one === 'string' ? one.toLowerCase() : one))).toEqual([
      ...[FIRST.from, FIRST.to, FIRST.fee, FIRST.value, BOB, FIRST.data, FIRST.nonce],
    ]);
    expect(claim.transaction).toMatchObject({ to: ROLLUP, value: '0x0' });
    // Another one of the same block is in no root, and not recorded.
    expect(await node.prepareClaim(hashOf(MESSAGES[0]![1]!), { fromBlock: 1 })).toMatchObject({
      status: 'notAnchored',
    });
  });

  test('as linea_getMessageProof, over JSON-RPC', async () => {
    const { open } = await scene();
    const node = await open();
    const reports: object[] = [];
    node.on('answer', (report) => void reports.push(report));
    const { siblings: proof, ...claim } = (await node.prepareClaim(hashOf(FIRST))) as PreparedClaim;
    for (const method of ['linea_getMessageProof', 'l2_getMessageProof'])
      expect(await node.request({ method, params: [hashOf(FIRST)] } as never)).toEqual({ ...claim, proof });
    expect(reports.at(-1)).toMatchObject({ class: 'proved', level: 'settled' });
    await expect(node.request({ method: 'linea_getMessageProof', params: ['0x01'] } as never)).rejects.toMatchObject({
      code: -32602,
    });
  });

  test('without consensus, the level is the word of endpoints', async () => {
    const { open } = await scene();
    const node = await open('endpoints');
    expect(await node.prepareClaim(hashOf(FIRST))).toMatchObject({
      status: 'anchored',
      layerOne: { level: 'finalized' },
    });
  });

  test.each([
    ['messages to layer 1 paused', 'IsPaused', { pauseBits: 1n << 3n }],
    ['all paused', 'IsPaused', { pauseBits: 1n << 1n }],
    ['the limit reached', 'RateLimitExceeded', { limit: 10n ** 16n, used: 10n ** 16n }],
    ['too little ether', 'MessageSendingFailed', { balance: 10n ** 15n }],
    ['messages to the rollup paused', '', { pauseBits: 1n << 2n }],
    ['the limit of a period that is over', '', { limit: 10n ** 16n, used: 10n ** 16n, periodEnd: 1n }],
  ])('says what the contract does with %s', async (_, refusal, contract) => {
    const node = await (await scene(contract)).open();
    const claim = await node.prepareClaim(hashOf(FIRST));
    expect(claim).toMatchObject({ status: 'anchored', slotsAllow: refusal === '' });
    expect('refusal' in claim ? claim.refusal : '').toBe(refusal);
  });

  test('a root that layer 1 does not store, or with another depth, is none', async () => {
    const [first, second] = FINALIZATIONS as [TestFinalization, TestFinalization];
    const missing = await scene({}, [first, { ...second, anchored: second.roots.slice(0, 1) }]);
    const node = await missing.open();
    expect(await node.prepareClaim(hashOf(LAST))).toMatchObject({ status: 'notAnchored', blockNumber: 4 });
    expect(await node.prepareClaim(hashOf(CLAIMED))).toMatchObject({ status: 'anchored' });
    const deeper = await (await scene({}, [first, { ...second, depth: 6 }])).open();
    expect(await deeper.prepareClaim(hashOf(LAST))).toMatchObject({ status: 'notAnchored', blockNumber: 4 });
  });
});

test('a node of both chains reads layer 1 through its own chain of it', async () => {
  const { l1, network, endpoint, execution } = await scene({ claimed: [3n] });
  const node = await createInlineNode({
    clock: l1.clock,
    chains: [
      { kind: 'light', network, endpoints: [endpoint.url] },
      {
        kind: 'light',
        network: l1.network,
        endpoints: [execution.url],
        layerOne: {
          consensus: l1.servers.map(({ url }) => url),
          checkpoint: { root: bytesToHex(l1.genesis.root) },
        },
      },
    ],
  });
  onTestFinished(() => node.close());
  const rollup = node.chain(network.chainId);
  const { messages } = await rollup.messages({ address: ALICE, fromBlock: 1, toBlock: 4 });
  expect(messages.map(({ state }) => state)).toEqual(['anchored', 'claimed', 'anchored']);
  expect(await rollup.prepareClaim(hashOf(LAST))).toMatchObject({
    status: 'anchored',
    leafIndex: 2,
    layerOne: { level: 'settled' },
  });
  await expect(node.chain(l1.network.chainId).prepareClaim(hashOf(LAST))).rejects.toMatchObject({ code: 4200 });
});

test('other nodes say what is missing', async () => {
  const { messageService: _, ...network } = devnet();
  const dev = await createInlineNode({ chain: { kind: 'devnet', network } });
  const refused = (text: RegExp) => expect.objectContaining({ code: 4200, message: expect.stringMatching(text) });
  await expect(dev.messages({ address: ALICE, fromBlock: 0, toBlock: 0 })).rejects.toEqual(
    refused(/no messageService/),
  );
  await expect(dev.prepareClaim(hashOf(FIRST))).rejects.toEqual(refused(/no messageService/));
  await expect(
    dev.request({ method: 'linea_getMessageProof', params: [hashOf(FIRST)] } as never),
  ).rejects.toMatchObject({
    code: 4200,
  });
  await dev.close();
  const { l1, open } = await scene();
  const { node } = await l1.open();
  await expect(node.messages({ address: ALICE, fromBlock: 0, toBlock: 0 })).rejects.toEqual(refused(/needs a rollup/));
  await expect(node.request({ method: 'l2_getMessageProof', params: [hashOf(FIRST)] } as never)).rejects.toEqual(
    refused(/needs a rollup/),
  );
  const light = await open();
  const query = { address: MESSAGE_SERVICE, fromBlock: 0, toBlock: 7 };
  await expect(light.messages(query)).rejects.toMatchObject({ code: -32602 });
  await expect(light.messages({ ...query, fromBlock: 5, toBlock: 4 })).rejects.toMatchObject({ code: -32602 });
});

test('a request that is aborted asks no more', async () => {
  const { open, endpoint, execution } = await scene();
  const asks = [
    (node: PlumblineNode, signal: AbortSignal) =>
      node.messages({ address: ALICE, fromBlock: 0, toBlock: 6 }, { signal }),
    (node: PlumblineNode, signal: AbortSignal) => node.prepareClaim(hashOf(LAST), { signal }),
  ];
  for (const ask of asks) {
    const count = () => endpoint.seen.length + execution.seen.length;
    const whole = count();
    await ask(await open(), new AbortController().signal);
    const needed = count() - whole;
    expect(needed).toBeGreaterThan(2);
    for (const after of [1, 2]) {
      const stop = new AbortController();
      const before = count();
      for (const { options } of [endpoint, execution])
        options.tamper = (_, result) => {
          if (count() - before >= after) stop.abort();
          return result;
        };
      const node = await open();
      await expect(ask(node, stop.signal), `after ${after} of ${needed}`).rejects.toMatchObject({ name: 'AbortError' });
      const asked = count();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(count()).toBe(asked);
    }
    for (const { options } of [endpoint, execution]) delete options.tamper;
  }
});
