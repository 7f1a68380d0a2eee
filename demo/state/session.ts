import { batch, signal } from '@preact/signals';
import {
  type AnswerReport,
  createNode,
  type NodeStatus,
  type OpenProgress,
  type PlumblineNode,
  type StoreStatus,
} from 'plumbline-l2';
import { type LayerOne, layerOneOf } from './layer-one.js';
import { nodeOptions, type Settings } from './settings.js';

/** Where the node of this page stands. */
export type Phase =
  | { readonly name: 'idle' }
  | { readonly name: 'opening'; readonly progress: OpenProgress | { readonly stage: 'worker'; readonly fraction: 0 } }
  | { readonly name: 'open' }
  /** `ran`: it was open before. */
  | { readonly name: 'failed'; readonly error: unknown; readonly ran: boolean };

/** A running node and what it was started with. */
export interface Running {
  readonly node: PlumblineNode;
  readonly settings: Settings;
  readonly layerOne: LayerOne | undefined;
}

export const phase = signal<Phase>({ name: 'idle' });
export const running = signal<Running | undefined>(undefined);
/** What goes on behind a node that answers already: a state that loads or is built; undefined when there is nothing. */
export const behind = signal<OpenProgress | undefined>(undefined);
/** What the endpoints of a light node answered when it was opened; undefined until they have, and for a devnet. */
export const endpointStatus = signal<NodeStatus | undefined>(undefined);
/** What the node said of its store since it was opened; undefined while all is as it was asked for. */
export const storeStatus = signal<StoreStatus | undefined>(undefined);
/** How long opening took, stage by stage, ms. */
export const openingTimes = signal<readonly { readonly stage: string; readonly ms: number }[]>([]);

/** The newest report of the node: replies come one at a time, so after an answer this is the report of that answer. */
let newestReport: AnswerReport | undefined;
/** Counts the starts, so that a slow one that was given up changes nothing any more. */
let start = 0;

export function takeReport(): AnswerReport | undefined {
  const report = newestReport;
  newestReport = undefined;
  return report;
}

/** Ends the node there is and opens the one that the settings describe. Never rejects: `phase` says how it went. */
export async function startNode(settings: Settings): Promise<void> {
  const own = ++start;
  await closeNode();
  if (own !== start) return;
  const times: { stage: string; ms: number }[] = [];
  let stage: { name: string; since: number } = { name: 'worker', since: performance.now() };
  const endStage = (next: string) => {
    const now = performance.now();
    if (next === stage.name) return;
    times.push({ stage: stage.name, ms: now - stage.since });
    stage = { name: next, since: now };
  };
  phase.value = { name: 'opening', progress: { stage: 'worker', fraction: 0 } };
  try {
    const options = nodeOptions(settings);
    const node = await createNode({
      ...options,
      onProgress(progress) {
        if (own !== start) return;
        if (running.value !== undefined || progress.stage === 'sync') {
          behind.value = progress.fraction < 1 ? progress : undefined;
          return;
        }
        endStage(progress.stage);
        phase.value = { name: 'opening', progress };
      },
    });
    if (own !== start) return void node.close();
    endStage('open');
    node.on('answer', (report) => {
      newestReport = report;
    });
    node.on('storage', (status) => {
      if (own === start) storeStatus.value = status;
    });
    if (settings.kind !== 'devnet')
      node.on('status', (status) => {
        if (own === start) endpointStatus.value = status;
      });
    node.on('disconnect', (error) => {
      if (own !== start || running.value?.node !== node) return;
      batch(() => {
        running.value = undefined;
        phase.value = { name: 'failed', error, ran: true };
      });
    });
    batch(() => {
      openingTimes.value = times;
      running.value = { node, settings, layerOne: layerOneOf(node, settings) };
      phase.value = { name: 'open' };
    });
  } catch (error) {
    if (own === start) phase.value = { name: 'failed', error, ran: false };
  }
}

/** Ends the node; one that is being opened is given up. */
export async function stopNode(): Promise<void> {
  start++;
  await closeNode();
}

async function closeNode(): Promise<void> {
  const node = running.value?.node;
  batch(() => {
    running.value = undefined;
    behind.value = undefined;
    storeStatus.value = undefined;
    endpointStatus.value = undefined;
    phase.value = { name: 'idle' };
  });
  await node?.close().catch(() => {});
}
