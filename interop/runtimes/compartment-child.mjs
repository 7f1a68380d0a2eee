// Evaluates a file of CommonJS in a Compartment with the globals of a Snap that has network and WebAssembly: neither `MessageChannel` nor
// `performance` nor `queueMicrotask`. node compartment-child.mjs FILE URL
import 'ses';
import { readFileSync } from 'node:fs';

lockdown();
const [, , file, url] = process.argv;
const module = { exports: {} };
const globals = {
  module,
  exports: module.exports,
  ...{
    AbortController,
    AbortSignal,
    atob,
    btoa,
    clearInterval,
    clearTimeout,
    console,
    crypto,
    Date,
    fetch,
    Headers,
    Math,
  },
  ...{ Request, Response, setInterval, setTimeout, TextDecoder, TextEncoder, URL, URLSearchParams, WebAssembly },
};
new Compartment({ globals, __options__: true }).evaluate(readFileSync(file, 'utf8'));
console.log(JSON.stringify(await module.exports.run(url)));
process.exit();
