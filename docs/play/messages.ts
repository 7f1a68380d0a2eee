/** From the page to the frame: a program in TypeScript. */
export interface ToFrame {
  readonly code: string;
}

/** From the frame: that it can be given a program, a line that this printed, and how it ended. */
export type FromFrame =
  | { readonly kind: 'ready' }
  | { readonly kind: 'log' | 'error'; readonly text: string }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly text: string };
