import { Endpoint, type EndpointHost } from './endpoint.js';
import { Health } from './health.js';
import { type EndpointSource, limitsOf, type OpenTransport } from './options.js';
import type { Call, EndpointInfo, Fault, FaultKind, Outcome } from './transport/fault.js';

/** An endpoint of a group, with its health. */
export interface GroupEndpoint {
  readonly info: EndpointInfo;
  readonly endpoint: Endpoint;
  readonly health: Health;
  /** The last fault. */
  lastFault: Fault | undefined;
}

/** Reports that an endpoint began to fail or recovered. */
export type ReportEvent = (
  member: GroupEndpoint,
  type: 'degraded' | 'recovered',
  fault?: { kind: FaultKind; reason: string },
) => void;

/** @throws PlumblineError `INVALID_PARAMETER` */
export function openMembers(
  sources: readonly EndpointSource[],
  open: OpenTransport,
  given: typeof fetch | undefined,
  host: EndpointHost,
): GroupEndpoint[] {
  const seen = new Map<string, number>();
  return sources.map((source) => {
    const transport = open(source, given);
    const { origin } = transport;
    const count = (seen.get(origin) ?? 0) + 1;
    seen.set(origin, count);
    const id = count === 1 ? origin : `${origin}#${count}`;
    const endpoint = new Endpoint(id, transport, limitsOf(source), host);
    return { info: { id, origin }, endpoint, health: new Health(), lastFault: undefined };
  });
}

/** Updates the health of an endpoint by the outcomes of `calls`. */
export function noteOutcomes(
  member: GroupEndpoint,
  calls: readonly Call[],
  outcomes: readonly Outcome[],
  now: number,
  report: ReportEvent,
): void {
  const { health } = member;
  const answered = calls.filter((_, i) => outcomes[i]!.kind !== 'fault').map(({ method }) => method);
  const [first] = outcomes;
  if (answered.length > 0) {
    if (health.answered(answered)) report(member, 'recovered');
  } else if (first?.kind === 'fault') noteFault(member, calls, first.fault, now, report);
}

/** Updates the health of an endpoint after a fault. */
export function noteFault(
  member: GroupEndpoint,
  calls: readonly Call[],
  fault: Fault,
  now: number,
  report: ReportEvent,
): void {
  const { health } = member;
  member.lastFault = fault;
  const methods = calls.map(({ method }) => method);
  const isFirst =
    fault.kind === 'configuration' && fault.mayPass !== true
      ? health.refused(methods, fault, now)
      : fault.kind === 'rate-limited'
        ? health.limited()
        : health.failed(now);
  if (isFirst) report(member, 'degraded', fault);
}

/** Endpoints in the order in which they are asked. Those that failed recently come last, the earliest failure first. */
export function orderMembers(members: readonly GroupEndpoint[], now: number): GroupEndpoint[] {
  const isLast = ({ health }: GroupEndpoint) => health.readiness(now) === 'last';
  const last = members.filter(isLast).sort((a, b) => a.health.breakEndsAt - b.health.breakEndsAt);
  return [...members.filter((member) => !isLast(member)), ...last];
}
