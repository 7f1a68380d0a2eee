import { type ComponentChildren, createContext } from 'preact';
import { useContext, useLayoutEffect } from 'preact/hooks';
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
  useLayoutEffect(() => {
    if (action === undefined) return;
    const { fields } = action;
    fields.value = [...fields.peek(), field];
    return () => {
      const gone = fields.peek().indexOf(field);
      fields.value = fields.peek().filter((_, i) => i !== gone);
    };
  }, [action?.fields, field]);
  return action === undefined ? undefined : reasonAt(action, field);
}

function reasonAt(action: Action, field: string): string | undefined {
  const error = action.error.value;
  if (action.isStale() || !(error instanceof PageError) || error.code !== 'FIELD') return;
  if (!error.message.startsWith(`${field}: `)) return;
  const reason = error.message.slice(field.length + 2);
  return `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`;
}

/** What became of a form: why a link was not asked, and an error that no field shows. */
export function Outcome({ action, linked }: { readonly action: Action; readonly linked?: string | undefined }) {
  const isAtField = action.fields.value.some((field) => reasonAt(action, field) !== undefined);
  return (
    <>
      <LinkNotice>{linked}</LinkNotice>
      {!isAtField && <Failure error={action.error.value} stale={action.isStale()} />}
    </>
  );
}
