import type { OpenProgress } from '../options/options.js';
import { printErrors } from './lines.js';

/** Stages that can take long, in words. */
const STAGES: Partial<Record<OpenProgress['stage'], string>> = {
  genesis: 'reading the genesis',
  blocks: 'importing blocks',
  state: 'building the zk state',
  'layer-one': 'following layer 1',
  sync: 'following the network',
};

/** Between two lines where there is no terminal; what takes less has none. */
const LINE_MS = 5_000;
/** The same of one line that changes. */
const CHANGE_MS = 200;

/** Back to the begin of the line, and all that is in it away. */
const CLEAR = '\r\u001b[K';

/** What a command prints on standard error while a node opens: on a terminal one line that changes, elsewhere a line now and then. */
export class ProgressLines {
  readonly #stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  readonly #now: () => number;
  #printed: number;
  #isShown = false;

  constructor(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr, now = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
    this.#printed = now();
  }

  /** For `onProgress` of a node. */
  readonly report = ({ stage, fraction, block, target }: OpenProgress): void => {
    const words = STAGES[stage];
    const now = this.#now();
    if (words === undefined || now - this.#printed < (this.#stream.isTTY ? CHANGE_MS : LINE_MS)) return;
    this.#printed = now;
    const line = `${words}: ${target === undefined ? `${Math.floor(fraction * 100)} %` : `block ${block} of ${target}`}`;
    if (this.#stream.isTTY) {
      this.#isShown = true;
      this.#stream.write(`${CLEAR}${line}`);
    } else printErrors(line);
  };

  /** Takes the line away: what follows is printed in its place. */
  readonly end = (): void => {
    if (this.#isShown) this.#stream.write(CLEAR);
    this.#isShown = false;
  };
}
