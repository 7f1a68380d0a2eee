import { isPlumblineError } from '../../errors.js';
import { isAboutCall } from '../../estimate/estimate-request.js';
import { createdAddress } from '../../ethereum/encode-transaction.js';
import { type BlockContext, withBlockOverrides } from '../../evm/block-context.js';
import { callFailureOf, defaultGas, FREE_RUN, type SimulationRules, transactionMessageOf } from '../../evm/call.js';
import { rulesAt } from '../../evm/common.js';
import { precompileOverrides, withOverrides } from '../../evm/overrides.js';
import { RunBudget, type RunLimits } from '../../evm/run-budget.js';
import type { SpeculativeRun } from '../../evm/simulation.js';
import { StateOverlay } from '../../evm/state-overlay.js';
import type { StateReader } from '../../evm/state-reader.js';
import type { PrestateAccount } from '../../evm/tracing/prestate-tracer.js';
import { traceTransaction } from '../../evm/tracing/trace-transaction.js';
import type { CallFrame } from '../../evm/tracing/tracer.js';
import { createTracer } from '../../evm/tracing/tracers.js';
import { equalBytes, ZERO_ADDRESS } from '../../primitives/bytes.js';
import { type Authorization, type CallRequest, priceOf, type StateOverrides } from '../../primitives/call-request.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { COMPUTES } from '../method-rows.js';
import { parseCallOn } from '../parse-call.js';
import { parseBlockOverrides, parseStateOverrides } from '../parse-overrides.js';
import { optional, parseAddress, parseBoolean, requireArray, requireObject } from '../parse-params.js';
import { invalidParams } from '../rpc-errors.js';
import { defineMethod, type RpcContext } from './context.js';

/** Most transactions of one request. */
const MAX_TRANSACTIONS = 100;
/** Most bytes of traces of a run that only finds out what is read, as JSON. */
const MAX_PREFETCH_BYTES = 4 * 2 ** 20;
const SUBJECT = 'simulation params';

/**
 * `[{ transactions, overrides, blockOverrides, withCallTrace, withLogs, withGas }]`: runs transactions on the state after the newest
 * block, each on what the one before left. It is what MetaMask's transaction controller asks for its preview: with `getSimulationConfig`
 * a wallet sends it here in place of MetaMask's server. Fees in tokens (`suggestFees`) are none of ours.
 *
 * @throws PlumblineError `STATE_NOT_HELD`; errors of fetching. What refuses a transaction is the `error` of its answer
 * @source @metamask/transaction-controller 69.5.2, `SimulationRequest` and `SimulationResponse`
 */
export const infura_simulateTransactions = defineMethod<[request: object], object>(
  'infura_simulateTransactions',
  COMPUTES,
  async ({ chain, estimator, maxAnswerBytes }, [request], call) => {
    const wanted = { network: chain.network, ...parseRequest(chain.network, request) };
    const { transactions, overrides, blockOverrides } = wanted;
    const head = await chain.head(call);
    const next = withBlockOverrides(await chain.pendingContext(head, call), blockOverrides);
    const plan = {
      call: transactions[0]!.call,
      overrides,
      block: head,
      tag: 'pending' as const,
      runs: {
        calls: transactions.map((one) => one.call),
        coinbase: next.coinbase,
        run: (state: StateReader, limits: RunLimits, speculativeRun: SpeculativeRun) => {
          const budget = new RunBudget({ ...limits, maxAnswerBytes: MAX_PREFETCH_BYTES });
          return simulated({ ...wanted, block: next, state, budget, speculativeRun }, async () => undefined);
        },
        onAsk: () => {},
      },
    };
    const { block: on, state } = await chain.prepare(plan, call);
    const block = withBlockOverrides(await chain.pendingContext(on, call), blockOverrides);
    const { signal, gas, note } = call;
    const budget = new RunBudget({ signal, gas, maxAnswerBytes });
    const gasLimitOf = async (one: CallRequest, reader: StateReader) => {
      const point = { on, context: block, state: reader, baseFeePerGas: undefined };
      return (await estimator.gas({ call: one, at: point, signal, gas, note })).gasLimit;
    };
    return {
      transactions: await simulated({ ...wanted, block, state, budget }, gasLimitOf),
      sponsorship: { isSponsored: false, error: null },
    };
  },
);

