import { computed, defineComponent, h, onMounted, ref } from 'vue';
import type { Runnable } from '../../stage/runnable.js';
import { runOutput } from './run-output.js';
import { loadSnippets } from './snippets.js';
import { useRun } from './use-run.js';

const pageOf = ({ id }: Runnable) => id.replace(/-\d+$/, '');

/**
 * Every snippet of the documents, to change and run. The address names a snippet and never contains code, so that a link runs
 * nothing that is not in the documents.
 */
export const PlayGround = defineComponent({
  setup() {
    const { run, start, stop } = useRun();
    const snippets = ref<readonly Runnable[]>([]);
    const chosen = ref('');
    const code = ref('');
    const refused = computed(() => snippets.value.find(({ id }) => id === chosen.value)?.refused);
    const choose = (id: string) => {
      const snippet = snippets.value.find((one) => one.id === id) ?? snippets.value[0]!;
      chosen.value = snippet.id;
      code.value = snippet.code;
      history.replaceState(history.state, '', `?snippet=${snippet.id}`);
    };
    onMounted(async () => {
      snippets.value = await loadSnippets();
      choose(new URLSearchParams(location.search).get('snippet') ?? '');
    });
    const listed = () => snippets.value.filter(({ id, isMethod }) => isMethod === undefined || id === chosen.value);
    const options = () =>
      [...new Set(listed().map(pageOf))].map((page) =>
        h(
          'optgroup',
          { label: page },
          listed()
            .filter((snippet) => pageOf(snippet) === page)
            .map(({ id, heading }) =>
              h('option', { value: id, selected: id === chosen.value }, `${id.split('-').at(-1)}. ${heading}`),
            ),
        ),
      );
    return () =>
      h('div', { class: 'playground' }, [
        h('label', { for: 'snippet' }, 'Snippet'),
        h(
          'select',
          { id: 'snippet', onChange: (event: Event) => choose((event.target as HTMLSelectElement).value) },
          options(),
        ),
        h('label', { for: 'program' }, 'Program, in TypeScript'),
        h('textarea', {
          id: 'program',
          value: code.value,
          rows: Math.min(30, Math.max(12, code.value.split('\n').length + 1)),
          spellcheck: false,
          autocapitalize: 'off',
          onInput: (event: Event) => {
            code.value = (event.target as HTMLTextAreaElement).value;
          },
        }),
        refused.value === undefined ? null : h('p', { class: 'run-refused' }, refused.value),
        h('div', { class: 'run-bar' }, [
          h('button', { type: 'button', class: 'run-button', onClick: () => start(code.value) }, 'Run'),
          h(
            'button',
            { type: 'button', class: 'run-button', disabled: run.state !== 'running', onClick: stop },
            'Stop',
          ),
          h('button', { type: 'button', class: 'run-button', onClick: () => choose(chosen.value) }, 'Reset'),
        ]),
        runOutput(run),
      ]);
  },
});
