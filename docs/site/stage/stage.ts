import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { withLinks } from './links.js';
import { methodPages, methodPrograms, openRpcOfAll } from './method-pages.js';
import { pages, root, staged } from './places.js';
import { type Runnable, runnablesOf, withRunButtons } from './runnable.js';

/** Its tables take the place of the outline. */
const WIDE = 'methods.md';

/** A picture in the README has a light and a dark source; the site has a switch of its own. */
const PICTURE =
  /<picture>[\s\S]*?srcset="docs\/([^"]+)"[\s\S]*?src="docs\/([^"]+)"[^>]*alt="([^"]*)"[\s\S]*?<\/picture>/g;

/** Comments that say where a snippet runs are for the tests. */
const RUN_COMMENT = /^<!-- run: .* -->\n/gm;

const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8');

function write(page: string, text: string): void {
  mkdirSync(dirname(`${staged}/${page}`), { recursive: true });
  writeFileSync(`${staged}/${page}`, text);
}

/**
 * Writes the pages of the site from the documents of the repository, and what its snippets need to run.
 *
 * @returns the snippets
 */
export function stage(): Runnable[] {
  const all = pages();
  const runnables: Runnable[] = [];
  for (const [file, page] of all) {
    const text = read(file);
    const found = runnablesOf(file, page, text);
    runnables.push(...found.values());
    const linked = withLinks(withRunButtons(text, found), file, all).replace(RUN_COMMENT, '');
    if (file === 'README.md') stageReadme(linked);
    else write(page, page === WIDE ? `---\naside: false\n---\n\n${linked}` : linked);
  }
  cpSync(`${root}/docs/site/public`, `${staged}/public`, { recursive: true });
  cpSync(`${root}/demo/icon.svg`, `${staged}/public/icon.svg`);
  cpSync(`${root}/docs/images`, `${staged}/images`, { recursive: true });
  const tenLines = blockOf(runnables.find(({ id }) => id === 'overview-2')!);
  for (const name of readdirSync(`${root}/docs/site/pages`)) {
    const file = `docs/site/pages/${name}`;
    write(name, withLinks(read(file), file, new Map([...all, [file, name]])).replace('<!-- ten lines -->', tenLines));
  }
  const ofMethods = methodPages();
  for (const [page, text] of ofMethods) write(page, text);
  writeFileSync(`${staged}/public/openrpc.json`, JSON.stringify(openRpcOfAll()));
  writeFileSync(`${staged}/snippets.json`, JSON.stringify([...runnables, ...methodPrograms()]));
  writeFileSync(`${staged}/public/llms.txt`, forModels([...all.values(), ...ofMethods.keys()]));
  return runnables;
}

function stageReadme(text: string): void {
  const picture = (_: string, dark: string, light: string, alt: string) =>
    `<img class="on-dark" src="./${dark}" alt="${alt}"><img class="on-light" src="./${light}" alt="${alt}">`;
  write('overview.md', text.replace(PICTURE, picture));
}

/** What a program that reads the documents begins with (llmstxt.org): each page with its heading. */
function forModels(all: readonly string[]): string {
  const headingOf = (page: string) => /^# (.+)$/m.exec(readFileSync(`${staged}/${page}`, 'utf8'))?.[1] ?? page;
  const lines = all.map((page) => `- [${headingOf(page)}](${page.replace(/\.md$/, '.html')})`);
  return `# plumbline\n\n> An Ethereum layer-2 node in a web page: what a transaction on Linea costs, and proofs of balances and state.\n\n## Documents\n\n${lines.join('\n')}\n`;
}

function blockOf({ id, code }: Runnable): string {
  return `\`\`\`ts\n${code}\`\`\`\n\n<RunnableCode id="${id}" />`;
}
