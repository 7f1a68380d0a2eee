import type { CallForm } from '../lib/calls.js';
import { running } from './session.js';

/** A form as it holds on the network of the node: the test token stands on devnets alone. */
export function onNetwork(form: CallForm): CallForm & { readonly hasToken: boolean } {
  const now = running.value;
  const hasToken = now === undefined || now.node.info.networkName === 'devnet';
  return { ...form, kind: form.kind === 'token' && !hasToken ? 'ether' : form.kind, hasToken };
}
