import { isPlumblineError, type LayerOneProblem, PlumblineError } from '../../errors.js';
import type { BeaconNetwork, Network } from '../../networks/network.js';
import type { ProofFailure } from '../../proof/verdict.js';
import type { EndpointInfo } from '../../upstream/failure.js';
import { dependsOnEndpoint } from '../../upstream/failure.js';
import type { TrustLevel } from '../block.js';

/**
 * The error for an answer that a verifier refused.
 *
 * @param what - subject of the answer, such as `header` or `account 0x…`
 */
export function answerRefused(
  what: string,
  { reason, at, message }: ProofFailure<string>,
): PlumblineError<'ANSWER_REFUSED'> {
  const place = at === '' ? message : `${at} ${message}`;
  return new PlumblineError('ANSWER_REFUSED', `${what}: ${place}`, { what, check: reason, at });
}

/** The error for an endpoint that does not have something that must exist. @param what - as for `answerRefused` */
export function missing(what: string): PlumblineError<'ANSWER_REFUSED'> {
  return new PlumblineError('ANSWER_REFUSED', `${what}: the endpoint does not have it`, {
    what,
    check: 'MISSING',
    at: '',
  });
}

const NOT_FOUND = /\b(?:header|block)\b.{0,80}\bnot (?:be )?found\b|\bunknown block\b/i;

/**
 * Whether the error means that an endpoint does not have an existing block yet. Several nodes may be behind one address, and
 * some of them may not have the newest block yet.
 */
export function isNotAvailableYet(error: unknown): boolean {
  if (isPlumblineError(error, 'ANSWER_REFUSED')) return error.details.check === 'MISSING';
  return isPlumblineError(error, 'UPSTREAM_ERROR') && NOT_FOUND.test(error.details.message);
}

/** Whether the error means that an endpoint does not give the state of a block. It says nothing about what is in it. */
export function isStateMissing(error: unknown): boolean {
  if (isPlumblineError(error, 'ANSWER_REFUSED')) return error.details.check === 'MISSING';
  return isPlumblineError(error, 'UPSTREAM_ERROR') && dependsOnEndpoint(error.details);
}

/** @param answer - to `eth_chainId` @throws PlumblineError `UPSTREAM_WRONG_CHAIN` */
export function requireChain(
  { name, chainId }: Pick<Network, 'name' | 'chainId'>,
  { origin }: EndpointInfo,
  answer: unknown,
): void {
  const isQuantity = typeof answer === 'string' && /^0x[0-9a-f]{1,16}$/i.test(answer);
  if (isQuantity && BigInt(answer) === BigInt(chainId)) return;
  const found = isQuantity ? String(BigInt(answer)) : 'none';
  const serves = isQuantity ? `serves chain ${found}` : 'names no chain id';
  const message = `${origin} ${serves}, not ${chainId} (${name}); give the URL of that network`;
  throw new PlumblineError('UPSTREAM_WRONG_CHAIN', message, { origin, expected: chainId, found });
}

/** The error for an endpoint of layer 1 that serves something else than is needed. */
function layerOneUnusable(
  { origin }: Pick<EndpointInfo, 'origin'>,
  problem: LayerOneProblem,
  what: string,
): PlumblineError<'LAYER_ONE_UNUSABLE'> {
  const reason = `the layer 1 at ${origin} ${what}`;
  return new PlumblineError('LAYER_ONE_UNUSABLE', reason, { origin, problem, reason });
}

/** @param address - of the rollup contract, in hex */
export function withoutContract(from: EndpointInfo, address: string): PlumblineError<'LAYER_ONE_UNUSABLE'> {
  const remedy = 'name an endpoint of the layer 1 of this network, or correct rollup.address of the profile';
  return layerOneUnusable(from, 'no-contract', `has no rollup contract at ${address}; ${remedy}`);
}

/** As `requireFinalized`, for endpoints that say it by an error. @throws the error, or `LAYER_ONE_UNUSABLE` in its place */
export function withoutFinal(error: unknown): never {
  if (isPlumblineError(error, 'UPSTREAM_ERROR') && isNotAvailableYet(error)) requireFinalized(error.details, null);
  throw error;
}

/** @throws PlumblineError `LAYER_ONE_UNUSABLE` for null in place of the finalized block */
export function requireFinalized(from: Pick<EndpointInfo, 'origin'>, answer: unknown): void {
  if (answer !== null) return;
  const remedy = 'wait until it does, or name another endpoint';
  throw layerOneUnusable(from, 'not-final', `names no finalized block: it does not finalize yet; ${remedy}`);
}

export function withoutLightClientData(from: Pick<EndpointInfo, 'origin'>): PlumblineError<'LAYER_ONE_UNUSABLE'> {
  const remedy = 'start that beacon node with its light client server, or name another';
  return layerOneUnusable(from, 'no-light-client-data', `serves no data for light clients (status 501); ${remedy}`);
}

/** @param answer - to `/eth/v1/beacon/genesis` @throws PlumblineError `LAYER_ONE_UNUSABLE` for the genesis of another chain */
export function requireGenesis(network: BeaconNetwork, from: EndpointInfo, answer: unknown): void {
  const { genesis_validators_root: root } = ((answer as { data?: unknown } | null)?.data ?? {}) as Record<
    string,
    unknown
  >;
  if (typeof root !== 'string' || root.toLowerCase() === network.genesisValidatorsRoot.toLowerCase()) return;
  const roots = `its validators of genesis are ${root.slice(0, 66)}, not ${network.genesisValidatorsRoot}`;
  throw layerOneUnusable(from, 'other-genesis', `follows another beacon chain than ${network.name}: ${roots}`);
}

/** @param difference - of its configuration from that of the network */
export function withOtherSpec(
  from: Pick<EndpointInfo, 'origin'>,
  network: string,
  difference: string,
): PlumblineError<'LAYER_ONE_UNUSABLE'> {
  const remedy = 'name another endpoint, or give the beacon chain as data in layerOne of the profile (beaconNetwork)';
  return layerOneUnusable(from, 'other-spec', `has another configuration than ${network}: ${difference}; ${remedy}`);
}

/** @param reached - the level that was reached instead */
export function notReached(
  required: TrustLevel,
  reached: TrustLevel | undefined,
  reason: string,
): PlumblineError<'TRUST_LEVEL_NOT_REACHED'> {
  const message = `trust level ${required} is not reached: ${reason}`;
  return new PlumblineError('TRUST_LEVEL_NOT_REACHED', message, { required, reached, reason });
}

/** The error for a head that would replace more than `depth` blocks. */
export function tooDeep(level: TrustLevel, depth: number): PlumblineError<'TRUST_LEVEL_NOT_REACHED'> {
  return notReached(
    level,
    undefined,
    `the new head replaces more than ${depth} blocks, the largest reorg allowed (maxReorgDepth)`,
  );
}

/** The error for a head that would take back a block that layer 1 finalized. */
export function takesBackFinal(
  level: TrustLevel,
  head: number,
  final: number,
): PlumblineError<'TRUST_LEVEL_NOT_REACHED'> {
  const reason = `the new head ${head} takes back block ${final}, which layer 1 has finalized`;
  return notReached(level, undefined, reason);
}

/** Whether the error means that no endpoint answered, rather than a wrong answer. */
export function isUnreachable(error: unknown): boolean {
  return (
    isPlumblineError(error, 'UPSTREAM_UNAVAILABLE') ||
    isPlumblineError(error, 'UPSTREAM_RATE_LIMITED') ||
    isPlumblineError(error, 'REQUEST_TIMED_OUT')
  );
}
