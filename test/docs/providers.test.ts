import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NETWORKS } from '../../src/networks/networks.js';
import { type Cited, ENDPOINT_PROVIDERS } from '../../src/networks/providers.js';

const cell = (of: Cited<unknown> | undefined) => {
  if (of === undefined) return '';
  const text = typeof of.value === 'boolean' ? (of.value ? 'yes' : 'no') : `\`${of.value}\``;
  return `[${text}](${of.page})`;
};

test('the table of docs/providers.md is that of ENDPOINT_PROVIDERS', () => {
  const rows = ENDPOINT_PROVIDERS.filter(({ lightClient }) => lightClient === undefined).map((of) => {
    const { operator, urls, key, ethGetProof, lineaGetProof, lineaMethods } = of;
    const cells = [urls.linea, urls['linea-sepolia'], key, ethGetProof, lineaGetProof, lineaMethods].map(cell);
    return `| ${[operator, ...cells].join(' | ')} |`;
  });
  const doc = readFileSync(new URL('../../docs/providers.md', import.meta.url), 'utf8');
  const table = doc.split('## Linea\n')[1]!.split('\n## ')[0]!;
  expect(table.split('\n').filter((line) => /^\| (?!operator)/.test(line))).toEqual(rows);
  const below = doc.split('## Ethereum\n')[1]!;
  for (const { operator, lightClient = [] } of ENDPOINT_PROVIDERS)
    for (const { value, page } of lightClient) expect(below, operator).toContain(`[${value}](${page})`);
});

test('an address is one over TLS, of a network with a profile, and the day is that in the document', () => {
  const doc = readFileSync(new URL('../../docs/providers.md', import.meta.url), 'utf8');
  for (const { operator, urls } of ENDPOINT_PROVIDERS)
    for (const [name, { value, page, read }] of Object.entries(urls)) {
      expect(Object.keys(NETWORKS), operator).toContain(name);
      expect(new URL(value).protocol, operator).toBe('https:');
      expect(new URL(page).protocol, operator).toBe('https:');
      expect(doc).toContain(`read on ${read}`);
    }
});
