import { RLP } from '@ethereumjs/rlp';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../src/hosts/provider/node-handle.js';
import { joinBytes } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import type { Alloc } from './alloc-state.js';
import type { Area, Material, Report } from './area.js';
import { type Answer, differsFromRecord } from './io-file.js';
import { withWholeKeys } from './state-tests.js';

/** A request, and what geth answered. */
interface Answered extends Answer {
  request: { method: string; params: unknown[] | null };
}

interface Config {
  chainid: Hex;
  blobSchedule: Record<string, Record<'target' | 'max' | 'baseFeeUpdateFraction', Hex>>;
}

/** A genesis block under Amsterdam. */
interface Genesis {
  config: Config;
  pre: Alloc;
  headerRlp: Hex;
}

const REQUESTS = 'amsterdam/rpc.json';
const STATE = 'amsterdam/rpc-state.json';
const CHAINS = 'amsterdam/rpc-chain.json';
const BLOCKS = 'amsterdam/blocks.json';
const SKIPPED: readonly (readonly [RegExp, string])[] = [
  [/^eth_getBlockAccessList/, 'geth does not have the method'],
  [/^eth_gasPrice$/, 'geth suggests the tips of past blocks, this node what the header names (docs/decisions.md 14)'],
];

/** Calls, simulations, access lists and traces under Amsterdam, on the genesis block on which geth answered. */
export const amsterdamRpcArea: Area = {
  name: 'amsterdam/rpc',
  usesKernel: true,
  isOutside: true,
  showsEveryFailure: true,
  files: (material) => ([REQUESTS, STATE].every(material.has) ? [REQUESTS, STATE] : []),
  async run(material, report) {
    const { state } = material.json<{ state: Genesis }>(STATE);
    const node = await openNode(state, material);
    for (const [name, answered] of Object.entries(material.json<Record<string, Answered>>(REQUESTS)))
      if (material.wants(name)) await check(node, name, answered, report);
    await node.close();
  },
};

/** The first block of a chain: the block, receipts, logs, fees, and traces of its transactions. */
export const amsterdamChainArea: Area = {
  name: 'amsterdam/rpc-chain',
  usesKernel: true,
  isOutside: true,
  showsEveryFailure: true,
  files: (material) => ([CHAINS, BLOCKS].every(material.has) ? [CHAINS, BLOCKS] : []),
  async run(material, report) {
    const blocks = material.json<Record<string, BlockVector>>(BLOCKS);
    const chains = material.json<Record<string, { vector: string; answers: Answered[] }>>(CHAINS);
    for (const [name, { vector, answers }] of Object.entries(chains)) {
      const chain = blocks[vector];
      if (!material.wants(name)) continue;
      if (chain === undefined) {
        report.skip(name, 'its blocks are not there');
        continue;
      }
      const { config, pre, genesis } = chain;
      const node = await openNode(
        { config, pre, ...genesis },
        material,
        joinBytes(chain.blocks.map(({ rlp }) => hexToBytes(rlp))),
      );
      for (const [i, answered] of answers.entries()) await check(node, `${name} ${i}`, answered, report);
      await node.close();
    }
  },
};

interface BlockVector extends Omit<Genesis, 'headerRlp'> {
  genesis: { headerRlp: Hex };
  blocks: { rlp: Hex }[];
}

/** geth gives every refusal the code -32000; this node has the codes of Besu for these (docs/errors.md). */
const CODES: readonly (readonly [RegExp, number])[] = [
  [/intrinsic gas too low/, -32003],
  [/max fee per gas less than block base fee/, -32009],
];

function withOwnCode({ result, error }: Answer): Answer {
  if (error === undefined) return { result };
  const own = CODES.find(([reason]) => reason.test(String(error.message)))?.[1];
  return { error: own === undefined ? error : { ...error, code: own } };
}

async function check(node: PlumblineNode, name: string, { request, ...expected }: Answered, report: Report) {
  const { method, params } = request;
  const skipped = SKIPPED.find(([pattern]) => pattern.test(method));
  if (skipped !== undefined) return report.skip(`${name} ${method}`, skipped[1]);
  await report.check(`${name} ${method}`, async () =>
    differsFromRecord(withOwnCode(expected), await ask(node, method, params ?? [])),
  );
}

async function ask(node: PlumblineNode, method: string, params: unknown[]): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await node.handle(new Request('http://localhost/', { method: 'POST', headers, body }));
  const { result, error } = (await response.json()) as Answer;
  if (error === undefined) return { result };
  const { data, ...rest } = error;
  // A reason in words is this node's own; what a revert returned is hex.
  return { error: typeof data === 'string' && data.startsWith('0x') ? error : rest };
}

const FORK_BLOCKS = [
  'homestead',
  'eip150',
  'eip158',
  'byzantium',
  'constantinople',
  'petersburg',
  'istanbul',
  'berlin',
];
const FORK_TIMES = ['shanghai', 'cancun', 'prague', 'osaka', 'amsterdam'];

/** A node whose genesis block is the given one, and that holds the blocks after it. */
async function openNode({ config, pre, headerRlp }: Genesis, { build }: Material, importBlocks?: Uint8Array) {
  const [blobs] = Object.values(config.blobSchedule);
  const header = RLP.decode(hexToBytes(headerRlp)) as Uint8Array[];
  const [, , coinbase, , , , , difficulty, , gasLimit, , timestamp, extraData, mixHash, nonce, baseFee] = header.map(
    (field) => bytesToHex(field),
  );
  const number = (hex: Hex | undefined) => (hex === '0x' ? '0x0' : hex);
  return createInlineNode({
    kernelBuild: build,
    chain: {
      kind: 'devnet',
      genesis: {
        config: {
          chainId: config.chainid,
          ...Object.fromEntries([...FORK_BLOCKS, 'london'].map((fork) => [`${fork}Block`, 0])),
          ...Object.fromEntries(FORK_TIMES.map((fork) => [`${fork}Time`, 0])),
          terminalTotalDifficulty: 0,
          blobSchedule: { amsterdam: blobs },
        },
        alloc: withWholeKeys(pre) as Record<string, unknown>,
        coinbase,
        difficulty: number(difficulty),
        gasLimit: number(gasLimit),
        timestamp: number(timestamp),
        extraData,
        mixHash,
        nonce,
        baseFeePerGas: number(baseFee),
        slotNumber: number(bytesToHex(header[22]!)),
      },
      ...(importBlocks !== undefined && { importBlocks }),
      mining: 'manual',
    },
  });
}
