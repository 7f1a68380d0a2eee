import type { Block, Chain } from '../../chain/chain.js';
import { PlumblineError } from '../../errors.js';

/** Times that a block is read, each after another new head, before it is passed over. */
export const MAX_TRIES = 8;
/** Blocks that wait, the one that is read included; the oldest is passed over for one more. */
export const MAX_WAITING = 256;

interface Waiting {
  readonly block: Block;
  tries: number;
  error?: unknown;
}

/**
 * Reads something of each new block, one after the other in the order of the chain, and tells it. A block that cannot be read
 * is tried again with the next head, and those after it wait; after `MAX_TRIES`, or when more than `MAX_WAITING` wait, it is
 * passed over. Of one that has left the chain meanwhile nothing is told.
 *
 * @param onError - told why a block was passed over
 * @returns a function that ends it
 */
export function followBlocks<Found>(
  chain: Pick<Chain, 'onHead'>,
  read: (block: Block) => Promise<Found>,
  tell: (found: Found) => void,
  onError: (error: unknown) => void,
): () => void {
  const waiting: Waiting[] = [];
  let isRunning = false;
  let isAskedAgain = false;
  let isEnded = false;

  function passOver({ block, error }: Waiting): void {
    waiting.shift();
    const reason = `block ${block.header.number} is passed over: ${MAX_WAITING} are waiting`;
    onError(error ?? new PlumblineError('INTERNAL', reason, { reason }));
  }

  /** @returns whether to go on with what is first now */
  async function advance(first: Waiting): Promise<boolean> {
    let found: Found;
    try {
      found = await read(first.block);
    } catch (error) {
      if (waiting[0] !== first) return true;
      first.error = error;
      first.tries++;
      if (first.tries < MAX_TRIES) return false;
      passOver(first);
      return true;
    }
    // Another is first when the chain went back meanwhile.
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
    if (waiting.length > MAX_WAITING) passOver(waiting[0]!);
    isAskedAgain = true;
    if (!isRunning) void run();
  });
  return () => {
    isEnded = true;
    stop();
  };
}