/** What is run, and what is shown of it. */
interface Wanted {
  readonly transactions: readonly {
    readonly call: CallRequest;
    /** Unsigned: to which code, 20 bytes, an account of 20 bytes would delegate. */
    readonly delegations: readonly Pick<Required<Authorization>, 'address' | 'authority'>[];
  }[];
  readonly overrides: StateOverrides;
  readonly blockOverrides: ReturnType<typeof parseBlockOverrides>;
  readonly withCallTrace: boolean;
  readonly withLogs: boolean;
  readonly withGas: boolean;
}

/** Where it is run. */
interface Ground extends Wanted {
  readonly network: SimulationRules;
  readonly block: BlockContext;
  readonly state: StateReader;
  readonly budget: RunBudget;
  readonly speculativeRun?: SpeculativeRun;
}

interface SimulatedTransaction {
  readonly return: Hex;
  readonly error?: string;
  readonly callTrace?: CallFrame;
  readonly gasUsed?: Hex;
  readonly gasLimit?: Hex;
  /** Wei that the change of the sender's balance has for gas. */
  readonly gasCost?: number;
  readonly stateDiff?: Readonly<Record<'pre' | 'post', object>>;
}

async function simulated(
  { network, block, state, overrides, transactions, budget, speculativeRun, ...shown }: Ground,
  gasLimitOf: (call: CallRequest, state: StateReader) => Promise<bigint | undefined>,
): Promise<SimulatedTransaction[]> {
  const rules = rulesAt(network, block.number, block.timestamp);
  const machine = precompileOverrides(overrides);
  const answers: SimulatedTransaction[] = [];
  const size = { characters: 0 };
  let before: StateReader = withOverrides(state, overrides);
  for (const { call, delegations } of transactions) {
    const sender = call.from ?? ZERO_ADDRESS;
    const authorizationList = [
      ...(call.authorizationList ?? []),
      ...(await Promise.all(delegations.map((one) => unsigned(one, sender, BigInt(network.chainId), before)))),
    ];
    const whole = authorizationList.length === 0 ? call : { ...call, authorizationList };
    // What limit it needs does not hang on what it offers for gas.
    const { gas, gasPrice: _, maxFeePerGas: __, maxPriorityFeePerGas: ___, ...free } = whole;
    let gasLimit: bigint | undefined;
    try {
      gasLimit = await gasLimitOf(free, before);
    } catch (error) {
      if (!isAboutCall(error)) throw error;
    }
    const limit = speculativeRun?.gas ?? gas ?? gasLimit ?? defaultGas(block, rules, network);
    const most = limit * priceOf(call);
    // The controller takes the cost as a number, and refuses one that is not exact: nothing is paid then, and no cost is told.
    const pays = shown.withGas && most > 0n && most <= Number.MAX_SAFE_INTEGER && speculativeRun === undefined;
    const message = transactionMessageOf(pays ? whole : free, {
      gasLimit: limit,
      nonce: (await before.account(sender))?.nonce ?? 0n,
      price: 0n,
      free: !pays,
    });
    const after = new StateOverlay(before);
    const place = { network, block, state: after, isKept: true, machine, size };
    const tracer = createTracer(
      {
        tracer: 'muxTracer',
        tracers: [
          { tracer: 'callTracer', options: { withLog: shown.withLogs } },
          { tracer: 'prestateTracer', options: { diffMode: true, disableCode: true } },
        ],
      },
      rules,
    );
    const leniency = pays ? ({ nonce: 'any', contractSender: true } as const) : FREE_RUN.leniency;
    const run = { budget, leniency, ...(!pays && { baseFeePerGas: FREE_RUN.baseFeePerGas }) };
    const { from, nonce, to } = message;
    speculativeRun?.begin(to === undefined ? createdAddress({ from, nonce }) : undefined);
    try {
      const { outcome, result } = await traceTransaction(place, tracer, message, run);
      speculativeRun?.ended(outcome.succeeded);
      const { callTracer, prestateTracer } = result as Traced;
      answers.push({
        return: bytesToHex(outcome.returnData),
        ...(!outcome.succeeded && { error: callFailureOf(outcome).message }),
        ...(shown.withCallTrace && { callTrace: callTracer }),
        gasUsed: toQuantity(outcome.gasUsed),
        ...(gasLimit !== undefined && { gasLimit: toQuantity(gasLimit) }),
        ...(pays && { gasCost: Number(outcome.gasUsed * outcome.effectiveGasPrice) }),
        stateDiff: { pre: asDiff(prestateTracer.pre), post: asDiff(prestateTracer.post) },
      });
      before = after;
    } catch (error) {
      if (!isPlumblineError(error, 'TRANSACTION_REJECTED') && !isPlumblineError(error, 'INSUFFICIENT_FUNDS'))
        throw error;
      answers.push({ return: '0x', error: error.message });
    }
  }
  return answers;
}

