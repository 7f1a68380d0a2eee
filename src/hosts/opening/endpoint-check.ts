import type { Chain } from '../../chain/chain.js';
import { readLightBlock } from '../../chain/light/heads/light-block.js';
import { missing, requireChain } from '../../chain/light/refused.js';
import { type ErrorDetails, isPlumblineError, messageOf, PlumblineError, type UpstreamReason } from '../../errors.js';
import type { Network } from '../../networks/network.js';
import type { EndpointProblem, EndpointReport } from '../../rpc/inspection/node-status.js';
import { upstreamError } from '../../upstream/failure.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { Call, EndpointInfo } from '../../upstream/transport/fault.js';
import { UNCONNECTED } from '../../upstream/transport/http.js';

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
  const reports = groups.flatMap((group) =>
    group.endpoints.map(async (info): Promise<EndpointReport> => {
      const { role } = group;
      try {
        return { role, endpoint: info.id, answers: true, ...(await checkOne(network, group, info, signal)) };
      } catch (error) {
        signal?.throwIfAborted();
        const problem = await toldApart(problemOf(error), info, group.fetch ?? fetch);
        return { role, endpoint: info.id, answers: false, ...foundBy(error), problem };
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
    await group.request(path, [], options);
    return {};
  }
  // A state manager has methods of its own only: an error that says so is an answer.
  if (group.role === 'state-manager') {
    await group.requestMany([CHAIN_ID], options);
    return {};
  }
  return group.requestMany([CHAIN_ID, LATEST], {
    ...options,
    accept: (answers) => {
      const [chainId, block] = answers.map((answer, i) => {
        if (answer.kind === 'result') return answer.result;
        throw upstreamError(from, [CHAIN_ID, LATEST][i]!, answer.error);
      });
      if (group.role !== 'l1') {
        requireChain(network, from, chainId);
        const read = readLightBlock(network, block);
        if (read === undefined) throw missing('newest block');
        return { chainId: network.chainId, head: read.header.number };
      }
      const { layerOne = '' } = network;
      const expected = LAYER_ONE_IDS[layerOne];
      if (expected !== undefined) requireChain({ name: `its layer 1, ${layerOne}`, chainId: expected }, from, chainId);
      const { number } = (block ?? {}) as { number?: unknown };
      if (!isQuantity(chainId) || !isQuantity(number)) throw missing('newest block');
      return { chainId: Number(chainId), head: Number(number) };
    },
  });
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

/** @throws PlumblineError `UPSTREAM_*` if no endpoint of layer 2 answers rightly, after closing `chain` */
export async function requireReady(
  network: Network,
  groups: readonly EndpointGroup[],
  chain: Pick<Chain, 'close'>,
): Promise<void> {
  const reports = await checkEndpoints(network, groups);
  if (reports.some(({ role, answers }) => role === 'l2' && answers)) return;
  await chain.close();
  throw notReady(network, reports);
}

/**
 * The error of a node none of whose endpoints of layer 2 answers.
 *
 * @param reports - at least one of role `l2`
 */
function notReady({ chainId }: Pick<Network, 'chainId'>, reports: readonly EndpointReport[]): PlumblineError {
  const own = reports.filter(({ role }) => role === 'l2');
  const listed = own.map(({ endpoint, problem }) => `${endpoint}: ${problem!.reason}`).join('; ');
  const message = `no endpoint of layer 2 answers rightly (${listed})`;
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
