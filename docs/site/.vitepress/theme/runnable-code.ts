import { withBase } from 'vitepress';
import { defineComponent, h } from 'vue';
import { runOutput } from './run-output.js';
import { loadSnippets } from './snippets.js';
import { useRun } from './use-run.js';

/** Below a block of code of a document: a button that runs it in the reader's page, and what it prints. */
export const RunnableCode = defineComponent({
  props: { id: { type: String, required: true }, refused: { type: String, default: undefined } },
  setup(props) {
    const { run, start, stop } = useRun();
    const runIt = async () => {
      const snippet = (await loadSnippets()).find(({ id }) => id === props.id);
      if (snippet !== undefined) start(snippet.code);
    };
    const button = () =>
      run.state === 'running'
        ? h('button', { type: 'button', class: 'run-button', onClick: stop }, 'Stop')
        : h('button', { type: 'button', class: 'run-button', onClick: runIt }, 'Run it here');
    return () =>
      h('div', { class: 'runnable', 'data-snippet': props.id }, [
        h('div', { class: 'run-bar' }, [
          props.refused === undefined ? button() : h('span', { class: 'run-refused' }, props.refused),
          h('a', { href: withBase(`/playground.html?snippet=${props.id}`) }, 'Open in the playground'),
        ]),
        runOutput(run),
      ]);
  },
});
