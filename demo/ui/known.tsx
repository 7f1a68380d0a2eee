import type { Knowledge } from '../state/requests.js';

/** What the classes and levels mean, in a sentence each: for titles and for the legend. */
export const CLASSES = {
  proved: 'checked here against a header or against a root on layer 1',
  computed: 'executed or calculated here from data that was checked',
  held: 'of this node’s own chain, or of the node itself',
  forwarded: 'passed on from an endpoint and not checked',
} as const;

export const LEVELS = {
  held: 'executed here',
  settled: 'proved up to the consensus of layer 1',
  finalized: 'proved against a root that layer 1 holds',
  sealed: 'the head carries the seal of the network’s validators',
  linked: 'several endpoints agree on the head',
  plain: 'one endpoint names the head, and all else is proved against it',
} as const;

/** How a value is known: class, and level where there is one. */
export function Known({ of }: { readonly of: Knowledge | undefined }) {
  if (of === undefined) return <span class="known known-none">not known yet</span>;
  const { class: kind, level } = of;
  const shown = level !== undefined && level !== kind ? level : undefined;
  const meaning = `${kind}: ${CLASSES[kind]}${shown === undefined ? '' : `; ${shown}: ${LEVELS[shown]}`}`;
  return (
    <span class={`known known-${kind}`} title={meaning}>
      {kind}
      {shown !== undefined && <span class="known-level">{shown}</span>}
    </span>
  );
}
