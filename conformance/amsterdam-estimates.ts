import { isPlumblineError, messageOf } from '../src/errors.js';
import { withBlockOverrides } from '../src/evm/block-context.js';
import { estimateGasAt, type GasEstimate } from '../src/evm/gas.js';
import { bytesToHex, type Hex } from '../src/primitives/hex.js';
import { toQuantity } from '../src/primitives/quantity.js';
import { parseBlockOverrides, parseStateOverrides } from '../src/rpc/parse-overrides.js';
import { type Alloc, AllocState } from './alloc-state.js';
import { type Area, differs, type Report } from './area.js';
import { type CallJson, readCall } from './fixture-calls.js';
import { contextOfFixture } from './fixture-context.js';
import { networkOf, type StateTest, withWholeKeys } from './state-tests.js';

/** A request that geth answered at a genesis block. */
interface Answered {
  request: { method: string; params: [CallJson, string, object?, object?] };
  result?: Hex;
  error?: { message: string; data?: Hex };
}

interface Genesis {
  config: NonNullable<StateTest['config']>;
  header: Record<
    'number' | 'timestamp' | 'gasLimit' | 'miner' | 'baseFeePerGas' | 'mixHash' | 'excessBlobGas' | 'slotNumber',
    Hex
  >;
  pre: Alloc;
  rpcGasCap: number;
}

const FILES = ['amsterdam/rpc.json', 'amsterdam/rpc-state.json'];

/** Reasons of geth, and our codes. A deposit that lacks gas has no code of its own here. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^gas required exceeds allowance|code storage out of gas$/, 'GAS_ALLOWANCE_EXCEEDED'],
  [/^execution reverted/, 'EXECUTION_REVERTED'],
  [/insufficient funds/, 'INSUFFICIENT_FUNDS'],
  [/^(invalid opcode|max code size exceeded)/, 'EXECUTION_FAILED'],
  [/^failed with \d+ gas: (max fee per gas|max initcode size|insufficient gas for floor)/, 'TRANSACTION_REJECTED'],
];

/** `eth_estimateGas` of geth under Amsterdam: the search `geth` gives the same limits, and fails where geth does. */
export const amsterdamEstimatesArea: Area = {
  name: 'amsterdam/estimates',
  usesKernel: true,
  isOutside: true,
  showsEveryFailure: true,
  files: (material) => (FILES.every(material.has) ? FILES : []),
  async run(material, report) {
    const { state } = material.json<{ state: Genesis }>(FILES[1]!);
    for (const [name, answered] of Object.entries(material.json<Record<string, Answered>>(FILES[0]!))) {
      if (answered.request.method === 'eth_estimateGas') await check(name, answered, state, report);
    }
  },
};

async function check(name: string, { request, result, error }: Answered, genesis: Genesis, report: Report) {
  const [call, , stateOverrides, blockOverrides] = request.params;
  const { header, pre, rpcGasCap } = genesis;
  const network = { ...networkOf(genesis, 'Amsterdam'), rpcGasCap: BigInt(rpcGasCap) };
  const context = contextOfFixture(
    network,
    { ...header, coinbase: header.miner, prevRandao: header.mixHash, difficulty: undefined },
    async () => {
      throw new Error('no block is before the first');
    },
  );
  const block = withBlockOverrides(context, parseBlockOverrides(blockOverrides));
  const overrides = parseStateOverrides(stateOverrides);
  await report.check(name, async () => {
    const state = new AllocState(withWholeKeys(pre));
    try {
      const found = await estimateGasAt(state, block, readCall(call), { network, overrides, search: 'geth' });
      const exact = await estimateGasAt(state, block, readCall(call), { network, overrides, search: 'exact' });
      return differs(result ?? error?.message, toQuantity(found.gasLimit)) ?? notExact(exact, found.gasLimit);
    } catch (failure) {
      const expected = REASONS.find(([reason]) => reason.test(error?.message ?? ''))?.[1];
      if (expected === undefined || !isPlumblineError(failure) || failure.code !== expected)
        return `expected ${result ?? error?.message}, got ${messageOf(failure)}`;
      const data = isPlumblineError(failure, 'EXECUTION_REVERTED') ? bytesToHex(failure.details.data) : undefined;
      return differs(error?.data, data);
    }
  });
}

/** The smallest limit is not above another one, and one less was tried; all that one run used is smallest. */
function notExact({ gasLimit, runs, probes }: GasEstimate, other: bigint): string | undefined {
  if (gasLimit > other) return `exact search: ${gasLimit}, and ${other} is enough`;
  const isTried = probes.some((probe) => probe.gasLimit === gasLimit - 1n && !probe.succeeded);
  return isTried || runs === 1 ? undefined : `exact search: ${gasLimit}, and one less was not tried`;
}
