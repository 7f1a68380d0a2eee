import type { PageSource } from '../page-source.js';

/** Maximum number of pages kept between requests. The cache is cleared when a request begins with more. */
const MAX_PAGES = 8192;

/** Signals that pages must be loaded before the reading can continue. Not a failure. */
class PagesNeeded extends Error {
  constructor(readonly keys: readonly string[]) {
    super('pages needed');
  }
}

/**
 * Runs synchronous reading code over an asynchronous source: it is run again when the pages it needs have been loaded.
 */
export class PageCache {
  private readonly pages = new Map<string, Uint8Array | undefined>();
  private read = 0;

  /**
   * @param source - pages of one commit.
   * @param onClear - called when pages are dropped, so that data derived from them is dropped too
   */
  constructor(
    private readonly source: PageSource,
    private readonly onClear: () => void,
  ) {}

  /** Number of pages read from the source so far. */
  get pagesRead(): number {
    return this.read;
  }

  /** A loaded page; undefined if it does not exist. Only within `run`. @param ahead - pages that will be needed next */
  page(key: string, ahead: readonly string[] = []): Uint8Array | undefined {
    if (this.pages.has(key)) return this.pages.get(key);
    throw new PagesNeeded([key, ...ahead.filter((other) => !this.pages.has(other))]);
  }

  /** Runs independent readings, so that their pages are loaded together. Only within `run`. */
  together(readings: readonly (() => void)[]): void {
    const needed = new Set<string>();
    for (const reading of readings) {
      try {
        reading();
      } catch (error) {
        if (!(error instanceof PagesNeeded)) throw error;
        for (const key of error.keys) needed.add(key);
      }
    }
    if (needed.size > 0) throw new PagesNeeded([...needed]);
  }

  /** @param reading - depends on pages only; may be run many times */
  async run<Result>(reading: () => Result): Promise<Result> {
    if (this.pages.size > MAX_PAGES) {
      this.pages.clear();
      this.onClear();
    }
    for (;;) {
      try {
        return reading();
      } catch (error) {
        if (!(error instanceof PagesNeeded)) throw error;
        const pages = await this.source.getMany(error.keys);
        this.read += error.keys.length;
        for (const [i, key] of error.keys.entries()) this.pages.set(key, pages[i]);
      }
    }
  }
}
