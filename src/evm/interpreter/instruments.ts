import type { Common } from '@ethereumjs/common';
import type { EVM, EVMOpts, PrecompileFunc } from '@ethereumjs/evm';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { keccakBlocks, type RunCounts } from './counters.js';
import { PRECOMPILE_COUNTERS } from './counters-precompiles.js';
import { type GasPath, reportingOpcodes } from './gas-path.js';
import { loadCurves, needsCurves } from './lazy-curves.js';
import type { StepBudget } from './step-budget.js';
import { reportingDestruction, type TransferWatch } from './transfer-watch.js';

const JUMPDEST = 0x5b;
const JUMPDEST_GAS = 1;

/**
 * Observes runs of an interpreter: steps, module counts, gas path, transfers. Events for each instruction would make
 * execution several times slower, so this hooks into a few places only.
 */
export class Instruments {
  /** Of the request that the current run belongs to. */
  steps: StepBudget | undefined;
  /** Of the current run. */
  counts: RunCounts | undefined;

  /** Of the current run. */
  path: GasPath | undefined;
  /** Of all runs while it is set. */
  transfers: TransferWatch | undefined;

  /** JUMPDEST only counts a step, and waits when the thread is yielded. */
  opcodes(common: Common): NonNullable<EVMOpts['customOpcodes']> {
    return [
      { opcode: JUMPDEST, opcodeName: 'JUMPDEST', baseFee: JUMPDEST_GAS, logicFunction: () => this.steps?.step() },
      ...reportingOpcodes(common, () => this.path),
      reportingDestruction(common, () => this.transfers),
    ];
  }

  /** Counts KECCAK256 through the hash function of an interpreter with these rules. */
  hook(common: Common): void {
    common.customCrypto.keccak256 = (data) => {
      this.counts?.add('BLOCK_KECCAK', keccakBlocks(data.length));
      return keccak_256(data);
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
      const wait = this.steps?.step();
      // A creation hashes its address; CREATE2 also hashes the init code.
      if (message.to === undefined && this.counts !== undefined) {
        const initCode = message.salt === undefined ? 0 : message.data.length;
        this.counts.add('BLOCK_KECCAK', 1 + keccakBlocks(initCode));
      }
      if (wait === undefined) resume?.();
      else wait.then(resume);
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
        if (needsCurves(origin)) await loadCurves();
        const result = await run(input);
        if (this.counts !== undefined) counter(this.counts, input.data, result);
        return result;
      });
    }
  }
}
