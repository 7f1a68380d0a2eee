import type { PageSource } from '../page-source.js';

/** Pages kept between requests; the cache starts over when a request begins with more. */
const MAX_PAGES = 8192;

/** Not a failure: what is being read goes on when these pages are there. */
class PagesNeeded extends Error {
  constructor(readonly keys: readonly string[]) {
    super('pages needed');
  }
}

/** Lets code that reads pages at once run over a source that takes time: it is run again when its pages have arrived. */
export class PageCache {
  private readonly pages = new Map<string, Uint8Array | undefined>();
  private read = 0;

  /** @param source - pages of one commit. @param onClear - forget what was made of the pages */
  constructor(
    private readonly source: PageSource,
    private readonly onClear: () => void,
  ) {}

  /** Pages read from the source so far. */
  get pagesRead(): number {
    return this.read;
  }

  /** A page that is there or known to be missing. Only within `run`. @param ahead - pages that will be wanted next */
  page(key: string, ahead: readonly string[] = []): Uint8Array | undefined {
    if (this.pages.has(key)) return this.pages.get(key);
    throw new PagesNeeded([key, ...ahead.filter((other) => !this.pages.has(other))]);
  }

  /** Readings of which none needs another's result, so that their pages come together. Only within `run`. */
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

  /** @param reading - depends on nothing but pages, and may be run many times */
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
