import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import type { DevnetChainOptions } from '../../../src/chain/devnet/options.js';
import type { GenesisJson } from '../../../src/chain/devnet/state/genesis-json.js';
import type { Command } from '../../../src/hosts/cli/arguments.js';
import { chainOptions } from '../../../src/hosts/cli/chain.js';
import { verifyCommand } from '../../../src/hosts/cli/verify.js';
import { createInlineNode } from '../../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../../src/hosts/provider/provider.js';
import { NETWORKS } from '../../../src/networks/networks.js';
import { concatBytes } from '../../../src/primitives/bytes.js';
import type { Json } from '../damage.js';
import { accountAt, KeptStore, stranger } from '../dev-node.js';
import { fixtureBytes, fixtureJson, hasFixture } from '../fixtures.js';
import type { AnswerFixture } from '../proof-fixtures.js';
import { grow, portrait } from '../storage-scene.js';
import { mutated, mutatedBytes, mutatedText } from './mutations.js';
import { faultOfReply, type HostileScene, isUntyped, post, shown, typedOnlyAsync } from './run.js';
import { EMPTY_DICTIONARY, LIMITS } from './target.js';

/** Opens a devnet, has it answer, mine and estimate, and closes it. Typed errors are answers too. */
async function useDevnet(chain: DevnetChainOptions, codes: readonly string[]): Promise<void> {
  const thrown: unknown[] = [];
  const options = {
    ...LIMITS,
    chain,
    dictionary: EMPTY_DICTIONARY,
    onError: (error: unknown) => void thrown.push(error),
  };
  const node = await typedOnlyAsync(codes, () => createInlineNode(options));
  if (node === undefined) return;
  try {
    const methods = [
      ['eth_getBlockByNumber', 'latest', true],
      ['eth_estimateGas', { from: accountAt(0), to: stranger('11'), value: '0x1' }],
      ['evm_mine'],
      ['eth_feeHistory', '0x2', 'latest', [50]],
      ['linea_estimateGas', { from: accountAt(0), to: stranger('11') }],
      ['eth_call', { to: stranger('11') }, 'pending'],
      ['linea_getProof', stranger('11'), [], 'earliest'],
    ];
    const body = JSON.stringify(methods.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params })));
    const { status, text } = await post(node, body);
    const untyped = thrown.find(isUntyped);
    if (untyped !== undefined) throw untyped;
    const fault = faultOfReply(body, status, text);
    if (fault !== undefined) throw new Error(`an answer ${fault}: ${text}`);
  } finally {
    await node.close();
  }
}

/** A genesis file in geth's format with a member of each kind. */
const GENESIS: Json = {
  config: {
    chainId: 7,
    homesteadBlock: 0,
    eip150Block: 0,
    londonBlock: 0,
    terminalTotalDifficulty: '0x0',
    shanghaiTime: 0,
    cancunTime: 5,
    pragueTime: '0x20',
    blobSchedule: { cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 } },
    depositContractAddress: stranger('d1'),
  },
  alloc: {
    [accountAt(0)]: { balance: '0x21e19e0c9bab2400000', nonce: '1' },
    [stranger('11').slice(2)]: { balance: '5', code: '0x602a60005260206000f3', storage: { '0x1': '0x2' } },
  },
  timestamp: '0x10',
  gasLimit: '0x1c9c380',
  difficulty: '0x0',
  baseFeePerGas: '0x7',
  extraData: '0x',
  nonce: '0x0',
};

/** Genesis files: refused by the member that cannot be used, or a devnet that works. */
export async function genesisScene(): Promise<HostileScene<Json>> {
  return {
    inputs: mutated(fc.constant(GENESIS)),
    check: (input) => useDevnet({ kind: 'devnet', genesis: input as unknown as GenesisJson }, ['INVALID_PARAMETER']),
  };
}

/** A file with a network profile: as `plumbline serve --network FILE` reads it. */
export async function profileScene(directory: string): Promise<HostileScene<string>> {
  const path = join(directory, 'network.json');
  // Without the dictionary, which a node would fetch from its address.
  const profiles = Object.values(NETWORKS).map(({ dictionary: _, ...profile }) => {
    return JSON.parse(JSON.stringify(profile, (_, value) => (typeof value === 'bigint' ? `${value}` : value))) as Json;
  });
  const json = fc.constantFrom(...profiles);
  const text = (value: fc.Arbitrary<Json>) => value.map((parsed) => JSON.stringify(parsed));
  return {
    inputs: fc.oneof({ arbitrary: text(mutated(json)), weight: 4 }, mutatedText(text(json))),
    async check(input) {
      await writeFile(path, input);
      const chain = await typedOnlyAsync(['INVALID_PARAMETER'], () => chainOptions({ network: path } as never));
      if (chain !== undefined) await useDevnet(chain as DevnetChainOptions, ['INVALID_PARAMETER', 'OUT_OF_RANGE']);
    },
  };
}