type Accounts = Readonly<Record<Hex, PrestateAccount>>;

interface Traced {
  readonly callTracer: CallFrame;
  readonly prestateTracer: { readonly pre: Accounts; readonly post: Accounts };
}

/** What the answer has of the accounts: balances, nonces as quantities, slots. */
function asDiff(accounts: Accounts): object {
  return Object.fromEntries(
    Object.entries(accounts).flatMap(([address, { balance, nonce, storage }]) => {
      const members = { balance, nonce: nonce === undefined ? undefined : toQuantity(nonce), storage };
      const shown = Object.entries(members).filter(([, value]) => value !== undefined);
      return shown.length === 0 ? [] : [[address, Object.fromEntries(shown)]];
    }),
  );
}

/** The authorization that an account would sign now. */
async function unsigned(
  { address, authority }: { readonly address: Uint8Array; readonly authority: Uint8Array },
  sender: Uint8Array,
  chainId: bigint,
  state: StateReader,
): Promise<Authorization> {
  const nonce = (await state.account(authority))?.nonce ?? 0n;
  // The sender's own nonce has grown when its authorization is looked at.
  return {
    chainId,
    address,
    nonce: equalBytes(authority, sender) ? nonce + 1n : nonce,
    yParity: 0n,
    r: 0n,
    s: 0n,
    authority,
  };
}

/** @throws RpcError -32602 that names the member */
function parseRequest(network: RpcContext['chain']['network'], value: unknown): Wanted {
  const members = requireObject(value, 'request', SUBJECT);
  const list = requireArray(members.transactions, 'transactions', SUBJECT);
  if (list.length === 0) throw invalidParams('transactions', 'is empty', SUBJECT);
  if (list.length > MAX_TRANSACTIONS) throw invalidParams('transactions', `has more than ${MAX_TRANSACTIONS}`, SUBJECT);
  const flag = (name: string) => optional(members[name], (present) => parseBoolean(present, name, SUBJECT)) ?? false;
  return {
    transactions: list.map((entry, i) => parseTransaction(network, entry, `transactions[${i}]`)),
    overrides: parseStateOverrides(members.overrides, 'overrides'),
    blockOverrides: parseBlockOverrides(members.blockOverrides),
    withCallTrace: flag('withCallTrace'),
    withLogs: flag('withLogs'),
    withGas: flag('withGas'),
  };
}

function parseTransaction(network: RpcContext['chain']['network'], value: unknown, at: string) {
  const { authorizationList, ...plain } = requireObject(value, at, SUBJECT);
  const list = optional(authorizationList, (given) => requireArray(given, `${at}.authorizationList`, SUBJECT)) ?? [];
  const tuples = list.map((tuple, i) => requireObject(tuple, `${at}.authorizationList[${i}]`, SUBJECT));
  const isSigned = (tuple: Readonly<Record<string, unknown>>) => tuple.r !== undefined;
  return {
    call: parseCallOn(network, {
      ...plain,
      ...(tuples.some(isSigned) && { authorizationList: tuples.filter(isSigned) }),
    }),
    delegations: tuples.flatMap((tuple, i) => {
      const path = `${at}.authorizationList[${i}]`;
      return isSigned(tuple)
        ? []
        : [
            {
              address: parseAddress(tuple.address, `${path}.address`, SUBJECT),
              authority: parseAddress(tuple.from ?? plain.from, `${path}.from`, SUBJECT),
            },
          ];
    }),
  };
}
