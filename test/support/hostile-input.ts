/**
 * Inputs that are hard on a match finder, from a seed: pieces that repeat with small changes, runs on either side of the run
 * threshold and of the longest match, ABI words, reserved bytes, and excerpts of a dictionary that end or change early.
 */
import { concatBytes } from '../../src/primitives/bytes.js';
import { seededRandom } from './random.js';

const ODD_BYTES = [0, 0, 0, 1, 0x20, 0x80, 0xa0, 0xfd, 0xfe, 0xfe, 0xff, 0xff];
/** Lengths around which the parse changes its mind. */
const EDGES = [1, 2, 3, 4, 5, 6, 8, 31, 32, 33, 64, 158, 159, 160, 161, 162, 255, 256, 257, 258, 320];

type Piece = () => Uint8Array;

export class HostileInputs {
  readonly below: (bound: number) => number;
  private built: Uint8Array = new Uint8Array(0);

  constructor(
    seed: number,
    private readonly dictionary: Uint8Array,
  ) {
    this.below = seededRandom(seed);
  }

  /** One input of up to `length` bytes, of pieces of a few kinds or of all. */
  next(length: number): Uint8Array {
    this.built = new Uint8Array(0);
    const all: Piece[] = [
      this.run,
      this.words,
      this.period,
      this.reserved,
      this.excerpt,
      this.copy,
      this.copy,
      this.odd,
    ];
    const kinds = this.below(3) === 0 ? all : [this.of(all), this.of(all), this.odd];
    while (this.built.length < length) this.built = concatBytes(this.built, this.of(kinds)());
    return this.built.slice(0, length);
  }

  /** A dictionary-like excerpt with a few bytes changed, so that neither the whole nor any long part fits. */
  private readonly excerpt = (): Uint8Array => this.damaged(this.slice(this.dictionary));

  /** Part of what is there already, as it is or damaged: near-repeats. */
  private readonly copy = (): Uint8Array => {
    const part = this.slice(this.built);
    return this.below(2) === 0 ? part.slice() : this.damaged(part);
  };

  private readonly run = (): Uint8Array => {
    const run = new Uint8Array(this.edge()).fill(this.of(ODD_BYTES));
    return this.below(3) === 0 ? this.damaged(run) : run;
  };

  private readonly words = (): Uint8Array => {
    const zeros = this.of([0, 12, 24, 28, 30, 31]);
    const spread = this.of([1, 2, 4, 256]);
    return Uint8Array.from({ length: 32 * (1 + this.below(6)) }, (_, i) => (i % 32 < zeros ? 0 : this.below(spread)));
  };

  private readonly period = (): Uint8Array => {
    const unit = Uint8Array.from({ length: 1 + this.below(40) }, () => this.of(ODD_BYTES));
    return this.damaged(Uint8Array.from({ length: this.edge() }, (_, i) => unit[i % unit.length]!));
  };

  private readonly reserved = (): Uint8Array => {
    const pattern = this.of([() => 0xfe, () => 0xff, (i: number) => 0xfe + (i & 1), () => 0xfe + this.below(2)]);
    return Uint8Array.from({ length: 1 + this.below(20) }, (_, i) => pattern(i));
  };

  private readonly odd = (): Uint8Array =>
    Uint8Array.from({ length: this.below(6) }, () => (this.below(2) === 0 ? this.of(ODD_BYTES) : this.below(256)));

  private of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  private edge(): number {
    return Math.max(1, this.of(EDGES) + this.below(3) - 1);
  }

  private slice(source: Uint8Array): Uint8Array {
    const start = this.below(source.length + 1);
    return source.subarray(start, start + this.edge());
  }

  private damaged(part: Uint8Array): Uint8Array {
    const bytes = part.slice();
    for (let k = this.below(3); k > 0 && bytes.length > 0; k--) bytes[this.below(bytes.length)] = this.of(ODD_BYTES);
    return bytes;
  }
}
