import type { SeenByEndpoint } from 'plumbline-l2';
import { formatMs, groups } from '../lib/format.js';
import { running } from '../state/session.js';
import { Copyable } from '../ui/copyable.js';
import { Facts } from '../ui/facts.js';
import { namesAsked } from './ens.js';
import type { Names } from './names.js';
import type { Shown } from './state.js';

const OVERRIDDEN = { state: 'the state', block: 'the block' } as const;

/** The block below the preview, what was taken to be otherwise, and what endpoints learned. */
export function Trust({ of, names }: { readonly of: Shown; readonly names: Names }) {
  const isDevnet = running.value?.settings.kind === 'devnet';
  const { result, ms } = of.answer;
  const { trust, seen, environmentReads } = result;
  const number = trust.block.number;
  // What is left of the gas is looked at by almost every contract.
  const reads = environmentReads.filter((name) => name !== 'GAS');
  return (
    <>
      <Facts
        of={[
          {
            name: 'State after',
            value: (
              <>
                block {groups(number)} <Copyable hex={trust.block.hash} name="block hash" />
              </>
            ),
          },
          { name: 'Runs in', value: `block ${groups(number + 1)}, the next one`, prose: true },
          trust.overridden.length > 0 && {
            name: 'Overridden',
            value: `${trust.overridden.map((one) => OVERRIDDEN[one]).join(' and ')}: this is not what the chain has`,
            prose: true,
          },
          reads.length > 0 && {
            name: 'The code looks at',
            value: reads.join(', '),
            prose: true,
          },
          {
            name: 'Seen by',
            value:
              seen.length > 0
                ? `${seen.length} ${seen.length === 1 ? 'endpoint' : 'endpoints'}, listed below`
                : `no endpoint: ${isDevnet ? 'the whole chain is in this page' : 'this node knew all that the call reads'}`,
            prose: true,
          },
          { name: 'Took', value: formatMs(ms) },
        ]}
      />
      {seen.map((one) => (
        <Seen key={one.endpoint} of={one} names={names} />
      ))}
      {namesAsked.value > 0 && (
        <p class="hint">
          Names were looked up afterwards: endpoints were also asked for what the name service has of {namesAsked.value}{' '}
          {namesAsked.value === 1 ? 'address' : 'addresses'}.
        </p>
      )}
      <p class="hint">
        The state can change before the transaction is included, so a wallet repeats this just before signing. A message
        that is only signed, such as a permit, changes nothing yet and shows nothing here.
      </p>
    </>
  );
}

/** What an endpoint was asked. */
function Seen({ of: { endpoint, accounts, calls }, names }: { readonly of: SeenByEndpoint; readonly names: Names }) {
  const slots = accounts.reduce((sum, one) => sum + one.slots.length, 0);
  return (
    <details class="fold">
      <summary>
        {endpoint} was asked for {accounts.length} {accounts.length === 1 ? 'account' : 'accounts'} and {slots}{' '}
        {slots === 1 ? 'slot' : 'slots'}
      </summary>
      <p class="hint">{calls ? 'It was sent the calls themselves.' : 'It was not sent the call.'}</p>
      <ul class="sentences">
        {accounts.map(({ address, slots: keys, code }) => (
          <li key={address} title={address}>
            {!names.account(address).startsWith('0x') && names.account(address)}{' '}
            <Copyable hex={address} name="the address" />
            {code && ', with its code'}
            {keys.length > 0 && (
              <details>
                <summary>
                  {keys.length} {keys.length === 1 ? 'slot' : 'slots'}
                </summary>
                <ul>
                  {keys.map((key) => (
                    <li key={key}>
                      <code class="whole">{key}</code>
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
