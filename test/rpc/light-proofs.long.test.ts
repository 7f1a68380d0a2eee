import { describe, expect, onTestFinished, test } from 'vitest';
import { ZkProofs } from '../../src/chain/light/settlement/zk-proofs.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { devnet } from '../../src/networks/devnet.js';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import { accountAt, KeptStore, stranger, word } from '../support/dev-node.js';
import { isRootCall, otherValue, PROOF, settled } from '../support/finality-scene.js';
import type { SeenCall } from '../support/mock-chain.js';

interface Changeable {
  accountProof: { key: Hex; proof: { proofRelatedNodes: Hex[] } };
}

/** What a state manager says of a block it does not hold (docs/spec/state-trie.md 7.2). */
function withoutBlocks(...missing: Hex[]): (call: SeenCall, result: unknown) => unknown {
  return ({ method, params }, result) => {
    if (method !== 'linea_getProof' || !missing.includes(params[2] as Hex)) return result;
    throw Object.assign(new Error('BLOCK_MISSING_IN_CHAIN - block is missing'), { code: -32600 });
  };
}

describe('a newest finalized block that no endpoint holds', () => {
  const blocks = { dev: { chain: { kind: 'devnet', finality: { batchBlocks: 2, delayBlocks: 0 } } } } as const;

  test.each([false, true])('the one before it is proved, and named; layer 1 proved: %s', async (proveLayerOne) => {
    const tamper = withoutBlocks('0x6');
    const scene = await settled({ ...blocks, chain: { proveLayerOne }, endpoints: [{ tamper }, { tamper }] });
    const heard: AnswerReport[] = [];
    scene.light.on('answer', (report) => heard.push(report));
    for (const tag of ['latest', 'finalized', 'safe', 'pending']) {
      expect(await scene.ask('linea_getProof', accountAt(0), [], tag)).toEqual(
        await scene.dev.ask('linea_getProof', accountAt(0), [], '0x4'),
      );
      expect(heard.at(-1)).toEqual({
        method: 'linea_getProof',
        class: 'proved',
        level: 'finalized',
        blocks: [],
        zkBlock: 4,
        zkAge: { finalizations: 1, blocks: 2 },
      });
    }
    // Asked for by its number it is that block or nothing.
    await expect(scene.ask('linea_getProof', accountAt(0), [], '0x6')).rejects.toMatchObject({ code: -32600 });
    for (const { options } of scene.endpoints) options.tamper = withoutBlocks('0x6', '0x4');
    expect(await scene.ask('linea_getProof', accountAt(1), [], 'latest')).toEqual(
      await scene.dev.ask('linea_getProof', accountAt(1), [], '0x2'),
    );
    for (const { options } of scene.endpoints) options.tamper = withoutBlocks('0x6', '0x4', '0x2', '0x0');
    await expect(scene.ask('linea_getProof', accountAt(2), [], 'latest')).rejects.toMatchObject({
      code: -32600,
      message: 'BLOCK_MISSING_IN_CHAIN - block is missing',
    });
  });

  test('an internal error counts so for a tag, once all endpoints say it', async () => {
    const internal = (...missing: Hex[]) => {
      return ({ method, params }: SeenCall, result: unknown): unknown => {
        if (method !== 'linea_getProof' || !missing.includes(params[2] as Hex)) return result;
        throw Object.assign(new Error('Internal error'), { code: -32603 });
      };
    };
    const tamper = internal('0x6', '0x4');
    const scene = await settled({ ...blocks, endpoints: [{ tamper }, { tamper }] });
    const heard: AnswerReport[] = [];
    scene.light.on('answer', (report) => heard.push(report));
    expect(await scene.ask('linea_getProof', accountAt(0), [], 'latest')).toEqual(
      await scene.dev.ask('linea_getProof', accountAt(0), [], '0x2'),
    );
    expect(heard.at(-1)).toMatchObject({ zkBlock: 2, zkAge: { finalizations: 2, blocks: 4 } });
    // A number is that block or nothing, and an internal error says nothing of it.
    await expect(scene.ask('linea_getProof', accountAt(0), [], '0x6')).rejects.toMatchObject({
      message: expect.stringMatching(
        / answered linea_getProof of block 0x6 with error -32603, it says "Internal error"$/,
      ),
    });
    // Each endpoint has to say so.
    delete scene.endpoints[1]!.options.tamper;
    expect(await scene.ask('linea_getProof', accountAt(1), [], 'latest')).toEqual(
      await scene.dev.ask('linea_getProof', accountAt(1), [], '0x6'),
    );
    expect(heard.at(-1)!.zkAge).toBeUndefined();
    // At every block it is a fault of the endpoints.
    for (const { options } of scene.endpoints) options.tamper = internal('0x6', '0x4', '0x2', '0x0');
    await expect(scene.ask('linea_getProof', accountAt(2), [], 'latest')).rejects.toMatchObject({
      message: expect.stringMatching(
        / answered linea_getProof of block 0x6 with error -32603, it says "Internal error"$/,
      ),
    });
  });

  test('proofs are sent alone: public endpoints refuse them in batches', async () => {
    const scene = await settled();
    const refusing = scene.endpoints.map(({ options }) => {
      let batched = 0;
      options.intercept = (response, body) => {
        const hasProof = Array.isArray(body) && body.some(({ method }) => method === 'linea_getProof');
        if (!hasProof) return false;
        batched++;
        const error = { code: -32600, message: 'Invalid Request' };
        response.end(JSON.stringify((body as { id: unknown }[]).map(({ id }) => ({ jsonrpc: '2.0', id, error }))));
        return true;
      };
      return () => batched;
    });
    const accounts = [accountAt(0), accountAt(1), stranger('99')];
    const all = await Promise.all([
      ...accounts.map((account) => scene.ask('linea_getProof', account, [], 'latest')),
      scene.ask('eth_getBalance', accountAt(0), 'latest'),
    ]);
    const at = `0x${(await scene.dev.number('finalized')).toString(16)}`;
    expect(all.slice(0, 3)).toEqual(
      await Promise.all(accounts.map((account) => scene.dev.ask('linea_getProof', account, [], at))),
    );
    expect(refusing.map((batched) => batched())).toEqual([0, 0]);
  });

  test('one endpoint that holds it is enough', async () => {
    const scene = await settled({ ...blocks, endpoints: [{ tamper: withoutBlocks('0x6') }, {}] });
    expect(await scene.ask('linea_getProof', accountAt(0), [], 'latest')).toEqual(
      await scene.dev.ask('linea_getProof', accountAt(0), [], '0x6'),
    );
    expect(scene.layerOne.seen.flat().map(({ method }) => method)).not.toContain('eth_getLogs');
  });

  test.each<[string, (logs: unknown[]) => unknown]>([
    ['none', () => []],
    ['of a block without a root', (logs) => logs.map((log) => ({ ...(log as object), topics: endingWith(log, 3n) }))],
    ['of another contract', (logs) => logs.map((log) => ({ ...(log as object), address: stranger('66') }))],
    ['not a list', () => null],
  ])('events that lie lead to no other answer: %s', async (_, lie) => {
    const tamper = withoutBlocks('0x6');
    const scene = await settled({ ...blocks, endpoints: [{ tamper }, { tamper }] });
    scene.layerOne.options.tamper = ({ method }, result) =>
      method === 'eth_getLogs' ? lie(result as unknown[]) : result;
    await expect(scene.ask('linea_getProof', accountAt(0), [], 'latest')).rejects.toMatchObject({ code: -32600 });
  });
});

