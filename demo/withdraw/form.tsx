import type { Signal } from '@preact/signals';
import { DEV_ACCOUNTS } from 'plumbline-l2';
import type { ComponentChildren } from 'preact';
import { useLink } from '../state/link.js';
import { running } from '../state/session.js';
import { useAction } from '../ui/action.js';
import { Choice, Field } from '../ui/field.js';
import { Form, Outcome } from '../ui/form.js';
import { find, firstWithdrawal, LABELS, withdraw } from './read.js';
import {
  amount,
  choose,
  EXAMPLES,
  type ExampleName,
  example,
  fee,
  fields,
  fill,
  first,
  isDevnet,
  last,
  recipient,
  wanted,
  way,
} from './state.js';

const WAYS = [
  { value: 'send', label: 'Send one here' },
  { value: 'follow', label: 'Follow one' },
] as const;

/** Sends a withdrawal on the devnet of the page, or names one that was sent anywhere. */
export function WithdrawForm() {
  const sends = isDevnet.value && way.value === 'send';
  const inputs = () => [way.value, amount.value, fee.value, recipient.value, example.value, fields.value];
  const action = useAction(inputs);
  const linked = useLink(
    'withdraw',
    fill,
    () => action.run(find),
    () => action.run(firstWithdrawal),
  );
  const { busy } = action;
  return (
    <Form action={action} submit={sends ? withdraw : find}>
      {isDevnet.value && (
        <Choice
          legend="Withdrawal"
          name="withdraw-way"
          value={way.value}
          options={WAYS}
          onChange={(value) => {
            way.value = value;
          }}
        />
      )}
      {sends ? <ToSend /> : <ToFind />}
      <div class="actions">
        <button type="submit" class="primary" disabled={running.value === undefined} aria-disabled={busy.value}>
          {sends ? (busy.value ? 'Withdrawing…' : 'Withdraw on layer 2') : busy.value ? 'Reading…' : 'Follow it'}
        </button>
      </div>
      <Outcome action={action} linked={linked.value} />
    </Form>
  );
}

function ToSend() {
  return (
    <>
      <Choice
        legend="Example"
        name="withdraw-example"
        cards
        value={example.value}
        options={(Object.keys(EXAMPLES) as ExampleName[]).map((name) => {
          const { label, hint } = EXAMPLES[name];
          return { value: name, label, hint };
        })}
        onChange={choose}
      />
      <div class="fields">
        <Text label={LABELS.amount} value={amount} decimal />
        <Text label={LABELS.fee} value={fee} decimal />
        {example.value === 'refused' ? (
          <p class="hint field-wide">The recipient is a contract that is created on layer 1 first.</p>
        ) : (
          <Text label={LABELS.recipient} value={recipient} hint="Any address." wide />
        )}
      </div>
      <p class="hint">
        Dev account 0 sends it to the message service of layer 2. It has {'10\u202f000 ETH'} to begin with.
      </p>
    </>
  );
}

function ToFind() {
  return (
    <div class="fields">
      <Text
        label={LABELS.wanted}
        value={wanted}
        hint={
          isDevnet.value ? (
            <>
              An address lists what it sent, and what is for it.{' '}
              <button
                type="button"
                class="button-small"
                onClick={() => {
                  wanted.value = DEV_ACCOUNTS[0]!.address;
                }}
              >
                Take dev account 0
              </button>
            </>
          ) : (
            'The hash is a topic of the event MessageSent. An address lists what it sent, and what is for it.'
          )
        }
        wide
      />
      <Text label={LABELS.first} value={first} hint="Left empty: for a hash, servers are asked." decimal />
      <Text label={LABELS.last} value={last} hint="For an address: the newest 1 000 blocks." decimal />
    </div>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: Signal<string>;
  readonly hint?: ComponentChildren;
  readonly wide?: boolean;
  /** A number, and no hex. */
  readonly decimal?: boolean;
}

/** A field of one line. */
export function Text({ label, value, hint, wide = false, decimal = false }: TextProps) {
  return (
    <Field label={label} wide={wide} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <input
          {...ids}
          {...(decimal ? { inputmode: 'decimal' } : { class: 'mono' })}
          autocomplete="off"
          spellcheck={false}
          value={value.value}
          onInput={(event) => {
            value.value = event.currentTarget.value;
          }}
        />
      )}
    </Field>
  );
}
