import type { AnswerClass, AnswerReport } from 'plumbline-l2';

/** How a value is known, as the page shows beside it. */
export interface Knowledge {
  readonly class: AnswerClass;
  readonly level?: AnswerReport['level'] | undefined;
}

/**
 * The scale of trust: `good` rests on no server's word, `agreed` on what several servers say alike, `warn` on the word of
 * one. The names are those of the colours (styles/tokens.css).
 */
export type Tone = 'good' | 'agreed' | 'warn';

const TONES = ['good', 'agreed', 'warn'] as const;

/** What the classes and levels mean, in a sentence each. */
export const CLASSES = {
  proved: 'checked here, hash by hash, against a block header or against a root on layer 1',
  computed: 'executed or calculated here from data that was checked',
  held: 'read from this node’s own chain, or from its own settings',
  forwarded: 'passed on from a server and not checked',
} as const;

export const LEVELS = {
  held: 'the block was executed here',
  settled: 'the block is proved up to the signatures of layer 1’s validators',
  finalized: 'the root is on layer 1, as one layer-1 server says',
  sealed: 'the block carries the seal of the network’s validators',
  attested: 'two thirds of a committee of layer-1 validators signed the block; it may still be replaced',
  linked: 'several servers name the same block',
  plain: 'one server names the block, and all else is checked against it',
} as const;

interface Link {
  readonly tone: Tone;
  /** In the words of a visitor. */
  readonly word: string;
}

const CLASS_LINKS: Readonly<Record<AnswerClass, Link>> = {
  proved: { tone: 'good', word: 'checked' },
  computed: { tone: 'good', word: 'computed here' },
  held: { tone: 'good', word: 'this page’s own' },
  forwarded: { tone: 'warn', word: 'one server’s word' },
};

/** `finalized`: this page asks one layer-1 server at a time (`layerOneAgreeing` is 1). */
const LEVEL_LINKS: Readonly<Record<keyof typeof LEVELS, Link>> = {
  held: { tone: 'good', word: 'own chain' },
  settled: { tone: 'good', word: 'layer 1’s validators signed the block' },
  sealed: { tone: 'good', word: 'the network’s validators signed the block' },
  attested: { tone: 'good', word: 'a layer-1 committee signed the block' },
  linked: { tone: 'agreed', word: 'several servers name the block' },
  finalized: { tone: 'warn', word: 'one layer-1 server names the root' },
  plain: { tone: 'warn', word: 'one server names the block' },
};

/** The weaker of some tones. */
export function weakest(...tones: readonly Tone[]): Tone {
  return TONES[Math.max(0, ...tones.map((tone) => TONES.indexOf(tone)))]!;
}

/** The tone of what rests on all of these; what is not known is `warn`. */
export function toneOf(...links: readonly (Knowledge | undefined)[]): Tone {
  return weakest(
    ...links.map((known) => {
      if (known === undefined) return 'warn';
      const level = known.level === undefined ? 'good' : LEVEL_LINKS[known.level].tone;
      return weakest(CLASS_LINKS[known.class].tone, level);
    }),
  );
}

/** What a block rests on, in the words of a visitor. */
export function levelWord(level: keyof typeof LEVELS): string {
  return LEVEL_LINKS[level].word;
}

/** Words for the mark beside a value: what was done here, and the weakest link below it. */
export function trustWords({ class: kind, level }: Knowledge): string {
  const { word } = CLASS_LINKS[kind];
  if (level === undefined || kind === 'forwarded' || level === kind) return word;
  return `${word} · ${LEVEL_LINKS[level].word}`;
}

/** What the words mean, with the names that the node uses. */
export function trustMeaning({ class: kind, level }: Knowledge): string {
  const below = level === undefined || level === kind ? '' : `; ${LEVELS[level]} (level “${level}”)`;
  const meaning = `${CLASSES[kind]} (class “${kind}”)${below}.`;
  return meaning.slice(0, 1).toUpperCase() + meaning.slice(1);
}
