import { effect, signal } from '@preact/signals';
import type { Hex } from 'plumbline-l2';
import { ask, asked, type Knowledge } from './requests.js';
import { running } from './session.js';

/** A block as the status shows it. */
export interface Standing {
  readonly number: number;
  readonly hash: Hex;
  readonly timestamp: number;
  readonly known: Knowledge | undefined;
}

/** What is known of a tag; an error is an answer too, such as a level that was not reached. */
export type Tagged =
  | { readonly kind: 'loading' }
  | { readonly kind: 'block'; readonly block: Standing }
  | { readonly kind: 'error'; readonly error: unknown };

const LOADING: Tagged = { kind: 'loading' };
/** How often the status looks by itself, ms. */
const EVERY_MS = { devnet: 5_000, light: 8_000 };

export const head = signal<Tagged>(LOADING);
export const finalized = signal<Tagged>(LOADING);

async function look(tag: string): Promise<Tagged> {
  try {
    const answer = await ask<{ number: Hex; hash: Hex; timestamp: Hex } | null>('eth_getBlockByNumber', [tag, false], {
      quiet: true,
    });
    if (answer.result === null) return { kind: 'error', error: new Error('there is no such block yet') };
    const { number, hash, timestamp } = answer.result;
    return {
      kind: 'block',
      block: { number: Number(number), hash, timestamp: Number(timestamp), known: answer.known },
    };
  } catch (error) {
    return { kind: 'error', error };
  }
}

let looking: Promise<void> | undefined;
let again = false;

/** Looks at head and finalized block; a call while one is under way makes it look once more. */
export function refreshStatus(): Promise<void> {
  again = looking !== undefined;
  looking ??= (async () => {
    do {
      again = false;
      const node = running.value?.node;
      if (node === undefined) break;
      const [newest, settled] = await Promise.all([look('latest'), look('finalized')]);
      if (running.value?.node !== node) continue;
      head.value = newest;
      finalized.value = settled;
    } while (again);
    looking = undefined;
  })();
  return looking;
}

/** Follows the node of the page: at once, after each request, and by the clock while the page is visible. */
export function followStatus(): void {
  let timer: ReturnType<typeof setInterval> | undefined;
  effect(() => {
    const now = running.value;
    clearInterval(timer);
    head.value = LOADING;
    finalized.value = LOADING;
    if (now === undefined) return;
    void refreshStatus();
    timer = setInterval(() => {
      if (document.visibilityState === 'visible') void refreshStatus();
    }, EVERY_MS[now.settings.kind]);
  });
  effect(() => {
    if (asked.value > 0) void refreshStatus();
  });
}
