import { withBase } from 'vitepress';
import { onBeforeUnmount, reactive } from 'vue';
import type { FromFrame, ToFrame } from '../../../play/messages.js';

export interface Run {
  readonly state: 'idle' | 'running' | 'done' | 'failed' | 'stopped';
  readonly lines: readonly { readonly kind: 'log' | 'error'; readonly text: string }[];
}

/** Output of more lines than this is cut off: a loop must not fill the page. */
const MOST_LINES = 500;

/**
 * Runs programs, each in a frame of its own. The frame ends with the next run, with `stop`, or with the component: so do the
 * nodes and workers that the program started.
 */
export function useRun() {
  const run = reactive({ state: 'idle', lines: [] }) as { state: Run['state']; lines: Run['lines'][number][] };
  let frame: HTMLIFrameElement | undefined;

  const close = () => {
    window.removeEventListener('message', receive);
    frame?.remove();
    frame = undefined;
  };

  function receive({ source, data }: MessageEvent<FromFrame>): void {
    if (frame === undefined || source !== frame.contentWindow) return;
    if (data.kind === 'ready') return;
    if (data.kind === 'done') run.state = 'done';
    else if (run.lines.length < MOST_LINES)
      run.lines.push({ kind: data.kind === 'log' ? 'log' : 'error', text: data.text });
    if (data.kind === 'failed') run.state = 'failed';
  }

  /** @param code - TypeScript, or undefined once it is known that there is none */
  function start(code: string): void {
    close();
    run.state = 'running';
    run.lines = [];
    const opened = document.createElement('iframe');
    frame = opened;
    opened.hidden = true;
    opened.title = 'the running snippet';
    opened.src = withBase('/play/frame.html');
    const give = ({ source, data }: MessageEvent<FromFrame>) => {
      if (source !== opened.contentWindow || data.kind !== 'ready') return;
      window.removeEventListener('message', give);
      opened.contentWindow!.postMessage({ code } satisfies ToFrame, location.origin);
    };
    window.addEventListener('message', give);
    window.addEventListener('message', receive);
    document.body.append(opened);
  }

  function stop(): void {
    close();
    run.state = 'stopped';
  }

  onBeforeUnmount(close);
  return { run: run as Run, start, stop };
}
