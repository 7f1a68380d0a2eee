import { PlumblineError } from '../../../errors.js';
import { equalBytes } from '../../../primitives/bytes.js';
import type { BlockRecord } from '../records/block-record.js';
import type { BlockState } from '../state/devnet-state.js';

/** Applies a stored block, which must give the roots of its record. @throws PlumblineError `STORE_CORRUPT` */
export async function applyStored(state: BlockState, { block, changes, zkRoot }: BlockRecord): Promise<void> {
  const { number, stateRoot } = block.header;
  const roots = await state.apply(number, changes);
  if (!equalBytes(roots.zkRoot, zkRoot) || !equalBytes(roots.stateRoot, stateRoot)) throw brokenLink(number);
}

/** @param number - of the block that does not follow */
export function brokenLink(number: number): PlumblineError<'STORE_CORRUPT'> {
  const reason = `block ${number} does not follow from the one before it`;
  const details = { table: 'blocks', reason };
  return new PlumblineError('STORE_CORRUPT', `the stored devnet is damaged: ${reason}`, details);
}
