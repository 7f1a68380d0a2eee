import type { Common } from '@ethereumjs/common';
import { type EVM, type EVMOpts, getOpcodesForHF, type PrecompileFunc, paramsEVM } from '@ethereumjs/evm';
import { keccakBlocks, type RunCounts } from '../../../src/evm/run-budget.js';
import { PRECOMPILE_COUNTERS } from './counters-precompiles.js';
import { type GasPath, reportingOpcodes } from './gas-path.js';
import { reportingDestruction, type TransferWatch } from './transfer-watch.js';

const KECCAK256 = 0x20;

/**
 * Observes runs of an interpreter: steps, module counts, gas path, transfers. Events for each instruction would make
 * execution several times slower, so this hooks into a few places only.
 */
export class Instruments {
  /** Of the current run. */
  counts: RunCounts | undefined;

  /** Of the current run. */
  path: GasPath | undefined;
  /** Of all runs while it is set. */
  transfers: TransferWatch | undefined;

  opcodes(common: Common): NonNullable<EVMOpts['customOpcodes']> {
    return [
      this.countingKeccak(common),
      ...reportingOpcodes(common, () => this.path),
      reportingDestruction(common, () => this.transfers),
    ];
  }

  /** KECCAK256, extended to count. */
  private countingKeccak(common: Common): NonNullable<EVMOpts['customOpcodes']>[number] {
    // A new interpreter does the same; it sets the gas prices.
    common.updateParams(paramsEVM);
    const { opcodes, handlers, dynamicGasHandlers } = getOpcodesForHF(common);
    const { name, fee } = opcodes.get(KECCAK256)!;
    const [logic, gas] = [handlers.get(KECCAK256)!, dynamicGasHandlers.get(KECCAK256)!];
    return {
      opcode: KECCAK256,
      opcodeName: name,
      baseFee: fee,
      gasFunction: gas as never,
      logicFunction: (state, rules) => {
        this.counts?.add('BLOCK_KECCAK', keccakBlocks(Number(state.stack.peek(2)[1]!)));
        return logic(state, rules);
      },
    };
  }

  /**
   * Observes calls, creations and precompiles.
   *
   * @param origins - original address of each precompile, by its function
   */
  install(evm: EVM, origins: ReadonlyMap<PrecompileFunc, number>): void {
    evm.events.on('beforeMessage', (message, resume) => {
      this.path?.enter(message);
      this.transfers?.enter(message);
      // A creation hashes its address; CREATE2 also hashes the init code.
      if (message.to === undefined && this.counts !== undefined) {
        const initCode = message.salt === undefined ? 0 : message.data.length;
        this.counts.add('BLOCK_KECCAK', 1 + keccakBlocks(initCode));
      }
      resume?.();
    });
    evm.events.on('afterMessage', (result, resume) => {
      const { createdAddress, execResult } = result;
      this.path?.leave(result);
      this.transfers?.leave(result);
      if (createdAddress !== undefined && execResult.exceptionError === undefined) {
        this.counts?.add('BLOCK_KECCAK', keccakBlocks(execResult.returnValue.length));
      }
      resume?.();
    });
    for (const [address, run] of evm.precompiles as Map<string, PrecompileFunc | undefined>) {
      const origin = (run && origins.get(run)) ?? -1;
      const counter = PRECOMPILE_COUNTERS.get(origin);
      if (run === undefined || counter === undefined) continue;
      evm.precompiles.set(address, async (input) => {
        const result = await run(input);
        if (this.counts !== undefined) counter(this.counts, input.data, result);
        return result;
      });
    }
  }
}
