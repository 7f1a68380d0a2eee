import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../cli/dist/cli.js', import.meta.url));

/** What a command of the built library printed, and its exit code. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of the built library to its end. @param input - its standard input */
export async function runBuilt(args: readonly string[], input = ''): Promise<Ended> {
  const child = spawn(process.execPath, [script, ...args]);
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out: out(), err: err() };
}

/** A command of the built library that runs until it is stopped. */
export interface Running {
  readonly child: ChildProcess;
  /** What it has printed on standard output. */
  out(): string;
  /** Ends it with a signal. @returns its exit code */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

export function startBuilt(args: readonly string[]): Running {
  const child = spawn(process.execPath, [script, ...args]);
  const out = collect(child.stdout);
  child.stderr.resume();
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    child,
    out,
    stop: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Starts a command. @returns it once it has printed `expected` */
export async function startUntil(
  expected: RegExp,
  ...args: readonly string[]
): Promise<Running & { readonly match: RegExpExecArray }> {
  const running = startBuilt(args);
  const { child, out } = running;
  return new Promise((resolve, reject) => {
    child.stdout!.on('data', () => {
      const match = expected.exec(out());
      if (match !== null) resolve({ ...running, match });
    });
    child.on('close', () => reject(new Error(`it ended after: ${out()}`)));
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return () => text;
}
