import { readdirSync, readFileSync } from 'node:fs';
import type { DefaultTheme } from 'vitepress';
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

/** All pages, in groups; the pages must be there. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  const group = (text: string, pages: readonly string[], collapsed = false): DefaultTheme.SidebarItem => ({
    text,
    collapsed,
    items: pages.map(itemOf),
  });
  return [
    group('Start', ['overview', 'methods', 'tools', 'playground', 'browsers']),
    group('Guides', [...pagesOf('guides'), 'scale', ...pagesOf('examples')]),
    group('Trust', ['security', 'reporting', 'glossary']),
    group('API reference', ['api/index', ...pagesOf('api')], true),
    group('Specifications', pagesOf('spec'), true),
    group('The project', ['changes', 'architecture', 'decisions', 'contributing', 'fixtures', 'mutation'], true),
  ];
}
