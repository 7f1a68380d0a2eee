import type { ServedRequest } from '../server/serve.js';
import { oneLine, printJson, printLines } from './lines.js';

/** What `plumbline serve` prints after it listens. */
export interface ServeOutput {
  request(request: ServedRequest): void;
  /** It stops, or has stopped. */
  state(event: 'stopping' | 'stopped', text: string): void;
}

const METHOD_LENGTH = 64;
const MESSAGE_LENGTH = 200;

/** Lines of text, or with `json` of one JSON object each. With `quiet`, requests are left out. */
export function serveOutput({ quiet, json }: { readonly quiet: boolean; readonly json: boolean }): ServeOutput {
  let isOpen = true;
  // A reader that is gone, such as `head`, ends the output and not the node.
  process.stdout.on('error', () => {
    isOpen = false;
  });
  return {
    request(request) {
      if (quiet || !isOpen) return;
      if (json) printJson(asEvent(request));
      else printLines(inWords(request));
    },
    state(event, text) {
      if (!isOpen) return;
      if (json) printJson({ event, time: new Date().toISOString() });
      else printLines(text);
    },
  };
}

function asEvent({ method, ms, ...rest }: ServedRequest) {
  const named = method === undefined ? {} : { method: method.slice(0, METHOD_LENGTH) };
  return { event: 'request', time: new Date().toISOString(), ...named, ...rest, ms: Number(ms.toFixed(3)) };
}

/** Names and messages are text of clients: they cannot begin a line, or move the cursor. */
function inWords({ method, layer, class: known, ms, batch, error }: ServedRequest): string {
  const name = `${layer === 'l1' ? 'l1 ' : ''}${method === undefined ? '(no method)' : oneLine(method, METHOD_LENGTH)}`;
  const result = error === undefined ? (known ?? '-') : 'error';
  const rest = [
    ...(batch === undefined ? [] : [`batch of ${batch}`]),
    ...(error === undefined ? [] : [`${error.code} ${oneLine(error.message, MESSAGE_LENGTH)}`]),
  ].join(', ');
  const time = new Date().toISOString().slice(11, 23);
  return `${time}  ${name.padEnd(32)} ${result.padEnd(9)} ${ms.toFixed(1).padStart(8)} ms  ${rest}`.trimEnd();
}
