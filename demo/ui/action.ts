import { useSignal } from '@preact/signals';

/** The work of a button: one at a time, and its failure kept to be shown. */
export function useAction() {
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const run = async (work: () => Promise<void>): Promise<void> => {
    if (busy.value) return;
    busy.value = true;
    error.value = undefined;
    try {
      await work();
    } catch (thrown) {
      error.value = thrown;
    } finally {
      busy.value = false;
    }
  };
  return { busy, error, run };
}
