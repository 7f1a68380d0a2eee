import { formatMs, formatUnits, groups, pretty, shortHex } from '../lib/format.js';
import { running } from '../state/session.js';
import { useAction } from '../ui/action.js';
import { Facts } from '../ui/facts.js';
import { Failure } from '../ui/failure.js';
import { Known } from '../ui/known.js';
import { Json, Panel } from '../ui/panel.js';
import { feeParts } from './breakdown.js';
import { FeeChart } from './fee-chart.js';
import { GasChart } from './gas-chart.js';
import { type Shown, send, sent } from './state.js';

/** The estimate: what is paid at most, what it is paid for, and how each figure came about. */
export function EstimateResult({ of }: { readonly of: Shown }) {
  const { result, known, ms } = of.answer;
  const { evidence } = result;
  const { gas, dictionary, limits } = evidence;
  return (
    <Panel title="Estimate" aside={<Known of={known} />} class="result">
      <dl class="headline">
        <div>
          <dt>Costs at most</dt>
          <dd>
            <span class="headline-value">{formatUnits(BigInt(evidence.totalFee), 18)}</span> ETH
            <span class="headline-note">= {formatUnits(BigInt(evidence.totalFee), 9)} gwei</span>
          </dd>
        </div>
      </dl>
      <FeeChart parts={feeParts(result)} />
      <h3>What a wallet fills in</h3>
      <Facts
        of={[
          { name: 'Gas limit', value: groups(BigInt(result.gasLimit)) },
          { name: 'Base fee', value: `${BigInt(result.baseFeePerGas)} wei per gas` },
          { name: 'Priority fee', value: `${formatUnits(BigInt(result.priorityFeePerGas), 9)} gwei per gas` },
          { name: 'Max fee', value: `${formatUnits(BigInt(evidence.maxFeePerGas), 9)} gwei per gas` },
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
  );
}

function SendIt({ of }: { readonly of: Shown }) {
  const action = useAction();
  const done = sent.value;
  return (
    <div class="send">
      <h3>Try it</h3>
      <p class="hint">
        Sends the transaction with exactly this limit and fee.{' '}
        {of.overridden && 'The chain itself has no overrides, so it may fail.'}
      </p>
      <div class="actions">
        <button type="button" disabled={action.busy.value} onClick={() => action.run(() => send(of))}>
          Send with this estimate
        </button>
      </div>
      <Failure error={action.error.value} />
      {done !== undefined && (
        <>
          <p class={done.result.succeeded ? 'verdict verdict-good' : 'verdict verdict-bad'} role="status">
            {done.result.succeeded ? 'The transaction succeeded.' : 'The transaction failed.'}
          </p>
          <Facts
            of={[
              { name: 'Block', value: groups(done.result.block), known: done.known },
              { name: 'Gas used', value: groups(done.result.gasUsed) },
              { name: 'Hash', value: <span title={done.result.hash}>{shortHex(done.result.hash, 12)}</span> },
            ]}
          />
        </>
      )}
    </div>
  );
}
