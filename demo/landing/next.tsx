import { PACKAGE, PUBLISHED } from '../../scripts/lib/published.mjs';
import { readOn } from '../lib/links.js';
import { Panel } from '../ui/panel.js';

const PARTS = [
  { href: '#fees', name: 'What does a transfer cost?', text: 'An estimate, executed and priced in this page.' },
  { href: '#preview', name: 'What does a transaction do?', text: 'Who gains and loses what, before it is signed.' },
  { href: '#evidence', name: 'Why believe layer 1?', text: 'The whole way, from a block of layer 1 to a balance.' },
  { href: '#node', name: 'Use it on Linea', text: 'A light node, with endpoints that you do not have to trust.' },
] as const;

/** What to try, and where to read on. */
export function NextPanel() {
  return (
    <Panel title="Go on">
      <ul class="next">
        {PARTS.map(({ href, name, text }) => (
          <li key={href}>
            <a href={href}>{name}</a>
            <span>{text}</span>
          </li>
        ))}
      </ul>
      <p class="next-use">
        For developers: a TypeScript library under the MIT license.{' '}
        {!PUBLISHED.npm && (
          <>
            It is not on npm yet: <code>npm run pack</code> in a clone makes the file for{' '}
          </>
        )}
        <code>npm install {PACKAGE}</code>.{' '}
        {readOn().map(({ name, href }) => (
          <span key={name}>
            <a href={href}>{name}</a>{' '}
          </span>
        ))}
      </p>
    </Panel>
  );
}
