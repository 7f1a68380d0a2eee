/** The element of an id. The page is ours, so a missing one is a mistake in it. */
export function element<Type extends HTMLElement = HTMLElement>(id: string): Type {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as Type;
}

/** A new element with text or children. */
export function make(tag: string, content: string | readonly Node[], className?: string): HTMLElement {
  const made = document.createElement(tag);
  if (typeof content === 'string') made.textContent = content;
  else made.append(...content);
  if (className !== undefined) made.className = className;
  return made;
}

/** A list of names and values. */
export function facts(entries: readonly (readonly [name: string, value: string])[]): HTMLElement {
  return make(
    'dl',
    entries.flatMap(([name, value]) => [make('dt', name), make('dd', value)]),
    'facts',
  );
}

/** Shows what went wrong, or hides the message again. */
export function showFailure(error?: unknown): void {
  const box = element('failure');
  box.hidden = error === undefined;
  if (error === undefined) return;
  const code = typeof error === 'object' && error !== null && 'code' in error ? ` (${String(error.code)})` : '';
  box.textContent = `${error instanceof Error ? error.message : String(error)}${code}`;
}

/** Runs the work of a button: the button waits, a failure is shown. */
export async function busy(button: HTMLButtonElement, work: () => Promise<void>): Promise<void> {
  button.disabled = true;
  showFailure();
  try {
    await work();
  } catch (error) {
    showFailure(error);
  } finally {
    button.disabled = false;
  }
}

/** Wei as decimal ether or gwei, without trailing zeros. */
export function formatUnits(value: bigint, decimals: number): string {
  const digits = value.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -decimals) : `${digits.slice(0, -decimals)}.${fraction}`;
}

/** The smallest unit of a decimal amount. @throws Error for anything that is no such number */
export function parseUnits(text: string, decimals: number): bigint {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text.trim());
  if (match === null || (match[2]?.length ?? 0) > decimals) throw new Error(`not an amount: ${text}`);
  return BigInt(match[1]! + (match[2] ?? '').padEnd(decimals, '0'));
}
