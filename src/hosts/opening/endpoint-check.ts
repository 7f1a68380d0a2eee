import type { Chain } from '../../chain/chain.js';
import { readLightBlock } from '../../chain/light/heads/light-block.js';
import {
  missing,
  requireChain,
  requireFinalized,
  requireGenesis,
  withOtherSpec,
  withoutContract,
  withoutLightClientData,
} from '../../chain/light/refused.js';
import { type ErrorDetails, isPlumblineError, messageOf, PlumblineError, type UpstreamReason } from '../../errors.js';
import { type Network, rollupOf } from '../../networks/network.js';
import type { EndpointProblem, EndpointReport } from '../../rpc/schema/answers.js';
import type { Call, EndpointInfo } from '../../upstream/failure.js';
import { upstreamError } from '../../upstream/failure.js';
import type { EndpointGroup, UpstreamRequestOptions } from '../../upstream/group.js';
import { UNCONNECTED } from '../../upstream/http.js';

/** Time limit of one endpoint, milliseconds. */
const TIMEOUT_MS = 8_000;

/** Time limit of the request that tells a host without CORS headers from one that is down, milliseconds. */
const PROBE_TIMEOUT_MS = 3_000;
const WITHOUT_CORS = 'have it send access-control-allow-origin, or ask it through a server of yours';

/** Chain ids of layer 1. A simulated one has any. */
const LAYER_ONE_IDS: Readonly<Record<string, number>> = { mainnet: 1, sepolia: 11_155_111, hoodi: 560_048 };

/** What is fetched from endpoints with a REST API, by role. */
const PATHS: Readonly<Record<string, string>> = {
  maru: '/eth/v1/beacon/headers/head',
  'l1-consensus': '/eth/v1/beacon/light_client/finality_update',
  'l1-checkpoint': '/eth/v1/beacon/headers/finalized',
};

const CHAIN_ID: Call = { method: 'eth_chainId', params: [] };
const LATEST: Call = { method: 'eth_getBlockByNumber', params: ['latest', false] };
const FINAL: Call = { method: 'eth_getBlockByNumber', params: ['finalized', false] };

type Found = Pick<EndpointReport, 'chainId' | 'head'>;

/**
 * Asks each endpoint once, all at the same time: chain id and newest block.
 *
 * @returns a report for each, in the order of the groups; it never rejects but for an abort
 */
export async function checkEndpoints(
  network: Network,
  groups: readonly EndpointGroup[],
  signal?: AbortSignal,
): Promise<readonly EndpointReport[]> {
  return (await checkAll(network, groups, signal)).map(({ report }) => report);
}

async function checkAll(
  network: Network,
  groups: readonly EndpointGroup[],
  signal?: AbortSignal,
): Promise<readonly { readonly report: EndpointReport; readonly error?: unknown }[]> {
  const reports = groups.flatMap((group) =>
    group.endpoints.map(async (info) => {
      const { role } = group;
      try {
        const found = await checkOne(network, group, info, signal);
        return { report: { role, endpoint: info.id, answers: true, ...found } };
      } catch (error) {
        signal?.throwIfAborted();
        const isWithout = role === 'l1-consensus' && problemOf(error).status === 501;
        const told = isWithout ? withoutLightClientData(info) : error;
        const problem = await toldApart(problemOf(told), info, group.fetch ?? fetch);
        return { report: { role, endpoint: info.id, answers: false, ...foundBy(error), problem }, error: told };
      }
    }),
  );
  return Promise.all(reports);
}

async function checkOne(
  network: Network,
  group: EndpointGroup,
  from: EndpointInfo,
  signal: AbortSignal | undefined,
): Promise<Found> {
  const options = { endpoint: from.id, timeoutMs: TIMEOUT_MS, waits: false, ...(signal && { signal }) };
  const path = PATHS[group.role];
  if (path !== undefined) {
    if (group.role === 'l1-consensus') await requireBeacon(network, group, from, options);
    await group.request(path, [], options);
    return {};
  }
  // A state manager has methods of its own only: an error that says so is an answer.
  if (group.role === 'state-manager') {
    await group.requestMany([CHAIN_ID], options);
    return {};
  }
  const calls = [CHAIN_ID, LATEST];
  if (group.role === 'l1')
    calls.push(FINAL, { method: 'eth_getCode', params: [rollupOf(network).rollup.address, 'latest'] });
  return group.requestMany(calls, {
    ...options,
    accept: (answers) => {
      const [chainId, block, finalized, code] = answers.map((answer, i) => {
        if (answer.kind === 'result') return answer.result;
        throw upstreamError(from, calls[i]!, answer.error);
      });
      if (group.role !== 'l1') {
        requireChain(network, from, chainId);
        const read = readLightBlock(network, block);
        if (read === undefined) throw missing('newest block');
        return { chainId: network.chainId, head: read.header.number };
      }
      requireLayerOne(network, from, chainId);
      const { number } = (block ?? {}) as { number?: unknown };
      if (!isQuantity(chainId) || !isQuantity(number)) throw missing('newest block');
      requireFinalized(from, finalized);
      if (code === '0x') throw withoutContract(from, rollupOf(network).rollup.address);
      return { chainId: Number(chainId), head: Number(number) };
    },
  });
}

/** @throws PlumblineError `UPSTREAM_WRONG_CHAIN` for an endpoint of another layer 1, where the profile says which it is */
function requireLayerOne({ layerOne }: Network, from: EndpointInfo, answer: unknown): void {
  const { name, chainId } =
    typeof layerOne === 'object'
      ? { name: layerOne.name, chainId: layerOne.depositChainId }
      : { name: layerOne, chainId: layerOne && LAYER_ONE_IDS[layerOne] };
  if (chainId !== undefined) requireChain({ name: `its layer 1, ${name}`, chainId }, from, answer);
}

