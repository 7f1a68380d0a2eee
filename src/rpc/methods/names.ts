import { isHead } from '../../chain/block.js';
import { dnsEncode, ETHER, isEvmCoin, type Names, namehash, openNames, reverseName } from '../../chain/names.js';
import { PlumblineError } from '../../errors.js';
import type { RunLimits } from '../../evm/run-budget.js';
import type { SpeculativeRun } from '../../evm/simulation.js';
import type { StateReader } from '../../evm/state-reader.js';
import { concatBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../primitives/hex.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { MethodCallOptions } from '../method.js';
import { COMPUTES } from '../method-rows.js';
import { optional, parseAddress, parseQuantity, requireMembers, requireObject, requireText } from '../parse-params.js';
import { parseBlockReference, requireBlock } from '../resolve-block.js';
import { invalidParams } from '../rpc-errors.js';
import type { AddressLookup, NameOptions, NameResolution, NameTrust } from '../schema/answers.js';
import { defineMethod, type RpcContext } from './context.js';

/** Its tables of Unicode are most of it. */
const loadNormalizer = loadOnce(() => import('@adraffy/ens-normalize'));

const SUBJECT = 'name params';

/** `[name, { coinType, block }]`: the address of a name of ENS. */
export const plumbline_resolveName = defineMethod<[name: string, options?: NameOptions], NameResolution>(
  'plumbline_resolveName',
  COMPUTES,
  async (context, [nameParam, optionsParam], call) => {
    const registry = registryOf(context, 'plumbline_resolveName');
    const name = await normalized(requireText(nameParam, 'name', SUBJECT));
    const { coinType, ...at } = parseOptions(optionsParam);
    const read = (names: Names) => names.address(name, coinType);
    const { outcome, trust } = await readNames(context, { ...at, registry, of: name }, read, call);
    return { name, coinType, trust, ...outcome };
  },
);

/** `[address, { coinType, block }]`: the name of an address, if the name resolves to it. */
export const plumbline_lookupAddress = defineMethod<[address: Hex, options?: NameOptions], AddressLookup>(
  'plumbline_lookupAddress',
  COMPUTES,
  async (context, [addressParam, optionsParam], call) => {
    const registry = registryOf(context, 'plumbline_lookupAddress');
    const address = parseAddress(addressParam, 'address', SUBJECT);
    const { coinType, ...at } = parseOptions(optionsParam);
    if (!isEvmCoin(coinType))
      throw invalidParams(
        'options.coinType',
        'must be 60 or from 0x80000000 on: that of an address of the EVM',
        SUBJECT,
      );
    const read = (names: Names, isSpeculative: boolean) =>
      names.name(address, coinType, async (name) => isSpeculative || (await isNormalized(name)));
    const { outcome, trust } = await readNames(
      context,
      { ...at, registry, of: reverseName(bytesToHex(address).slice(2), coinType) },
      read,
      call,
    );
    return { address: bytesToHex(address), coinType, trust, ...outcome };
  },
);

/** @throws PlumblineError `METHOD_NOT_ENABLED` on a network without ENS */
function registryOf({ chain: { network } }: RpcContext, method: string): Uint8Array {
  if (network.ens !== undefined) return hexToBytes(network.ens.registry, 20);
  const reason =
    `${method} needs the name service of a layer 1, and ${network.name} has none: ask a node of ethereum or sepolia, ` +
    'or name the registry in `ens` of the network profile';
  throw new PlumblineError('METHOD_NOT_ENABLED', reason, { method, reason });
}

/** @throws RpcError -32602 for what is no name */
async function normalized(given: string): Promise<string> {
  // Before it is read in full.
  if (given.length > 1_000) throw invalidParams('name', 'has more than 1000 characters', SUBJECT);
  const { ens_normalize: normalize } = await loadNormalizer();
  let name: string;
  try {
    name = normalize(given);
  } catch (error) {
    throw invalidParams('name', `is not a name by ENSIP-15: ${(error as Error).message}`, SUBJECT);
  }
  if (name === '') throw invalidParams('name', 'is empty', SUBJECT);
  if (dnsEncode(name) === undefined)
    throw invalidParams('name', 'is longer than 1000 bytes, or has a label of more than 255', SUBJECT);
  return name;
}

async function isNormalized(name: string): Promise<boolean> {
  const { ens_normalize: normalize } = await loadNormalizer();
  try {
    return name !== '' && normalize(name) === name;
  } catch {
    return false;
  }
}

/** @throws RpcError -32602 */
function parseOptions(value: unknown) {
  const options = optional(value, (present) => requireObject(present, 'options', SUBJECT)) ?? {};
  requireMembers(options, ['coinType', 'block'], 'options', SUBJECT);
  const reference = parseBlockReference(options.block, { tag: 'latest' }, 'options.block');
  return { reference, coinType: optional(options.coinType, parseCoinType) ?? ETHER };
}

/** A number below 2^32, or a quantity. @throws RpcError -32602 */
function parseCoinType(value: unknown): number {
  if (typeof value === 'string') return Number(parseQuantity(value, 'options.coinType', SUBJECT, 32));
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32) return value as number;
  throw invalidParams('options.coinType', 'must be a whole number below 2^32', SUBJECT);
}

interface Place extends Pick<ReturnType<typeof parseOptions>, 'reference'> {
  readonly registry: Uint8Array;
  /** The name whose resolver is read first. */
  readonly of: string;
}

/** Reads names in the state after a block. What is read is fetched together, as far as it can be guessed. */
async function readNames<Outcome>(
  context: RpcContext,
  { reference, registry, of }: Place,
  read: (names: Names, isSpeculative: boolean) => Promise<Outcome>,
  call: MethodCallOptions,
): Promise<{ readonly outcome: Outcome; readonly trust: NameTrust }> {
  const { chain } = context;
  const { network } = chain;
  const named = isHead(reference) ? await chain.head(call) : await requireBlock(context, reference, call);
  const first = { to: registry, data: concatBytes(hexToBytes('0x0178b8bf'), namehash(of)) };
  const run = async (
    state: StateReader,
    limits: RunLimits,
    speculativeRun: SpeculativeRun | undefined,
    block = chain.contextOf(named),
  ) => {
    const names = await openNames({ ...limits, network, block, state, registry, speculativeRun });
    try {
      return await read(names, speculativeRun !== undefined);
    } finally {
      names.close();
    }
  };
  const plan = {
    call: first,
    block: named,
    tag: 'tag' in reference && reference.tag !== 'earliest' ? reference.tag : undefined,
    accessLists: false,
    runs: { calls: [first], coinbase: chain.contextOf(named).coinbase, run, onAsk: () => {} },
  } as const;
  const { block: on, state } = await chain.prepare(plan, call);
  const { signal, gas } = call;
  const outcome = await run(state, { signal, gas }, undefined, chain.contextOf(on));
  const trust = {
    level: await chain.trust(on),
    block: { number: on.header.number, hash: bytesToHex(on.hash) },
  };
  return { outcome, trust };
}
