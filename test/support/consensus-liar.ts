import { PlumblineError } from '../../src/errors.js';
import type { Opened, Stage } from './consensus-stage.js';
import { type Edit, edited, type Json, nudged } from './lie-edits.js';

/** The answers that a lie is about. */
export const TARGETS = {
  bootstrap: { by: 'beacon', is: (path) => path.includes('/bootstrap/') },
  updates: { by: 'beacon', is: (path) => path.includes('/updates?') },
  finality: { by: 'beacon', is: (path) => path.endsWith('/finality_update') },
  header: { by: 'l1', is: (method) => method === 'eth_getBlockByHash' },
  current: { by: 'l1', is: (method, params) => method === 'eth_getProof' && slotsIn(params) === 1 },
  root: { by: 'l1', is: (method, params) => method === 'eth_getProof' && slotsIn(params) === 2 },
  ring: { by: 'l2', is: (method) => method === 'linea_getProof' },
  settled: { by: 'l2', is: (method) => method === 'eth_getBlockByHash' },
} satisfies Record<string, Target>;

interface Target {
  readonly by: 'beacon' | 'l1' | 'l2';
  is(method: string, params: readonly unknown[]): boolean;
}

const slotsIn = ([, slots]: readonly unknown[]) => (slots as readonly unknown[]).length;

/** One lie. */
export interface ConsensusLie {
  readonly name: string;
  readonly on: keyof typeof TARGETS;
  /** What is said in place of the true answer. @param params - of the call; of a beacon node its path */
  tell(answer: Json, stage: Stage, params: readonly Json[]): Json | Promise<Json>;
  /** Why it is refused: a code of an error, or the check of `ANSWER_REFUSED`. */
  readonly refused: RegExp;
  /** Whether nothing may be answered beside an honest endpoint either. */
  readonly stops?: boolean;
  /** Which trusted block the node begins with; `recent` when left out. */
  readonly from?: 'old' | 'recent';
}

/** Lies about one answer, each at another place. @param paths - as in `edited` */
export function liesAt(
  on: ConsensusLie['on'],
  refused: RegExp,
  paths: readonly string[],
  edit: Edit = nudged,
  label = '',
): ConsensusLie[] {
  return paths.map((path) => ({
    name: `${on}: ${path || 'the whole'}${label && ` ${label}`}`,
    on,
    refused,
    tell: (answer) => edited(answer, path, edit),
  }));
}

/** What a node said to the question for the newest finalized block. */
export async function askFinalized({ node, errors }: Opened): Promise<{ answer?: Json; error?: unknown }> {
  try {
    return { answer: await node.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] }) };
  } catch (thrown) {
    return { error: errors[0] ?? thrown };
  }
}

/**
 * Tells a lie to two nodes: to one that knows no other endpoint, and to one that knows an honest one too.
 *
 * @returns what is wrong with what came of it, and what was told
 */
export async function tryLie(stage: Stage, lie: ConsensusLie): Promise<{ faults: string[]; told: string }> {
  const { by, is }: Target = TARGETS[lie.on];
  const liars = { beacon: stage.beacons[0]!, l1: stage.layerOnes[0]!, l2: stage.layerTwos[0]! };
  let told = '';
  const say = async (method: string, params: readonly unknown[], truth: Json) => {
    if (!is(method, params)) return truth;
    const said = await lie.tell(structuredClone(truth), stage, by === 'beacon' ? [method] : params);
    if (JSON.stringify(said) !== JSON.stringify(truth)) told ||= JSON.stringify([method, said]);
    return said;
  };
  liars.beacon.tamper = async (path, answer) => ({ ...answer, body: await say(path, [], answer.body) });
  for (const mock of [liars.l1, liars.l2])
    mock.options.tamper = ({ method, params }, result) => say(method, params, result);
  const faults: string[] = [];
  for (const where of ['alone', 'beside'] as const) {
    told = '';
    const urls = (role: Target['by'], honest: string) =>
      by !== role ? [honest] : where === 'alone' ? [liars[role].url] : [liars[role].url, honest];
    const opened = await stage.open(
      {
        checkpoint: { root: stage.checkpoints[lie.from ?? 'recent'] },
        consensus: urls('beacon', stage.beacons[1]!.url),
        execution: urls('l1', stage.layerOnes[1]!.url),
      },
      { endpoints: urls('l2', stage.layerTwos[1]!.url) },
    );
    try {
      const outcome = await askFinalized(opened);
      const isRight = where === 'beside' && lie.stops !== true;
      const fault = isRight ? faultOfTruth(stage, opened, outcome) : faultOfRefusal(lie, outcome);
      if (told === '') faults.push(`${where}: no lie was told`);
      if (fault !== undefined) faults.push(`${where}: ${fault}`);
    } finally {
      await opened.node.close();
    }
  }
  delete liars.beacon.tamper;
  for (const mock of [liars.l1, liars.l2]) delete mock.options.tamper;
  return { faults, told };
}

type Outcome = Awaited<ReturnType<typeof askFinalized>>;

/** What is wrong with an answer that has to be the true one, at level settled; undefined if it is. */
export function faultOfTruth(
  { newest, layerOneHash }: Stage,
  { reports }: Opened,
  { answer, error }: Outcome,
): string | undefined {
  if (error !== undefined) return `refused: ${describe(error)}`;
  if (JSON.stringify(answer) !== JSON.stringify(newest)) return `answered ${JSON.stringify(answer)}`;
  const { level, layerOne } = reports.at(-1)!;
  if (level === 'settled' && layerOne?.blockHash === layerOneHash) return undefined;
  return `the report says ${level}, ${layerOne?.blockHash}`;
}

function faultOfRefusal({ refused }: ConsensusLie, { answer, error }: Outcome): string | undefined {
  if (error === undefined) return `answered ${JSON.stringify(answer)?.slice(0, 200)}`;
  if (!(error instanceof PlumblineError) || error.code === 'INTERNAL') return `not a typed error: ${describe(error)}`;
  return refused.test(reasonOf(error)) ? undefined : `refused otherwise: ${describe(error)}`;
}

/** The code of an error; of a refused answer the check that failed. */
export function reasonOf({ code, details }: PlumblineError): string {
  return code === 'ANSWER_REFUSED' ? (details as { check: string }).check : code;
}

function describe(error: unknown): string {
  const { code, message, details } = error as { code?: unknown; message?: string; details?: unknown };
  return `${code} ${message} ${JSON.stringify(details)}`;
}
