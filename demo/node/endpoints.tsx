import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { type EndpointField, KEY_MARK, splitKey } from '../state/secrets.js';
import { Field, type FieldIds } from '../ui/field.js';

interface EndpointsProps {
  /** `Endpoint`, `Layer-1 endpoint`: each field is named by it. */
  readonly name: string;
  readonly of: readonly EndpointField[];
  readonly most: number;
  /** Addresses that are offered, each with its operator. */
  readonly offered?: readonly { readonly operator: string; readonly address: string }[];
  readonly onChange: (fields: readonly EndpointField[]) => void;
}

/**
 * Addresses with their keys. A key that is pasted within an address goes into the masked field, and only the rest of the
 * address is shown.
 */
export function Endpoints({ name, of, most, offered = [], onChange }: EndpointsProps) {
  const set = (i: number, part: Partial<EndpointField>) => {
    onChange(of.map((field, j) => (j === i ? { ...field, ...part } : field)));
  };
  const takeAddress = (i: number, text: string) => {
    const { address, key } = splitKey(text);
    set(i, key === '' ? { address } : { address, key });
  };
  const list = useId();
  return (
    <div class="endpoints">
      <datalist id={list}>
        {offered.map(({ operator, address }) => (
          <option key={operator} value={address}>
            {operator}
          </option>
        ))}
      </datalist>
      {of.map((field, i) => {
        const label = of.length > 1 || most > 1 ? `${name} ${i + 1}` : name;
        return (
          <div key={i} class="endpoint">
            <Field label={`${label}, address`} wide>
              {(ids) => (
                <AddressInput {...ids} list={list} address={field.address} onAddress={(text) => takeAddress(i, text)} />
              )}
            </Field>
            <Field
              label={`${label}, key`}
              hint={
                field.address.includes(KEY_MARK)
                  ? `Takes the place of ${KEY_MARK}.`
                  : 'Optional; goes behind the address as /v3/….'
              }
            >
              {(ids) => (
                <input
                  {...ids}
                  // No password: browsers would offer to keep it.
                  class="secret"
                  autocomplete="off"
                  spellcheck={false}
                  value={field.key}
                  onInput={(event) => set(i, { key: event.currentTarget.value.trim() })}
                />
              )}
            </Field>
            {of.length > 1 && (
              <button type="button" class="button-small" onClick={() => onChange(of.filter((_, j) => j !== i))}>
                Remove {label.toLowerCase()}
              </button>
            )}
          </div>
        );
      })}
      {of.length < most && (
        <button type="button" class="button-small" onClick={() => onChange([...of, { address: '', key: '' }])}>
          Add an endpoint
        </button>
      )}
    </div>
  );
}

interface AddressInputProps extends FieldIds {
  readonly list: string;
  readonly address: string;
  readonly onAddress: (text: string) => void;
}

/** An address is taken when it is typed to its end: on the way there it may have half a key. */
function AddressInput({ list, address, onAddress, ...ids }: AddressInputProps) {
  const draft = useSignal<string | undefined>(undefined);
  return (
    <input
      {...ids}
      class="mono"
      type="url"
      list={list}
      inputmode="url"
      autocomplete="off"
      spellcheck={false}
      placeholder="https://"
      value={draft.value ?? address}
      onPaste={(event) => {
        // Before it is in the page: a pasted address may hold a key.
        const text = event.clipboardData?.getData('text') ?? '';
        if (event.currentTarget.value !== '' || splitKey(text).key === '') return;
        event.preventDefault();
        draft.value = undefined;
        onAddress(text);
      }}
      onInput={(event) => {
        draft.value = event.currentTarget.value;
      }}
      onChange={(event) => {
        draft.value = undefined;
        onAddress(event.currentTarget.value);
        event.currentTarget.value = splitKey(event.currentTarget.value).address;
      }}
    />
  );
}
