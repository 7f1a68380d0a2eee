import { Estimator } from '../src/estimate/estimator.js';
import { loadCalldataSizer } from '../src/kernel/calldata-sizer.js';
import { devnet } from '../src/networks/devnet.js';
import { createDispatcher } from '../src/rpc/handle.js';
import type { RpcContext } from '../src/rpc/methods/context.js';
import { methodTable } from '../src/rpc/methods/method-table.js';
import { allocChain } from './alloc-chain.js';
import { type Alloc, AllocState } from './alloc-state.js';
import { type Area, differs } from './area.js';

interface ErrorCase {
  name: string;
  state?: Alloc;
  params: unknown[];
  error?: { code: number; messagePattern: string; data?: string };
  gasLimit?: string;
  minimumGas?: string;
  clientMayAccept?: boolean;
}

interface ErrorsFile {
  limitsUsed: { maxTxGasLimit: string; chainId: string; baseFeePerGas: string };
  cases: ErrorCase[];
}

const FILE = 'fees/linea-estimate-gas-errors.json';

/** What `linea_estimateGas` accepts and refuses, asked over JSON-RPC. */
export const estimateErrorsArea: Area = {
  name: 'fees/linea-estimate-gas-errors',
  usesKernel: true,
  files: (material) => (material.has(FILE) ? [FILE] : []),
  async run(material, report) {
    const { limitsUsed, cases } = material.json<ErrorsFile>(FILE);
    const sizer = await loadCalldataSizer(new Uint8Array(0), { build: material.build });
    const dictionary = { name: 'none', sha256: '0x', bytes: new Uint8Array(0), networkOwn: false } as const;
    for (const row of cases) {
      await report.check(row.name, async () => {
        const chain = chainFor(limitsUsed, row.state ?? {});
        const context = {
          chain,
          estimator: new Estimator(chain, async () => sizer, dictionary),
        } as unknown as RpcContext;
        const request = { id: 1, method: 'linea_estimateGas', params: row.params };
        return judge(row, (await createDispatcher(methodTable(context), context)(request)).body as Answer);
      });
    }
  },
};

interface Answer {
  result?: { gasLimit: string; baseFeePerGas: string };
  error?: { code: number; message: string; data?: unknown };
}

function judge({ error, gasLimit, minimumGas, clientMayAccept }: ErrorCase, answer: Answer): string | undefined {
  if (error === undefined) {
    if (answer.result === undefined) return `refused: ${JSON.stringify(answer.error)}`;
    if (answer.result.baseFeePerGas !== '0x7') return `base fee ${answer.result.baseFeePerGas}`;
    if (minimumGas !== undefined) return Number(answer.result.gasLimit) >= Number(minimumGas) ? undefined : 'too low';
    return differs(gasLimit, answer.result.gasLimit);
  }
  if (answer.error === undefined) return clientMayAccept ? undefined : `accepted: ${JSON.stringify(answer.result)}`;
  if (clientMayAccept && answer.error.code === -32000) return undefined;
  if (!new RegExp(error.messagePattern).test(answer.error.message)) return `message ${answer.error.message}`;
  return differs([error.code, error.data], [answer.error.code, answer.error.data]);
}

function chainFor(limits: ErrorsFile['limitsUsed'], alloc: Alloc) {
  const network = {
    ...devnet({ chainId: Number(limits.chainId) }),
    forks: [{ hardfork: 'prague', block: 0 }],
    txGasLimit: BigInt(limits.maxTxGasLimit),
  } as const;
  const context = {
    number: 1,
    timestamp: 1_770_000_000,
    gasLimit: network.blockGasLimit,
    baseFeePerGas: BigInt(limits.baseFeePerGas),
    coinbase: new Uint8Array(20),
    prevRandao: new Uint8Array(32),
    blockHash: async () => new Uint8Array(32),
  };
  const prices = { fixedCostWei: 30_000_000n, variableCostWei: 1_000_000_000n, minGasPriceWei: 41_904_000n };
  return allocChain({ network, state: new AllocState(alloc), context, prices });
}
