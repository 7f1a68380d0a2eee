import type { Block } from '../../chain/block.js';
import type { Chain } from '../../chain/chain.js';
import { PlumblineError } from '../../errors.js';
import { equalBytes } from '../../primitives/bytes.js';

/** How often a block is read, each time after another new head, before it is skipped. */
export const MAX_TRIES = 8;
/** Most blocks that wait, including the one that is being read. The oldest is skipped for one more. */
export const MAX_WAITING = 256;

interface Waiting {
  readonly block: Block;
  tries: number;
  error?: unknown;
}

/**
 * Reads something of each new block, one after the other in the order of the chain, and passes it to `tell`. A block that
 * cannot be read is tried again with the next head, and those after it wait. It is skipped after `MAX_TRIES`, or when more
 * than `MAX_WAITING` blocks wait. A block that has left the chain meanwhile is dropped.
 *
 * @param onError - receives the reason why a block was skipped
 * @returns a function that ends it
 */
export function followBlocks<Found>(
  chain: Pick<Chain, 'onHead' | 'onRemoval'>,
  read: (block: Block) => Promise<Found>,
  tell: (found: Found) => void,
  onError: (error: unknown) => void,
): () => void {
  const waiting: Waiting[] = [];
  let isRunning = false;
  let isAskedAgain = false;
  let isEnded = false;

  function skip({ block, error }: Waiting): void {
    waiting.shift();
    const reason = `block ${block.header.number} is skipped: ${MAX_WAITING} blocks are waiting`;
    onError(error ?? new PlumblineError('INTERNAL', reason, { reason }));
  }

  /** @returns whether to continue with the block that is first now */
  async function advance(first: Waiting): Promise<boolean> {
    let found: Found;
    try {
      found = await read(first.block);
    } catch (error) {
      if (waiting[0] !== first) return true;
      first.error = error;
      first.tries++;
      if (first.tries < MAX_TRIES) return false;
      skip(first);
      return true;
    }
    // Another block is first after a reorg meanwhile.
    if (waiting[0] !== first || isEnded) return true;
    waiting.shift();
    tell(found);
    return true;
  }

  async function run(): Promise<void> {
    isRunning = true;
    try {
      do {
        isAskedAgain = false;
        while (!isEnded && waiting[0] !== undefined && (await advance(waiting[0])));
      } while (isAskedAgain && !isEnded);
    } catch (error) {
      onError(error);
    } finally {
      isRunning = false;
    }
  }

  const stop = chain.onHead((block) => {
    while (waiting.length > 0 && waiting.at(-1)!.block.header.number >= block.header.number) waiting.pop();
    waiting.push({ block, tries: 0 });
    if (waiting.length > MAX_WAITING) skip(waiting[0]!);
    isAskedAgain = true;
    if (!isRunning) void run();
  });
  // A block that leaves the chain may come before the one in its place, or without any.
  const stopRemoval = chain.onRemoval((block) => {
    const at = waiting.findIndex((other) => equalBytes(other.block.hash, block.hash));
    if (at >= 0) waiting.splice(at, 1);
  });
  return () => {
    isEnded = true;
    stop();
    stopRemoval();
  };
}
