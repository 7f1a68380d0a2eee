/** A map that keeps the value of each key after each block, so that every past state can be read. */
export class VersionedMap<Value> {
  private readonly histories = new Map<string, { block: number; value: Value | undefined }[]>();

  /** Value of `key` after `block`; undefined if it had none. */
  get(key: string, block: number): Value | undefined {
    return this.entry(key, block)?.value;
  }

  /** Whether `key` was set by `block`, to a value or to none. */
  has(key: string, block: number): boolean {
    return this.entry(key, block) !== undefined;
  }

  private entry(key: string, block: number): { readonly value: Value | undefined } | undefined {
    const history = this.histories.get(key);
    if (history === undefined) return undefined;
    let low = 0;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (history[middle]!.block <= block) low = middle + 1;
      else high = middle;
    }
    return history[low - 1];
  }

  /** Sets the value of `key` from `block` on. Blocks must ascend. */
  set(key: string, block: number, value: Value | undefined): void {
    const history = this.histories.get(key);
    if (history === undefined) {
      this.histories.set(key, [{ block, value }]);
      return;
    }
    const last = history[history.length - 1]!;
    if (last.block === block) last.value = value;
    else history.push({ block, value });
  }

  /** Removes values that were replaced by `block`. */
  forgetBefore(block: number): void {
    for (const [key, history] of this.histories) {
      let newest = 0;
      while (newest + 1 < history.length && history[newest + 1]!.block <= block) newest++;
      history.splice(0, newest);
      if (history.length === 1 && history[0]!.block <= block && history[0]!.value === undefined) {
        this.histories.delete(key);
      }
    }
  }

  /** Removes values that were set after `block`. */
  truncate(block: number): void {
    for (const [key, history] of this.histories) {
      while (history.length > 0 && history[history.length - 1]!.block > block) history.pop();
      if (history.length === 0) this.histories.delete(key);
    }
  }

  /** Every key that ever had a value. */
  keys(): IterableIterator<string> {
    return this.histories.keys();
  }
}
