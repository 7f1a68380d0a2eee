import type { Common } from '@ethereumjs/common';
import { type EVMOpts, type EVMResult, type Log as EvmLog, getOpcodesForHF, paramsEVM } from '@ethereumjs/evm';
import type { Address } from '@ethereumjs/util';
import type { Log } from '../../../src/ethereum/receipt.js';
import { bigIntToBytes, padStart } from '../../../src/primitives/bytes.js';
import { hexToBytes } from '../../../src/primitives/hex.js';

type CustomOpcode = Extract<NonNullable<EVMOpts['customOpcodes']>[number], { logicFunction: unknown }>;
type GasFunction = NonNullable<CustomOpcode['gasFunction']>;

/**
 * Address of the logs that stand for ether transfers, 20 bytes (ERC-7528). `isTransferLog` recognizes this object by
 * identity.
 */
const ETHER_ADDRESS = hexToBytes('0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', 20);
/** Transfer(address,address,uint256) */
const TRANSFER_TOPIC = hexToBytes('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', 32);
const SELFDESTRUCT = 0xff;

interface Message {
  readonly caller: Address;
  readonly to?: Address | undefined;
  readonly codeAddress: Address;
  readonly value: bigint;
  readonly delegatecall: boolean;
}

interface Frame {
  readonly message: Message;
  /** Transfer made by its contract's SELFDESTRUCT, which ends the frame. */
  destructionLog: EvmLog | undefined;
}

/**
 * Adds a log for each transfer of ether to the logs of a run, where it happened: in calls, creations and SELFDESTRUCT.
 * Reverted transfers leave no log.
 *
 * @source ERC-7528; ethereum/execution-apis@033ca6e6 tests/eth_simulateV1, `traceTransfers`
 */
export class TransferWatch {
  private readonly frames: Frame[] = [];

  enter(message: Message): void {
    this.frames.push({ message, destructionLog: undefined });
  }

  leave({ execResult, createdAddress }: EVMResult): void {
    const { message, destructionLog } = this.frames.pop()!;
    if (execResult.exceptionError !== undefined) return;
    const { caller, to = createdAddress, value } = message;
    const logs = [...(execResult.logs ?? [])];
    if (value > 0n && to !== undefined && !isBorrowedCode(message)) logs.unshift(transferLog(caller, to, value));
    if (destructionLog !== undefined) logs.push(destructionLog);
    execResult.logs = logs;
  }

  /** @param value - balance of the contract, wei */
  destroy(contract: Address, beneficiary: bigint, value: bigint): void {
    const frame = this.frames[this.frames.length - 1]!;
    if (value > 0n) frame.destructionLog = transferLog(contract, { bytes: bigIntToBytes(beneficiary, 20) }, value);
  }
}

/** Whether a log was added by `TransferWatch`. */
export function isTransferLog(log: Log): boolean {
  return log.address === ETHER_ADDRESS;
}

/** DELEGATECALL and CALLCODE transfer nothing: the caller runs another account's code as its own. */
function isBorrowedCode({ to, codeAddress, delegatecall }: Message): boolean {
  return delegatecall || (to !== undefined && !codeAddress.equals(to));
}

function transferLog(from: Pick<Address, 'bytes'>, to: Pick<Address, 'bytes'>, value: bigint): EvmLog {
  const topics = [TRANSFER_TOPIC, padStart(from.bytes, 32), padStart(to.bytes, 32)];
  return [ETHER_ADDRESS, topics, bigIntToBytes(value, 32)];
}

/**
 * SELFDESTRUCT, extended to report to the watch of the current run.
 *
 * @param current - returns that watch, if there is one
 */
export function reportingDestruction(common: Common, current: () => TransferWatch | undefined): CustomOpcode {
  // A new interpreter does the same; it sets the gas prices.
  common.updateParams(paramsEVM);
  const { opcodes, handlers, dynamicGasHandlers } = getOpcodesForHF(common);
  const { name, fee } = opcodes.get(SELFDESTRUCT)!;
  const logic = handlers.get(SELFDESTRUCT)!;
  return {
    opcode: SELFDESTRUCT,
    opcodeName: name,
    baseFee: fee,
    gasFunction: dynamicGasHandlers.get(SELFDESTRUCT) as GasFunction,
    logicFunction: async (state, rules) => {
      const watch = current();
      if (watch !== undefined) {
        const { address } = state.env;
        const account = await state.stateManager.getAccount(address);
        watch.destroy(address, BigInt.asUintN(160, state.stack.peek(1)[0]!), account?.balance ?? 0n);
      }
      return logic(state, rules);
    },
  };
}
