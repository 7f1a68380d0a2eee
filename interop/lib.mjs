// What the interop tests share: a count of checks, children that are ended by their ids, free ports, JSON-RPC.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const counts = { passed: 0, failed: 0, skipped: 0 };
const endings = [];

const firstLine = (error) =>
  String(
    error?.code === 'ERR_ASSERTION' && error.actual?.length > 0 && error.expected === ''
      ? error.actual
      : (error?.message ?? error),
  )
    .split('\n', 6)
    .join(' | ')
    .slice(0, 600);

/** Runs a check and prints its line. @returns what the check returned; undefined if it failed */
export async function check(name, run) {
  try {
    const value = await run();
    counts.passed++;
    console.log(`ok ${name}`);
    return value;
  } catch (error) {
    counts.failed++;
    console.log(`FAIL ${name}: ${process.env.INTEROP_STACKS ? error?.stack : firstLine(error)}`);
  }
}

/** A fault of this version of other software. If a release repairs it, the check fails: look at it, and at what works around it. */
export const fault = (version, what, run) => check(`fault of ${version}: ${what}`, run);

export function skip(name, reason) {
  counts.skipped++;
  console.log(`skip ${name}: ${reason}`);
}

/** What is done at the end, the newest first. */
export const atEnd = (ending) => void endings.push(ending);

/** Ends what was started, prints the counts and leaves. Nothing compared is not green. */
export async function end() {
  for (const ending of endings.reverse()) await Promise.resolve(ending()).catch(() => {});
  const { passed, failed, skipped } = counts;
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exit(failed > 0 || passed === 0 ? 1 : 0);
}

/** Runs the whole test of a folder. What is thrown outside of a check is a failure too. */
export async function main(run) {
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => check('runs to its end', () => Promise.reject(new Error(signal))).then(end));
  try {
    await run();
  } catch (error) {
    await check('runs to its end', () => Promise.reject(error));
  }
  await end();
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A JSON-RPC endpoint: `ask` gives the result or throws, with `code` and `data` of the error. */
export function endpoint(url, moreHeaders = () => ({})) {
  const post = async (body) => {
    const headers = { 'content-type': 'application/json', ...moreHeaders() };
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const ask = async (method, ...params) => {
    const { error, result } = await post({ jsonrpc: '2.0', id: 1, method, params });
    if (error) throw Object.assign(new Error(`${method}: ${error.message}`), { code: error.code, data: error.data });
    return result;
  };
  return { url, post, ask };
}

/** Waits until `ready` gives something true, at most a minute or so many ms. */
export async function until(what, ready, ms = 60_000) {
  const last = Date.now() + ms;
  for (let reason = 'never true'; ; await wait(100)) {
    try {
      const value = await ready();
      if (value) return value;
    } catch (error) {
      reason = firstLine(error);
    }
    if (Date.now() > last) throw new Error(`${what}: ${reason}`);
  }
}

/** Starts a program; it is ended with the test. `INTEROP_OUTPUT=1` shows what it prints. */
export function start(command, args, options = {}) {
  let tail = '';
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const keep = (bytes) => {
    tail = `${tail}${bytes}`.slice(-2_000);
    if (process.env.INTEROP_OUTPUT) process.stderr.write(bytes);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await gone;
    clearTimeout(late);
  };
  atEnd(stop);
  return { child, stop, output: () => tail };
}

/** Starts an execution client that answers JSON-RPC at `url`. */
export async function startClient(command, args, url, options) {
  const program = start(command, args, options);
  const client = endpoint(url);
  await until(`${command} answers`, async () => {
    if (program.child.exitCode !== null) throw new Error(`it ended: ${program.output()}`);
    return client.ask('eth_chainId');
  }).catch((error) => Promise.reject(new Error(`${error.message}\n${program.output()}`)));
  return { ...client, ...program };
}

export const hex = (number) => `0x${BigInt(number).toString(16)}`;
export const word = (number) => BigInt(number).toString(16).padStart(64, '0');
