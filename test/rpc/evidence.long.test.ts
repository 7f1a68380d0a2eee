import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { TEST_TOKEN, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import type { EvidenceBundle, EvidenceClaim, EvidenceTrust } from '../../src/evidence/evidence-bundle.js';
import { verifyEvidence } from '../../src/evidence/verify-evidence.js';
import { verifyCommand } from '../../src/hosts/cli/verify.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { accountAt, devNode, stranger } from '../support/dev-node.js';
import { settledScene } from '../support/settled-scene.js';

const slot = bytesToHex(tokenBalanceSlot(hexToBytes(accountAt(0))));
const CLAIMS = {
  account: { address: TEST_TOKEN, storageKeys: [slot, `0x${'00'.repeat(31)}77`] },
  absent: { address: stranger('99'), storageKeys: [] },
  block: { block: 3 },
} satisfies Record<string, EvidenceClaim>;

/** Bundles of one chain, as JSON text, and what judges them. */
let texts: Record<keyof typeof CLAIMS, string>;
let trust: EvidenceTrust;
let root: Hex;
let header: { readonly hash: Hex; readonly stateRoot: Hex };
/** Of the final layer-1 block, and of others by hash. */
let layerOneHeader: Record<string, unknown>;
let layerOneBlock: (hash: string) => Promise<Record<string, unknown>>;

const network = devnet();
const parse = (name: keyof typeof CLAIMS) => JSON.parse(texts[name]) as EvidenceBundle;

async function collect(): Promise<void> {
  const { dev, clock, open, checkpoint } = await settledScene();
  root = await checkpoint();
  const { node } = await open({ checkpoint: { root } });
  const bundles = await Promise.all(Object.values(CLAIMS).map((claim) => node.exportEvidence(claim)));
  const [account, absent, block] = bundles.map((bundle) => JSON.stringify(bundle));
  texts = { account: account!, absent: absent!, block: block! };
  trust = { network, checkpoint: hexToBytes(root), now: clock.now() };
  header = await dev.ask('eth_getBlockByNumber', '0x3', false);
  const ask = (method: string, ...params: unknown[]) => dev.node.l1.request<UntypedMethod>({ method, params });
  const blocks: Record<string, unknown>[] = [];
  for (let number = 0; number <= 8; number++)
    blocks.push((await ask('eth_getBlockByNumber', `0x${number}`, false)) as Record<string, unknown>);
  layerOneBlock = async (hash) => blocks.find((block) => block.hash === hash)!;
  const verdict = await verifyEvidence(parse('account'), trust);
  if (!verdict.verified) throw new Error(verdict.message);
  layerOneHeader = await layerOneBlock(bytesToHex(verdict.layerOne.blockHash));
}

describe('a bundle of evidence', () => {
  test('proves its claim without any endpoint', async () => {
    await collect();
    const account = await verifyEvidence(parse('account'), trust);
    if (!account.verified) throw new Error(account.message);
    expect(account).toMatchObject({ claim: CLAIMS.account, finalized: { number: 6 }, layerOne: { number: 6 } });
    expect(account.proof!.slots.map(({ exists, value }) => [exists, BigInt(bytesToHex(value))])).toEqual([
      [true, 1_000_000n * 10n ** 18n],
      [false, 0n],
    ]);
    expect(await verifyEvidence(parse('absent'), trust)).toMatchObject({
      verified: true,
      proof: { account: undefined },
    });
    const block = await verifyEvidence(parse('block'), trust);
    if (!block.verified) throw new Error(block.message);
    expect(bytesToHex(block.header!.hash)).toBe(header.hash);
    expect(bytesToHex(block.header!.header.stateRoot)).toBe(header.stateRoot);
  });
});

test('the header of the final layer-1 block, which a bundle has from Gloas on, is held against the hash that is proved', async () => {
  for (const name of ['account', 'block'] as const) {
    const bundle = { ...parse(name), layerOneHeader };
    const [verdict, without] = [await verifyEvidence(bundle, trust), await verifyEvidence(parse(name), trust)];
    expect(verdict).toEqual(without);
    for (const [changes, reason] of [
      [{ stateRoot: `0x${'12'.repeat(32)}` }, 'HASH_MISMATCH'],
      [{ number: '0x5' }, 'HASH_MISMATCH'],
    ] as const)
      expect(
        await verifyEvidence({ ...bundle, layerOneHeader: { ...layerOneHeader, ...changes } }, trust),
      ).toMatchObject({
        ...{ verified: false, link: 'layerOneHeader', reason, at: 'layerOneHeader.hash' },
      });
  }
  const parent = await layerOneBlock(String(layerOneHeader.parentHash));
  expect(await verifyEvidence({ ...parse('account'), layerOneHeader: parent }, trust)).toMatchObject({
    ...{ verified: false, link: 'layerOneHeader', reason: 'OTHER_BLOCK' },
  });
  await expect(verifyEvidence({ ...parse('account'), layerOneHeader: { hash: '0x' } }, trust)).rejects.toMatchObject({
    code: 'PROOF_MALFORMED',
  });
});

/** Paths of all leaves; of lists of keys and of hashes that are long, the first and the last. */
function* leaves(value: unknown, path: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
  if (typeof value !== 'object' || value === null) return void (yield path);
  const entries = Object.entries(value);
  for (const [i, [key, inner]] of entries.entries()) {
    const isShown = !Array.isArray(value) || entries.length <= 8 || i === 0 || i === entries.length - 1;
    if (isShown) yield* leaves(inner, [...path, Array.isArray(value) ? i : key]);
  }
}

function changed(leaf: unknown): unknown {
  if (typeof leaf === 'number') return leaf + 1;
  if (typeof leaf === 'boolean') return !leaf;
  if (typeof leaf !== 'string' || leaf === '0x') return '0x01';
  return leaf.slice(0, -1) + (leaf.endsWith('1') ? '2' : '1');
}

/** A copy with one leaf changed. */
function damaged(name: keyof typeof CLAIMS, path: readonly (string | number)[]): unknown {
  const bundle: unknown = parse(name);
  let holder = bundle as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) holder = holder[key] as typeof holder;
  holder[path.at(-1)!] = changed(holder[path.at(-1)!]);
  return bundle;
}

