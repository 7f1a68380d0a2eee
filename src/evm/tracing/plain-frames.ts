import type { Log } from '../../ethereum/receipt.js';
import { knownHex, quantityText } from '../../primitives/held-text.js';
import type { Hex } from '../../primitives/hex.js';
import type { CallFrame, FrameLog } from './call-frame.js';

export type Draft<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * A constructor of plain objects. V8 notes for each object literal how long its objects live, and may put those of a large tree
 * among the old ones at once, where they stay until the whole heap is collected. It does not for constructors.
 */
function plain<Given extends unknown[], Made>(fill: (this: Draft<Made>, ...given: Given) => void) {
  fill.prototype = Object.prototype;
  return fill as unknown as new (
    ...given: Given
  ) => Made;
}

/** A frame; gas used and bytes come later. */
export const Frame = plain<[type: string, from: Hex, to: Hex, gas: Hex, value: Hex | undefined], CallFrame>(
  function (type, from, to, gas, value) {
    this.type = type;
    this.from = from;
    this.to = to;
    this.gas = gas;
    this.gasUsed = '0x0';
    this.input = '0x';
    if (value !== undefined) this.value = value;
  },
);

/** A log without its data. */
export const ShownLog = plain<[log: Log, index: number, position: number], FrameLog>(function (log, index, position) {
  this.address = knownHex(log.address);
  this.topics = log.topics.map((topic) => knownHex(topic));
  this.data = '0x';
  this.index = quantityText(index);
  this.position = quantityText(position);
});
