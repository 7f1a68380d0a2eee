import { Common, type Hardfork as EthereumjsHardfork, Mainnet } from '@ethereumjs/common';
import { getActivePrecompiles, NobleBLS, NobleBN254, type PrecompileInput, paramsEVM } from '@ethereumjs/evm';
import type { PrecompileResult } from '../../src/evm/precompiles.js';

const curves = { _bls: new NobleBLS(), _bn254: new NobleBN254() };

/** Outcome of a precompile of @ethereumjs/evm. Point evaluation is not there: it needs a library of its own. */
export async function oracleResult(
  id: number,
  data: Uint8Array,
  gasLimit: bigint,
  hardfork: EthereumjsHardfork | `${EthereumjsHardfork}`,
): Promise<PrecompileResult> {
  const common = new Common({ chain: Mainnet, hardfork, params: paramsEVM });
  const run = getActivePrecompiles(common).get(id.toString(16).padStart(40, '0'));
  if (run === undefined) throw new Error(`no precompile 0x${id.toString(16)} in ${hardfork}`);
  const input = { data, gasLimit, common, _EVM: curves } as unknown as PrecompileInput;
  const { exceptionError, executionGasUsed, returnValue } = await run(input);
  const succeeded = exceptionError === undefined;
  return { succeeded, gasUsed: executionGasUsed, output: succeeded ? returnValue : new Uint8Array(0) };
}