/** What is proved, or the link and why it is refused. */
async function outcome(bundle: unknown): Promise<{ readonly proves?: string; readonly link?: string }> {
  try {
    const verdict = await verifyEvidence(bundle, trust);
    if (!verdict.verified) return { link: verdict.link };
    const { claim, layerOne, finalized, proof, header: found } = verdict;
    const bytes = (_: string, value: unknown) =>
      value instanceof Uint8Array ? bytesToHex(value) : typeof value === 'bigint' ? String(value) : value;
    return { proves: JSON.stringify({ claim, layerOne, finalized, proof, header: found }, bytes) };
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^PROOF_MALFORMED$|^FORK_UNSUPPORTED$/) });
    return { link: 'malformed' };
  }
}

describe('a damaged bundle', () => {
  test.each(['account', 'block'] as const)(
    'of a claim of %s proves nothing else',
    async (name) => {
      texts ?? (await collect());
      const whole = await outcome(parse(name));
      expect(whole.proves).toBeDefined();
      const links = new Map<string, number>();
      const [own, first] = [name, 'account' as const].map(
        (one) => parse(one) as unknown as Readonly<Record<string, unknown>>,
      );
      // What both bundles have in common is damaged once.
      const isCommon = (member: string) =>
        name !== 'account' && JSON.stringify(own![member]) === JSON.stringify(first![member]);
      for (const path of leaves(parse(name))) {
        const at = path.join('.');
        const [member] = path;
        if (isCommon(String(member))) continue;
        const { proves, link } = await outcome(damaged(name, path));
        // A member that no check needs, such as the size of a block, changes nothing that is proved.
        if (proves !== undefined) expect(proves, at).toBe(whole.proves);
        else {
          if (['consensus', 'rollup', 'state', 'header'].includes(String(member)))
            expect([member, 'malformed'], at).toContain(link);
          links.set(link!, (links.get(link!) ?? 0) + 1);
        }
      }
      for (const link of name === 'account' ? ['chainId', 'checkpoint', 'consensus', 'rollup', 'state'] : ['state']) {
        expect(links.get(link), link).toBeGreaterThan(0);
      }
    },
    240_000,
  );

  test('is refused with a member too many or too few', async () => {
    texts ?? (await collect());
    for (const member of Object.keys(parse('block'))) {
      const { [member]: _, ...rest } = parse('block') as unknown as Record<string, unknown>;
      expect(await outcome(rest), member).toEqual({ link: 'malformed' });
    }
    expect(await outcome({ ...parse('block'), more: 1 })).toEqual({ link: 'malformed' });
    for (const bundle of [null, [], 'text', { format: 'plumbline-evidence-2' }])
      expect(await outcome(bundle)).toEqual({ link: 'malformed' });
  });
});

describe('what the judge trusts', () => {
  test('decides: the network, the beacon block, the time', async () => {
    texts ?? (await collect());
    const judged = (change: Partial<EvidenceTrust>) => verifyEvidence(parse('block'), { ...trust, ...change });
    const { rollup } = network;
    const later = trust.now! + 15 * 86_400_000;
    const refusals: [Partial<EvidenceTrust>, object][] = [
      [{ network: { ...network, chainId: 1 } }, { link: 'chainId', reason: 'OTHER_CHAIN' }],
      [{ checkpoint: new Uint8Array(32) }, { link: 'checkpoint', reason: 'OTHER_CHECKPOINT' }],
      [{ now: later }, { link: 'consensus', reason: 'CHECKPOINT_TOO_OLD' }],
      [{ now: trust.now! - 86_400_000 }, { link: 'consensus' }],
      [{ network: { ...network, layerOne: 'mainnet' } }, { link: 'consensus' }],
      [{ network: { ...network, rollup: { ...rollup, stateRootsSlot: 1n } } }, { link: 'rollup' }],
    ];
    for (const [change, refusal] of refusals)
      expect(await judged(change).catch((error: unknown) => error), JSON.stringify(refusal)).toMatchObject(
        'reason' in refusal ? { verified: false, ...refusal } : {},
      );
    for (const [change] of refusals)
      expect(await judged(change).catch(() => ({ verified: false }))).toMatchObject({ verified: false });
    expect(await judged({ now: later, maxAgeMs: 30 * 86_400_000 })).toMatchObject({ verified: true });
    const { layerOne: _, ...unknown } = network;
    await expect(judged({ network: unknown })).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
  });
});

