import { createNode, type PlumblineNode } from 'plumbline-l2';
import { running } from '../state/session.js';
import { settings } from '../state/settings.js';

/** In memory, beside a light node of the page. */
let own: Promise<PlumblineNode> | undefined;

/** The devnet of this page, or one beside its light node; undefined while the page has none and is to have one. */
export function chainInPage(): Promise<PlumblineNode> | undefined {
  const now = running.value;
  if (now?.settings.kind === 'devnet') return Promise.resolve(now.node);
  if (now === undefined && settings.value.kind === 'devnet') return undefined;
  own ??= createNode({ chain: { kind: 'devnet' } });
  return own;
}
