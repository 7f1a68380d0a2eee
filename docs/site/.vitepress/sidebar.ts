import { readdirSync, readFileSync } from 'node:fs';
import type { DefaultTheme } from 'vitepress';
import { methodFamilies } from '../stage/method-pages.js';
import { staged } from '../stage/places.js';

/** Where the heading of a document alone would not say what it is. */
const TITLES: Readonly<Record<string, string>> = {
  overview: 'Overview',
  reporting: 'Report a vulnerability',
  'api/index': 'Entry points',
};

function itemOf(page: string): DefaultTheme.SidebarItem {
  const text = readFileSync(`${staged}/${page}.md`, 'utf8');
  const heading = TITLES[page] ?? /^# (.+)$/m.exec(text)?.[1] ?? page;
  return { text: heading.replace(/[`\\]/g, ''), link: `/${page.replace(/(^|\/)index$/, '$1')}` };
}

function pagesOf(folder: string): string[] {
  return readdirSync(`${staged}/${folder}`)
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .map((name) => `${folder}/${name.slice(0, -'.md'.length)}`)
    .sort();
}

/** In the order of use; what is not named here comes after. */
const GUIDES = [
  'wallet',
  'kits',
  'preview',
  'withdraw',
  'layer-one',
  'service-worker',
  'extension',
  'devnet',
  'fork',
  'storage',
];

function guides(): string[] {
  const first = GUIDES.map((name) => `guides/${name}`);
  return [...first, ...pagesOf('guides').filter((page) => !first.includes(page))];
}

/** All pages, in groups; the pages must be there. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  const group = (text: string, pages: readonly string[], collapsed = false): DefaultTheme.SidebarItem => ({
    text,
    collapsed,
    items: pages.map(itemOf),
  });
  return [
    group('Start', [
      'overview',
      'hosts',
      'command',
      'methods',
      'errors',
      'clients',
      'providers',
      'browsers',
      'playground',
    ]),
    group('Guides', guides()),
    {
      text: 'JSON-RPC methods',
      collapsed: true,
      items: [...methodFamilies()].map(([family, pages]) => group(family, pages, true)),
    },
    group('Examples', pagesOf('examples'), true),
    group('Trust', ['security', 'reporting', 'supply-chain', 'scale', 'comparison', 'benchmarks', 'glossary']),
    group('API reference', ['api/index', ...pagesOf('api')], true),
    group('Specifications', pagesOf('spec'), true),
    group(
      'The project',
      ['changes', 'tools', 'architecture', 'decisions', 'contributing', 'fixtures', 'mutation', 'writing'],
      true,
    ),
  ];
}