describe('node.exportEvidence', () => {
  test('refuses claims that it cannot understand, or that nothing proves', async () => {
    const { open, checkpoint } = await settledScene();
    const { node } = await open({ checkpoint: { root: await checkpoint() } });
    const claims: [unknown, RegExp][] = [
      [undefined, /claim/],
      [{}, /either address or block/],
      [{ block: 1, address: accountAt(0) }, /either address or block/],
      [{ block: -1 }, /claim.block/],
      [{ address: '0x12' }, /claim.address/],
      [{ address: accountAt(0), storageKeys: ['0xzz'] }, /claim.storageKeys/],
      [{ address: accountAt(0), keys: [] }, /claim.keys/],
      [{ block: 6 }, /does not hold the hash of block 6/],
    ];
    for (const [claim, message] of claims)
      await expect(node.exportEvidence(claim as EvidenceClaim), JSON.stringify(claim)).rejects.toMatchObject({
        message,
      });
  });

  test('is there only on a light node that follows layer-1 consensus', async () => {
    const { node } = await devNode();
    await expect(node.exportEvidence({ block: 0 })).rejects.toMatchObject({ message: /layerOne.consensus/ });
  });

  test('an endpoint that lies is not believed', async () => {
    const { endpoint, open, checkpoint } = await settledScene();
    const { node } = await open({ checkpoint: { root: await checkpoint() } });
    endpoint.options.tamper = ({ method }, result) =>
      method === 'eth_getBlockByHash' ? { ...(result as object), number: '0x4' } : result;
    await expect(node.exportEvidence({ block: 3 })).rejects.toThrow();
    endpoint.options.tamper = ({ method }, result) => {
      if (method !== 'linea_getProof') return result;
      const { accountProof, ...rest } = result as { accountProof: { leafIndex: number } };
      return { ...rest, accountProof: { ...accountProof, leafIndex: accountProof.leafIndex + 1 } };
    };
    await expect(node.exportEvidence(CLAIMS.account)).rejects.toThrow();
  });
});

describe('plumbline verify', () => {
  test('checks a bundle from a trusted beacon block on', async () => {
    texts ?? (await collect());
    vi.useFakeTimers({ now: trust.now!, toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const directory = await mkdtemp(join(tmpdir(), 'plumbline-evidence-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const run = async (text: string, ...args: string[]) => {
      const file = join(directory, 'evidence.json');
      await writeFile(file, text);
      const log = vi.spyOn(console, 'log').mockImplementation(() => {});
      try {
        const code = await verifyCommand.run([file, ...args]);
        return { code, printed: log.mock.calls.join('\n') };
      } finally {
        log.mockRestore();
      }
    };
    const checkpoint = ['--checkpoint', root];
    const account = await run(texts.account, ...checkpoint);
    expect(account.code).toBe(0);
    for (const line of [
      /^verified$/m,
      /^consensus {2}layer-1 block 6 /m,
      /^rollup {5}block 6 /m,
      /^slot .* = not set$/m,
    ])
      expect(account.printed).toMatch(line);
    const block = await run(texts.block, ...checkpoint, '--json', '--network', 'devnet');
    expect(block.code).toBe(0);
    expect(JSON.parse(block.printed)).toMatchObject({ verified: true, block: { hash: header.hash } });
    // From its own checkpoint it proves nothing to the reader.
    const own = await run(texts.block);
    expect(own).toMatchObject({ code: 2, printed: expect.stringMatching(/^not verified/) });
    expect(JSON.parse((await run(texts.block, '--json')).printed)).toMatchObject({ checkpointTrusted: false });
    const refused = await run(texts.account.replace(slot, `0x${'00'.repeat(32)}`), ...checkpoint);
    expect(refused).toMatchObject({ code: 1, printed: expect.stringMatching(/^refused in the link state/) });
    expect((await run(texts.block, '--checkpoint', `0x${'11'.repeat(32)}`)).code).toBe(1);
    const unusable = { code: 'INVALID_PARAMETER' };
    for (const args of [
      ['--checkpoint', '0x12'],
      ['--network', 'linae'],
      ['--max-age-days', '0'],
    ])
      await expect(run(texts.block, ...args), args.join(' ')).rejects.toMatchObject(unusable);
    await expect(run(texts.block.replace('"finalized":', '"final":'), ...checkpoint)).rejects.toMatchObject(unusable);
    const foreign = texts.block.replace(`"chainId":${network.chainId}`, '"chainId":5');
    await expect(run(foreign, ...checkpoint)).rejects.toMatchObject(unusable);
  });
});
