import type { Anatomy } from './anatomy.js';

/** The path as a table: for those who do not see the drawing, and for those who want the hashes. */
export function PathList({ of }: { readonly of: Anatomy }) {
  return (
    <details class="fold">
      <summary>The path as a list</summary>
      {of.branches.map((branch) => (
        <section
          key={branch.at}
          class="table-frame table-tall"
          aria-label={`Path to leaf ${branch.index}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to be able to scroll it.
          tabIndex={0}
        >
          <table class="table">
            <caption>Path to leaf {branch.index}</caption>
            <thead>
              <tr>
                <th scope="col">Level</th>
                <th scope="col">Side</th>
                <th scope="col">Node</th>
                <th scope="col">Beside it</th>
              </tr>
            </thead>
            <tbody>
              {branch.steps.map(({ level, right, hash, sibling, empty }) => (
                <tr key={level}>
                  <th scope="row" class="figure">
                    {level}
                  </th>
                  <td>{right ? 'right' : 'left'}</td>
                  <td class="mono hash">{hash}</td>
                  <td class="mono hash">{empty ? 'empty' : sibling}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </details>
  );
}
