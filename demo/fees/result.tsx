import { formatMs, groups, pretty } from '../lib/format.js';
import { isStale } from '../state/link.js';
import { running } from '../state/session.js';
import { useAction } from '../ui/action.js';
import { Amount } from '../ui/amount.js';
import { Copyable } from '../ui/copyable.js';
import { Facts } from '../ui/facts.js';
import { Failure } from '../ui/failure.js';
import { Known } from '../ui/known.js';
import { Json, Panel } from '../ui/panel.js';
import { AnswerTo, CopyLink } from '../ui/question.js';
import { Verdict } from '../ui/verdict.js';
import { feeParts } from './breakdown.js';
import { FeeChart } from './fee-chart.js';
import { GasChart } from './gas-chart.js';
import { fields, type Shown, send, sent } from './state.js';

/** The estimate: what is paid at most, what it is paid for, and how each figure came about. */
export function EstimateResult({ of }: { readonly of: Shown }) {
  const { result, known, ms } = of.answer;
  const { evidence } = result;
  const { gas, dictionary, limits } = evidence;
  const aside = (
    <>
      <Known of={known} />
      <CopyLink to={of.question} name="this estimate" />
    </>
  );
  return (
    <AnswerTo to={of.question} now={fields.value}>
      <Panel title="Estimate" aside={aside} class="result">
        <dl class="headline">
          <div>
            <dt>Costs at most</dt>
            <dd>
              <span class="headline-value">
                <Amount value={BigInt(evidence.totalFee)} decimals={18} unit="ETH" />
              </span>
              <span class="headline-note">
                <Amount value={BigInt(evidence.totalFee)} decimals={9} unit="gwei" />
              </span>
            </dd>
          </div>
        </dl>
        <FeeChart parts={feeParts(result)} />
        <h3>What a wallet fills in</h3>
        <Facts
          of={[
            { name: 'Gas limit', value: groups(BigInt(result.gasLimit)) },
            { name: 'Base fee', value: `${BigInt(result.baseFeePerGas)} wei per gas` },
            {
              name: 'Priority fee',
              value: <Amount value={BigInt(result.priorityFeePerGas)} decimals={9} unit="gwei per gas" />,
            },
            {
              name: 'Max fee',
              value: <Amount value={BigInt(evidence.maxFeePerGas)} decimals={9} unit="gwei per gas" />,
            },
          ]}
        />
        <h3>How it came about</h3>
        <Facts
          of={[
            {
              name: 'Executed after',
              value: `block ${evidence.block}${of.overridden ? ', with state overrides' : ''}`,
              known: { class: 'computed', level: evidence.trust },
            },
            {
              name: 'Gas used',
              value: `${groups(BigInt(gas.gasUsed))}; limit by the search of ${gas.search}, ${gas.executed} ${gas.executed === 1 ? 'execution' : 'executions'}`,
            },
            {
              name: 'Size',
              value: `${evidence.transactionBytes} bytes, ${evidence.compressedTxSize} in a blob once compressed`,
            },
            {
              name: 'Dictionary',
              value: dictionary.networkOwn
                ? `${dictionary.name}, the network’s own`
                : `${dictionary.name}, plumbline’s own${dictionary.reason === undefined ? '' : `: ${dictionary.reason}`}`,
              prose: true,
            },
            {
              name: 'Prices',
              value:
                evidence.pricesFromBlock === null
                  ? 'defaults of the profile'
                  : `header of block ${evidence.pricesFromBlock}`,
              prose: true,
            },
            {
              name: 'Prover limits',
              value: `${limits.checked.length} counted and within bounds, ${limits.unchecked.length} not to be counted here`,
              prose: true,
            },
            { name: 'Took', value: formatMs(ms) },
          ]}
        />
        <GasChart estimate={result} />
        <Json summary="The answer with its evidence" text={pretty(result)} />
        {running.value?.settings.kind === 'devnet' && <SendIt of={of} />}
      </Panel>
    </AnswerTo>
  );
}

function SendIt({ of }: { readonly of: Shown }) {
  const action = useAction();
  const done = sent.value;
  const most = BigInt(of.answer.result.evidence.totalFee);
  return (
    <div class="send">
      <h3>Try it</h3>
      <p class="hint">
        Sends the transaction with exactly this limit and fee.{' '}
        {of.overridden && 'The chain itself has no overrides, so it may fail.'}
      </p>
      <div class="actions">
        <button
          type="button"
          disabled={isStale(of.question, fields.value)}
          aria-disabled={action.busy.value}
          onClick={() => action.run(() => send(of))}
        >
          Send with this estimate
        </button>
      </div>
      <Failure error={action.error.value} />
      {done !== undefined && (
        <>
          <div role="status">
            <Verdict tone={done.result.succeeded ? 'good' : 'bad'} of={done}>
              {done.result.succeeded ? 'The transaction succeeded.' : 'The transaction failed.'} It paid{' '}
              <Amount value={done.result.paid} decimals={18} unit="ETH" /> for gas.
            </Verdict>
          </div>
          <Facts
            of={[
              { name: 'Paid', value: <Amount value={done.result.paid} decimals={9} unit="gwei" /> },
              { name: 'Estimated at most', value: <Amount value={most} decimals={9} unit="gwei" /> },
              { name: 'Not needed', value: <Amount value={most - done.result.paid} decimals={9} unit="gwei" /> },
              {
                name: 'Gas used',
                value: `${groups(done.result.gasUsed)} of ${groups(BigInt(of.answer.result.gasLimit))}`,
              },
              { name: 'Block', value: groups(done.result.block), known: done.known },
              { name: 'Hash', value: <Copyable hex={done.result.hash} name="transaction hash" /> },
            ]}
          />
        </>
      )}
    </div>
  );
}
