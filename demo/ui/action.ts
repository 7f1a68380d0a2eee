import { useSignal } from '@preact/signals';

export type Action = ReturnType<typeof useAction>;

/**
 * The work of a button: one at a time, and its failure kept to be shown.
 *
 * @param inputs - what the form says, by which a failure is of another question later
 */
export function useAction(inputs: () => unknown = () => undefined) {
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const asked = useSignal<string | undefined>(undefined);
  /** Names of the fields of the form: an error about one of them is shown there. */
  const fields = useSignal<readonly string[]>([]);
  const run = async (work: () => Promise<void>): Promise<void> => {
    if (busy.value) return;
    busy.value = true;
    error.value = undefined;
    asked.value = JSON.stringify(inputs());
    try {
      await work();
    } catch (thrown) {
      error.value = thrown;
    } finally {
      busy.value = false;
    }
  };
  /** Whether the failure is of other inputs than those that stand there now. */
  const isStale = () => asked.value !== JSON.stringify(inputs());
  return { busy, error, fields, run, isStale };
}
