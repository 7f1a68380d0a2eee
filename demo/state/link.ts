import { untracked, useSignal, useSignalEffect } from '@preact/signals';
import type { PlumblineNode } from 'plumbline-l2';
import { useRef } from 'preact/hooks';
import { running } from './session.js';
import { address, readAddress, type View } from './view.js';

/** Inputs of a view by name; empty ones are left out of links. */
export type Fields = Readonly<Record<string, string>>;

/** The question that a result is the answer to. */
export interface Question {
  readonly fields: Fields;
  readonly node: PlumblineNode | undefined;
  /** Behind `#`: opens the view and asks the same again. Undefined where it is longer than browsers take. */
  readonly link: string | undefined;
}

/** Characters of a link; browsers take 2 MB at most. */
const LONGEST = 1_000_000;

const CHAIN = 'chain';

/**
 * The question that a view asks now.
 *
 * @param pinned - fields that the link has in place of those of the form, such as the number of the newest block
 */
export function question(view: View, fields: Fields, pinned: Fields = {}): Question {
  const node = running.value?.node;
  const chain = node === undefined ? {} : { [CHAIN]: String(node.info.chainId) };
  const given = Object.entries({ ...fields, ...pinned, ...chain }).filter(([, value]) => value !== '');
  const link = `#${view}?${new URLSearchParams(given)}`;
  return { fields, node, link: link.length > LONGEST ? undefined : link };
}

/** Whether a form, or the node, is another than when the question was asked. */
export function isStale({ fields, node }: Question, now: Fields): boolean {
  const names = new Set([...Object.keys(fields), ...Object.keys(now)]);
  return node !== running.value?.node || [...names].some((name) => fields[name] !== now[name]);
}

/** Puts the link of a result into the address bar, where its view is still shown. */
export function showLink({ link }: Question): void {
  if (link === undefined || !link.startsWith(`#${address.peek().view}?`)) return;
  history.replaceState(history.state, '', link);
}

/** Asks what a link says, as if it were followed from elsewhere. */
export function openLink(link: string): void {
  history.replaceState(history.state, '', link);
  address.value = readAddress(link);
}

/** Whether this page or its server runs the chain. On other chains nothing is asked without a click. */
export function isOwnChain(): boolean {
  const now = running.value?.settings;
  return now?.kind === 'devnet' || now?.here === true;
}

/**
 * Follows links to a view: fills its form, and asks once a node runs.
 *
 * @param fill - puts what the link gives into the form; @returns false where it must not be asked without a click
 * @param first - answers the first example, which is what the form begins with. It is called once, if the view is opened
 * without a link on a devnet
 * @returns why the question of the link was not asked
 */
export function useLink(
  view: View,
  fill: (params: URLSearchParams) => unknown,
  ask: (params: URLSearchParams) => Promise<void>,
  first = () => ask(new URLSearchParams()),
) {
  const refused = useSignal<string | undefined>(undefined);
  const filled = useRef<URLSearchParams | undefined>(undefined);
  const asks = useRef(false);
  const begun = useRef(false);
  useSignalEffect(() => {
    const { view: name, params } = address.value;
    const now = running.value;
    if (name !== view) return;
    if (params.toString() === '') {
      if (begun.current || !isOwnChain()) return;
      begun.current = true;
      untracked(() => void first());
      return;
    }
    begun.current = true;
    if (filled.current !== params) {
      filled.current = params;
      refused.value = undefined;
      asks.current = untracked(() => fill(params)) !== false;
      if (!asks.current) refused.value = 'This call changes something, so the link has only filled it in.';
    }
    if (now === undefined || !asks.current) return;
    asks.current = false;
    const chain = params.get(CHAIN);
    const own = String(now.node.info.chainId);
    if (chain === null || chain === own) untracked(() => void ask(params));
    else
      refused.value = `This link is of chain ${chain}; the node of this page is on chain ${own}. Choose another node, or ask this one.`;
  });
  return refused;
}
