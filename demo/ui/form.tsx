import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { PageError } from '../lib/explain.js';
import type { Action } from './action.js';
import { Failure } from './failure.js';
import { LinkNotice } from './question.js';

const FormAction = createContext<Action | undefined>(undefined);

interface FormProps {
  readonly action: Action;
  /** What pressing Enter, or the button of type `submit`, does. */
  readonly submit: () => Promise<void>;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ComponentChildren;
}

/** A form whose fields say what is wrong with them. */
export function Form({ action, submit, onKeyDown, children }: FormProps) {
  return (
    <FormAction.Provider value={action}>
      <form
        aria-busy={action.busy.value}
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(submit);
        }}
        {...(onKeyDown !== undefined && { onKeyDown })}
      >
        {children}
      </form>
    </FormAction.Provider>
  );
}

/** Why the text of a field cannot be used, in a sentence; undefined if the newest error is not about it. */
export function useWrong(field: string): string | undefined {
  const action = useContext(FormAction);
  const wrong = action === undefined || action.isStale() ? undefined : reasonAt(action.error.value, field);
  useEffect(() => {
    if (wrong === undefined || action === undefined) return;
    action.atField.value = true;
    return () => {
      action.atField.value = false;
    };
  }, [wrong]);
  return wrong;
}

function reasonAt(error: unknown, field: string): string | undefined {
  if (!(error instanceof PageError) || error.code !== 'FIELD' || !error.message.startsWith(`${field}: `)) return;
  const reason = error.message.slice(field.length + 2);
  return `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`;
}

/** What became of a form: why a link was not asked, and an error that no field shows. */
export function Outcome({ action, linked }: { readonly action: Action; readonly linked?: string | undefined }) {
  return (
    <>
      <LinkNotice>{linked}</LinkNotice>
      {!action.atField.value && <Failure error={action.error.value} stale={action.isStale()} />}
    </>
  );
}