/** Topics of a finalization that ends with a block. */
function endingWith(log: unknown, block: bigint): Hex[] {
  const [event, , , shnarf] = (log as { topics: Hex[] }).topics;
  return [event!, word(1n), word(block), shnarf!];
}

describe('linea_getProof', () => {
  test('a proof that does not hold is not passed on; that of another endpoint is', async () => {
    const wrong = {
      tamper: ({ method }: SeenCall, result: unknown) => (method === 'linea_getProof' ? otherValue(result) : result),
    };
    const scene = await settled({ endpoints: [wrong, {}] });
    expect(await scene.ask(...PROOF)).toEqual(await scene.dev.ask(...PROOF));
    const alone = await settled({ endpoints: [wrong] });
    await expect(alone.ask(...PROOF)).rejects.toMatchObject({ code: -32000, message: /zk proof of/ });
  });

  test('a network whose profile names the other scheme: found once, and remembered', async () => {
    const scene = await settled({ dev: { chain: { kind: 'devnet', scheme: 'mimc' } } });
    // The light node's profile says poseidon2.
    expect(await scene.ask(...PROOF)).toEqual(await scene.dev.ask(...PROOF));
    expect(await scene.ask('linea_getProof', stranger('31'), [], '0x2')).toEqual(
      await scene.dev.ask('linea_getProof', stranger('31'), [], '0x2'),
    );
    const group = new EndpointGroup({ role: 'l2', endpoints: [scene.endpoints[0]!.url] });
    onTestFinished(() => group.close());
    const tried: HashScheme[] = [];
    const proofs = new ZkProofs({
      network: devnet(),
      upstream: group,
      table: undefined,
      loadHasher: (scheme) => {
        tried.push(scheme);
        return loadHasher(scheme);
      },
    });
    const data = `0x8be745d1${word(4n).slice(2)}`;
    const call = { method: 'eth_call', params: [{ to: devnet().rollup.address, data }, 'latest'] };
    const at = { number: 4, root: hexToBytes((await scene.dev.node.l1.request<UntypedMethod>(call)) as Hex, 32) };
    for (const account of [accountAt(0), accountAt(1)])
      await proofs.prove({ address: hexToBytes(account), storageKeys: [] }, at);
    expect(tried).toEqual(['poseidon2', 'mimc', 'mimc']);
  });

  test("is the caller's own: what it does to an answer changes no other", async () => {
    const scene = await settled({ more: { store: new KeptStore() } });
    const truth = await scene.dev.ask(...PROOF);
    const together = await Promise.all([scene.ask<Changeable>(...PROOF), scene.ask<Changeable>(...PROOF)]);
    for (const answer of together) {
      expect(answer).toEqual(truth);
      answer.accountProof.key = '0x00';
      answer.accountProof.proof.proofRelatedNodes.length = 0;
    }
    expect(await scene.ask(...PROOF)).toEqual(truth);
  });

  test('what held against one root is not given for another', async () => {
    const scene = await settled({ chain: { finalityMaxAgeMs: 1_000 } });
    await scene.ask(...PROOF);
    scene.clock.advance(5_000);
    scene.layerOne.options.tamper = ({ params }, result) => (isRootCall(params) ? word(1n) : result);
    await expect(scene.ask(...PROOF)).rejects.toThrow(/zk proof of/);
  });

  test('kept, and given again without any endpoint', async () => {
    const store = new KeptStore();
    const scene = await settled({ more: { store } });
    const answer = await scene.ask(...PROOF);
    await scene.light.close();
    for (const mock of [...scene.endpoints, scene.layerOne])
      mock.options.intercept = (response) => Boolean(response.destroy());
    const offline = await scene.open({}, { store });
    expect(await offline.request<UntypedMethod>({ method: PROOF[0], params: PROOF.slice(1) })).toEqual(answer);
    expect(await offline.request({ method: PROOF[0], params: [PROOF[1], [], '0x4'] })).toEqual(answer);
    await expect(offline.request({ method: PROOF[0], params: [accountAt(1), [], 'latest'] })).rejects.toThrow();
  });
});