/** @throws PlumblineError `LAYER_ONE_UNUSABLE` for a beacon node of another chain, or without data for light clients */
async function requireBeacon(
  { layerOne }: Network,
  group: EndpointGroup,
  from: EndpointInfo,
  options: UpstreamRequestOptions,
): Promise<void> {
  const [{ beaconNetworkOf }, { specDifference }] = await Promise.all([
    import('../../networks/beacon-networks.js'),
    import('../../consensus/slots.js'),
  ]);
  const beacon = beaconNetworkOf(layerOne!);
  const genesis = (answer: unknown) => requireGenesis(beacon, from, answer);
  await group.request('/eth/v1/beacon/genesis', [], { ...options, accept: genesis });
  // Not every server has this route.
  const spec = await group.request('/eth/v1/config/spec', [], options).catch(() => undefined);
  options.signal?.throwIfAborted();
  const difference = specDifference(beacon, spec);
  if (difference !== undefined) throw withOtherSpec(from, beacon.name, difference);
}

function isQuantity(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value);
}

/** The chain id of an endpoint of another chain. */
function foundBy(error: unknown): Found {
  const found = isPlumblineError(error, 'UPSTREAM_WRONG_CHAIN') ? Number(error.details.found) : Number.NaN;
  return Number.isSafeInteger(found) ? { chainId: found } : {};
}

function problemOf(error: unknown): EndpointProblem {
  if (!isPlumblineError(error)) return { code: 'INTERNAL', reason: messageOf(error) };
  const told = isPlumblineError(error, 'REQUEST_TIMED_OUT') && isPlumblineError(error.cause) ? error.cause : error;
  const { endpoints: [fault] = [] } = told.details as { endpoints?: readonly UpstreamReason[] };
  const { code, message } = told;
  if (fault === undefined) return { code, reason: message };
  const { kind, status, reason } = fault;
  return { code, kind, reason, ...(status !== undefined && { status }) };
}

/**
 * To a page, a host that is down and one without CORS headers are the same. A request that asks for no headers, and whose answer
 * the page cannot read, arrives at the second only. It goes to the origin: without path and key.
 *
 * @source WHATWG Fetch, request mode `no-cors`
 */
async function toldApart(
  problem: EndpointProblem,
  { origin }: EndpointInfo,
  ask: typeof fetch,
): Promise<EndpointProblem> {
  if (problem.reason !== UNCONNECTED) return problem;
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  const request = { mode: 'no-cors', credentials: 'omit', cache: 'no-store', signal } as const;
  try {
    await ask(origin, request);
    return { ...problem, reason: `up, but without CORS headers for this page; ${WITHOUT_CORS}` };
  } catch {
    if (signal.aborted) return problem;
    return {
      ...problem,
      reason: 'no connection: down, or blocked by the browser; check host and port, and that it runs',
    };
  }
}

/**
 * @throws PlumblineError `UPSTREAM_*` if no endpoint of the network answers rightly, `LAYER_ONE_UNUSABLE` or `UPSTREAM_WRONG_CHAIN` if all of
 *   layer 1 serve something else; after closing `chain`
 */
export async function requireReady(
  network: Network,
  groups: readonly EndpointGroup[],
  chain: Pick<Chain, 'close'>,
): Promise<void> {
  const checked = await checkAll(network, groups);
  const reports = checked.map(({ report }) => report);
  const isReady = reports.some(({ role, answers }) => role === 'l2' && answers);
  const error = isReady ? otherLayerOne(checked) : notReady(network, reports);
  if (error === undefined) return;
  await chain.close();
  throw error;
}

/** The error of a role of layer 1 whose endpoints all serve something else; those that do not answer now may answer later. */
function otherLayerOne(checked: Awaited<ReturnType<typeof checkAll>>): PlumblineError | undefined {
  for (const role of ['l1', 'l1-consensus']) {
    const own = checked.filter(({ report }) => report.role === role);
    const others = own.flatMap(({ error }) =>
      isPlumblineError(error, 'LAYER_ONE_UNUSABLE') || isPlumblineError(error, 'UPSTREAM_WRONG_CHAIN') ? [error] : [],
    );
    if (others.length > 0 && others.length === own.length) return others[0];
  }
  return undefined;
}

/**
 * The error of a node none of whose endpoints of layer 2 answers.
 *
 * @param reports - at least one of role `l2`
 */
function notReady({ chainId }: Pick<Network, 'chainId'>, reports: readonly EndpointReport[]): PlumblineError {
  const own = reports.filter(({ role }) => role === 'l2');
  const listed = own.map(({ endpoint, problem }) => `${endpoint}: ${problem!.reason}`).join('; ');
  const message = `no endpoint of the network answers rightly (${listed})`;
  const [{ endpoint: origin, chainId: found, problem }] = own as [EndpointReport];
  const { code } = problem!;
  const isCommon = own.every((report) => report.problem!.code === code);
  if (isCommon && code === 'UPSTREAM_WRONG_CHAIN') {
    const details: ErrorDetails[typeof code] = { origin, expected: chainId, found: String(found ?? 'none') };
    return new PlumblineError(code, message, details);
  }
  const endpoints = own.map(({ endpoint, problem }): UpstreamReason => {
    const { kind = 'rejected', status, reason } = problem!;
    return { origin: endpoint, kind, reason, ...(status !== undefined && { status }) };
  });
  const isConfiguration = isCommon && code === 'UPSTREAM_CONFIGURATION';
  return new PlumblineError(isConfiguration ? code : 'UPSTREAM_UNAVAILABLE', message, { endpoints });
}
