import { DEV_ACCOUNTS } from '../src/chain/devnet/state/dev-accounts.js';
import { devAlloc, type GenesisAlloc } from '../src/chain/devnet/state/genesis.js';
import type { BlockContext } from '../src/evm/block-context.js';
import { TRANSACTION_GAS_CAP } from '../src/evm/common.js';
import { besuSearch, type GasEstimate } from '../src/evm/gas.js';
import { openInline } from '../src/hosts/opening/open-inline.js';
import type { NodeTransport } from '../src/hosts/provider/transport.js';
import { devnet } from '../src/networks/devnet.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';
import type { ExplainedEstimate } from '../src/rpc/schema/answers.js';
import { contracts } from '../test/support/contracts.js';
import { swapScene } from '../test/support/swap-scene.js';
import { alternateAsync, type BenchArea, type Figure, median, medianRatio } from './area.js';
import { bareRuns, type Subject, transactionRuns } from './estimate-runs.js';

type Call = Subject['call'];

/** A node with the contracts in its genesis. */
class Bench {
  constructor(
    private readonly node: NodeTransport,
    private readonly alloc: GenesisAlloc,
  ) {}

  async ask<T>(layer: 'l2' | 'inspect', method: string, ...params: unknown[]): Promise<T> {
    const { body } = await this.node.dispatch(layer, { jsonrpc: '2.0', id: 1, method, params });
    if (body === undefined || !('result' in body)) throw new Error(`${method}: ${JSON.stringify(body)}`);
    return body.result as T;
  }

  /** The block an estimate is made for: nothing here but its number and its time is asked for. */
  private async nextBlock(): Promise<BlockContext> {
    const head = await this.ask<{ number: Hex; timestamp: Hex }>('l2', 'eth_getBlockByNumber', 'latest', false);
    return {
      number: Number(head.number) + 1,
      timestamp: Number(head.timestamp) + devnet().slotSeconds,
      gasLimit: devnet().blockGasLimit,
      baseFeePerGas: 7n,
      coinbase: hexToBytes(`0x${'c0'.repeat(20)}`),
      prevRandao: new Uint8Array(32),
      blockHash: async () => new Uint8Array(32),
    };
  }

  async measure(name: string, call: Call): Promise<Figure[]> {
    const subject: Subject = { network: devnet(), alloc: this.alloc, context: await this.nextBlock(), call };
    const ceiling = TRANSACTION_GAS_CAP;
    const engines = {
      simple: await transactionRuns('simple', subject),
      merkle: await transactionRuns('merkle', subject),
    };
    const search = (kind: keyof typeof engines): Promise<GasEstimate> =>
      besuSearch(engines[kind], { ceiling, plain: false });
    const expected = await search('simple');
    const limits = expected.probes.map(({ gasLimit }) => gasLimit);
    const bare = await bareRuns(subject);
    const estimate = () => this.ask<{ gasLimit: Hex }>('l2', 'linea_estimateGas', call);
    const { evidence, gasLimit } = await this.ask<ExplainedEstimate>('inspect', 'explainEstimate', call);

    requireEqual('gas limit', BigInt(gasLimit), expected.gasLimit);
    requireEqual('gas limit over Merkle state', (await search('merkle')).gasLimit, expected.gasLimit);
    requireEqual('runs', BigInt(evidence.gas.runs), BigInt(expected.runs));
    requireEqual('gas used', BigInt(evidence.gas.gasUsedBeforeRefund), await bare(limits.slice(0, 1)));

    const executed = executedLimits(expected, evidence.gas.executed);
    const times = await alternateAsync({
      estimate,
      bare: () => bare(limits),
      bareExecuted: () => bare(executed),
      simple: () => search('simple'),
      merkle: () => search('merkle'),
    });
    const whole = times.estimate!;
    const ms = (samples: readonly number[]) => `${median(samples).toFixed(2)} ms`;
    const against = (engine: 'simple' | 'merkle', manager: string, atLeast: number): Figure => ({
      name: `${name}: search over runTx with ${manager}`,
      value: medianRatio(times[engine]!, whole),
      unit: 'x',
      bar: { atLeast },
      note: ms(times[engine]!),
    });
    return [
      {
        name: `${name}: gas limits the search tries`,
        value: limits.length,
        unit: 'runs',
        note: `${executed.length} executed`,
      },
      {
        name: `${name}: linea_estimateGas over those runs, bare`,
        value: medianRatio(whole, times.bare!),
        unit: 'x',
        bar: { atMost: 1.3 },
        note: `${ms(whole)} and ${ms(times.bare!)}`,
      },
      {
        name: `${name}: linea_estimateGas over what it executes, bare`,
        value: medianRatio(whole, times.bareExecuted!),
        unit: 'x',
        note: ms(times.bareExecuted!),
      },
      against('simple', 'SimpleStateManager', 1.4),
      against('merkle', 'MerkleStateManager', 4),
    ];
  }
}

/** The limits that were not proved: the first, those that failed, and of the others the foremost. */
function executedLimits({ probes }: GasEstimate, count: number): bigint[] {
  const [first, ...later] = probes;
  const failed = later.filter(({ succeeded }) => !succeeded);
  const rest = later.filter(({ succeeded }) => succeeded);
  return [first!, ...failed, ...rest].slice(0, count).map(({ gasLimit }) => gasLimit);
}

function requireEqual(what: string, found: bigint, expected: bigint): void {
  if (found !== expected) throw new Error(`${what}: ${found}, expected ${expected}`);
}

export const estimating: BenchArea = {
  name: 'estimate',
  standsOn: ['sizing'],
  question: 'What does a whole linea_estimateGas cost beside its runs, and beside the search over @ethereumjs/vm?',
  async run() {
    const trader = DEV_ACCOUNTS[0]!.address;
    const scene = swapScene(await contracts(), trader);
    const node = await openInline({ chain: { kind: 'devnet', alloc: scene.alloc } });
    try {
      const bench = new Bench(node, { ...devAlloc(), ...scene.alloc });
      return [
        ...(await bench.measure('ERC-20 transfer', scene.transfer)),
        ...(await bench.measure('two-hop swap', scene.swap)),
      ];
    } finally {
      await node.close();
    }
  },
};
