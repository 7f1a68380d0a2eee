import { h, type VNode } from 'vue';
import type { Run } from './use-run.js';

const WORDS: Readonly<Record<Run['state'], string>> = {
  idle: '',
  running: 'Running in this page…',
  done: 'Ran to its end in this page.',
  failed: 'It ended with an error.',
  stopped: 'Stopped.',
};

/** What a run printed, and how it is. */
export function runOutput({ state, lines }: Run): VNode | null {
  if (state === 'idle') return null;
  const printed = lines.map(({ kind, text }) => h('span', { class: `run-${kind}` }, `${text}\n`));
  const words =
    state === 'done' && lines.length === 0 ? 'Ran to its end in this page; it prints nothing.' : WORDS[state];
  return h('div', { class: 'run-output' }, [
    h('p', { class: 'run-state', role: 'status', 'data-state': state }, words),
    lines.length > 0 ? h('pre', { tabindex: 0, 'aria-label': 'Output', role: 'log' }, printed) : null,
  ]);
}
