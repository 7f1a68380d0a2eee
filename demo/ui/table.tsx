import type { ComponentChildren } from 'preact';

interface TableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** The first of a row is its heading; the others are values. */
  readonly rows: readonly (readonly ComponentChildren[])[];
  /** On narrow screens each row becomes a card, with the names of the columns in it. */
  readonly cards?: boolean;
}

/** Values by row and column. */
export function Table({ label, columns, rows, cards = false }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to be able to scroll it.
    <section class="table-frame" tabIndex={0} aria-label={label}>
      <table class={cards ? 'table table-cards' : 'table'} aria-label={label}>
        <thead>
          <tr>
            {columns.map((name, i) => (
              <th key={name} scope="col" class={i === 0 ? undefined : 'end'}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([heading, ...values], row) => (
            <tr key={row}>
              <th scope="row">{heading}</th>
              {values.map((value, i) => (
                <td key={columns[i + 1]} class="end figure" data-label={columns[i + 1]}>
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
