import type { Runnable } from '../../stage/runnable.js';

let loading: Promise<readonly Runnable[]> | undefined;

/** All snippets of the documents; loaded with the first that is run. */
export function loadSnippets(): Promise<readonly Runnable[]> {
  loading ??= import('plumbline-site-snippets').then(({ default: snippets }) => snippets);
  return loading;
}
