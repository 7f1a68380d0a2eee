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
 * What an interpreter is watched with during a run: its steps, and what the prover counts. Events of single instructions
 * would make each of them several times slower; this hooks into the few places that matter.
 */
export class Instruments {
  /** Of the request the present run belongs to. */
  steps: StepBudget | undefined;
  /** Of the present run. */
  counts: RunCounts | undefined;

  /** Of the present run. */
  path: GasPath | undefined;
  /** Of all runs while it is set. */
  transfers: TransferWatch | undefined;

  /** JUMPDEST does nothing but be counted, and wait where the thread is lent to others. */
  opcodes(common: Common): NonNullable<EVMOpts['customOpcodes']> {
    return [
      { opcode: JUMPDEST, opcodeName: 'JUMPDEST', baseFee: JUMPDEST_GAS, logicFunction: () => this.steps?.step() },
      ...reportingOpcodes(common, () => this.path),
      reportingDestruction(common, () => this.transfers),
    ];
  }

  /** Has KECCAK256 reported, through the hash function that an interpreter with these rules takes. */
  hook(common: Common): void {
    common.customCrypto.keccak256 = (data) => {
      this.counts?.add('BLOCK_KECCAK', keccakBlocks(data.length));
      return keccak_256(data);
    };
  }

  /**
   * Has calls, creations and precompiles reported.
   *
   * @param origins - what the precompiles are by their functions: the addresses they have where none was moved
   */
  install(evm: EVM, origins: ReadonlyMap<PrecompileFunc, number>): void {
    evm.events.on('beforeMessage', (message, resume) => {
      this.path?.enter(message);
      this.transfers?.enter(message);
      const wait = this.steps?.step();
      // A creation hashes its address, and by CREATE2 the init code before it.
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