/** Files for `plumbline verify`: verified as the true file is, refused, or an argument that cannot be used. */
export async function verifyScene(directory: string): Promise<HostileScene<string>> {
  const path = join(directory, 'proof.json');
  const run = async (command: Command) => {
    const printed: unknown[] = [];
    const { log } = console;
    console.log = (...parts: unknown[]) => printed.push(...parts);
    try {
      return { code: await command.run([path, '--json']), text: printed.join('\n') };
    } finally {
      console.log = log;
    }
  };
  const { result, ...question } = fixtureJson<AnswerFixture>(
    'state/getproof/generated-poseidon2-account-and-slots.json',
  );
  const { address, storageKeys, stateRoot, scheme } = question;
  const request = { method: 'linea_getProof', params: [address, storageKeys, '0x1'] };
  const forms = [
    { ...question, result },
    { request, response: { jsonrpc: '2.0', id: 1, result }, stateRoot, scheme },
  ] as Json[];
  await writeFile(path, JSON.stringify(forms[0]));
  type Shown = { readonly slots: readonly unknown[] };
  const shownSlots = (text: string) => {
    const { slots, ...rest } = JSON.parse(text) as Shown;
    return [shown(rest), slots.map(shown)] as const;
  };
  const [account, slots] = shownSlots((await run(verifyCommand)).text);
  const text = (value: fc.Arbitrary<Json>) => value.map((parsed) => JSON.stringify(parsed));
  const json = fc.constantFrom(...forms);
  return {
    inputs: fc.oneof({ arbitrary: text(mutated(json)), weight: 3 }, mutatedText(text(json))),
    async check(input) {
      await writeFile(path, input);
      const done = await typedOnlyAsync(['INVALID_PARAMETER'], () => run(verifyCommand));
      if (done?.code !== 0) return;
      // What a file no longer asks for is taken from the proof: fewer slots, or in another order.
      const [verified, found] = shownSlots(done.text);
      if (verified !== account || found.some((slot) => !slots.includes(slot))) throw new Error(`verified ${done.text}`);
    },
  };
}

/** Blocks in an RLP file: imported, or refused with the blocks before. Without the execution-apis suite there are none. */
export async function blockFileScene(): Promise<HostileScene<Uint8Array>> {
  const genesis = fixtureJson<GenesisJson>('execution-apis/genesis.json');
  const blocks = fixtureBytes('execution-apis/chain.rlp').slice(0, 9000);
  return {
    inputs: mutatedBytes(fc.constant(blocks)),
    check: (importBlocks) =>
      useDevnet({ kind: 'devnet', genesis, importBlocks }, ['BLOCK_INVALID', 'INVALID_PARAMETER']),
  };
}
export const hasBlockFiles = hasFixture('execution-apis/chain.rlp');

/** Exported devnets with a checksum that fits: refused and nothing changed, or imported with the true chain. */
export async function chainFileScene(): Promise<HostileScene<Uint8Array>> {
  const chain = { kind: 'devnet', scheme: 'poseidon2' } as const;
  const opened = async (blocks: number) => {
    const node = await createInlineNode({ chain, store: new KeptStore(), dictionary: EMPTY_DICTIONARY });
    const ask = (method: string, ...params: unknown[]) => node.request<UntypedMethod>({ method, params });
    const transfer = (account: number, fields: object) =>
      ask('eth_sendTransaction', { from: accountAt(account), to: stranger('11'), value: '0x1', ...hexed(fields) });
    await grow({ node, ask, transfer } as never, blocks);
    return node;
  };
  const source = await opened(6);
  const file = await source.exportChain();
  const truth = shown(await portrait(source));
  await source.close();
  let node: PlumblineNode = await opened(2);
  let before = shown(await portrait(node));
  return {
    inputs: mutatedBytes(fc.constant(file.slice(0, -32))).map((content) => concatBytes(content, sha256(content))),
    async check(input) {
      const done = await typedOnlyAsync(['CHAIN_FILE_REFUSED'], () => node.importChain(input));
      const after = shown(await portrait(node));
      if (after !== (done === undefined ? before : truth))
        throw new Error(`${done === undefined ? 'refused' : 'imported'}, but the chain is ${after}`);
      if (done === undefined) return;
      await node.close();
      node = await opened(2);
      before = shown(await portrait(node));
    },
    close: () => node.close(),
  };
}

const hexed = (fields: object) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'number' ? `0x${value.toString(16)}` : value,
    ]),
  );
