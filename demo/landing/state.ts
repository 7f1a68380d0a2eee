import { signal } from '@preact/signals';
import type { PlumblineNode } from 'plumbline-l2';
import { chainInPage } from './chain.js';
import type { LieName } from './lies.js';
import type { Checked, Proof } from './proof.js';

/** How far the proof of the first view is. */
export type Act =
  | { readonly name: 'waiting' }
  | { readonly name: 'failed'; readonly error: unknown }
  | { readonly name: 'checked'; readonly node: PlumblineNode; readonly proof: Proof; readonly checked: Checked };

export const act = signal<Act>({ name: 'waiting' });
/** What the server is to lie about; it may be chosen before there is an answer. */
export const lie = signal<LieName | undefined>(undefined);

/** Counts the runs: of a node that was started anew, the older one shows nothing any more. */
let run = 0;

/** Asks the chain in this page and checks what it says. Never rejects: `act` says how it went. */
export async function perform(): Promise<void> {
  const own = ++run;
  const show = (next: Act) => {
    if (own === run) act.value = next;
  };
  try {
    const chain = chainInPage();
    if (chain === undefined) return show({ name: 'waiting' });
    const node = await chain;
    const before = act.peek();
    // The verifier is needed after the node: its page is painted first.
    const { askForProof, check } = await import('./proof.js');
    const proof = before.name === 'checked' && before.node === node ? before.proof : await askForProof(node);
    show({ name: 'checked', node, proof, checked: await check(proof, lie.peek()) });
  } catch (error) {
    show({ name: 'failed', error });
  }
}
