import type { StateReader } from '../../../evm/state/state-reader.js';

/** One state that reads can be answered from. */
export interface StateSource {
  /** @returns the state, and what is called when the first read has been answered from it */
  open(): Promise<{ readonly state: StateReader; onUse(): void }>;
  /** Whether an error means that it is not held, and not that an answer is wrong. */
  isAbsent(error: unknown): boolean;
}

/** Reads the first of several states that is held. All reads are answered from the same one. */
export function heldState(sources: readonly StateSource[]): StateReader {
  const opened = new Map<number, ReturnType<StateSource['open']>>();
  let chosen = 0;
  let isUsed = false;
  const open = (index: number) => {
    const known = opened.get(index) ?? sources[index]!.open();
    opened.set(index, known);
    return known;
  };
  async function read<T>(of: (state: StateReader) => Promise<T>): Promise<T> {
    for (;;) {
      const tried = chosen;
      try {
        const { state, onUse } = await open(tried);
        const value = await of(state);
        // Another read has found meanwhile that this state is not held.
        if (tried !== chosen) continue;
        if (!isUsed) onUse();
        isUsed = true;
        return value;
      } catch (error) {
        if (tried !== chosen) continue;
        if (isUsed || tried + 1 === sources.length || !sources[tried]!.isAbsent(error)) throw error;
        chosen = tried + 1;
      }
    }
  }
  return {
    account: (address) => read((state) => state.account(address)),
    slot: (address, slot) => read((state) => state.slot(address, slot)),
    code: (codeHash) => read((state) => state.code(codeHash)),
  };
}
