import type { MarkdownRenderer } from 'vitepress';

/** A header of a table without a text is a plain cell: a screen reader would announce a header without a name. */
export function withoutEmptyHeaders(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('empty_headers', ({ tokens }) => {
    tokens.forEach((token, i) => {
      if (token.type !== 'th_open' || tokens[i + 1]!.content !== '') return;
      for (const part of [token, tokens[i + 2]!]) part.tag = 'td';
    });
  });
}
