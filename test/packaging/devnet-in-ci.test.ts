import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/anvil.js';
import { eventually } from '../support/eventually.js';
import { packPackage, root } from './project.js';

/*
 * cli/action.yml and cli/Dockerfile, by their commands: there is neither a runner of GitHub nor a daemon of Docker here.
 */

const read = (file: string): string => readFileSync(`${root}/cli/${file}`, 'utf8');

async function chainId(url: string): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const answer = await fetch(url, { method: 'POST', body });
  return ((await answer.json()) as { result?: unknown }).result;
}

/** Ends the processes that a shell of its own group left. */
function endLater(child: ChildProcess): void {
  onTestFinished(() => {
    try {
      process.kill(-child.pid!, 'SIGTERM');
    } catch {
      // All have ended.
    }
  });
}

/** Runs a step of the action. @returns its exit code */
function runStep(script: string, env: Readonly<Record<string, string>>): Promise<number | null> {
  // Shells of the runner are `bash -e -o pipefail`; its group is ended with the test, as a runner does it with the job.
  const args = ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', script];
  const child = spawn('bash', args, { env: { ...process.env, ...env }, detached: true, stdio: 'ignore' });
  endLater(child);
  return new Promise((resolve) => child.on('exit', resolve));
}

test('the steps of the action install the command, and end once a devnet answers', async ({ skip }) => {
  const { tarballs, directory } = await packPackage();
  const temporary = join(directory, 'action');
  mkdirSync(temporary);
  const output = join(temporary, 'output');
  writeFileSync(output, '');
  const [install, serve] = [...read('action.yml').matchAll(/^ {6}run: \|\n((?: {8}.*\n)+)/gm)].map(([, lines]) =>
    lines!.replace(/^ {8}/gm, ''),
  );
  const port = String(await freePort());
  const env = { RUNNER_TEMP: temporary, GITHUB_OUTPUT: output, PORT: port, ARGUMENTS: '--chain-id 77' };
  if ((await runStep(install!, { ...env, PACKAGE: tarballs['plumbline-l2-cli'] })) !== 0) {
    console.warn('devnet in CI: npm reaches no registry here, and the action was not tried');
    return skip('npm reaches no registry here');
  }
  expect(await runStep(serve!, env)).toBe(0);
  const url = `http://127.0.0.1:${port}/`;
  expect(readFileSync(output, 'utf8')).toBe(`url=${url}\n`);
  expect(await chainId(url)).toBe('0x4d');
  const other = { ...env, PORT: String(await freePort()), ARGUMENTS: '--no-such-option' };
  expect(await runStep(serve!, other)).toBe(1);
});

test('the action installs the version that is here', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(read('action.yml')).toContain(`default: plumbline-l2-cli@${version}\n`);
});

test('the commands of the Dockerfile serve a devnet to other machines, which its check finds well', async ({
  skip,
}) => {
  const { directory } = await packPackage();
  const folder = join(directory, 'image');
  mkdirSync(folder);
  const lines = read('Dockerfile').split('\n');
  const one = (instruction: string) =>
    lines.find((line) => line.startsWith(`${instruction} `))!.slice(instruction.length + 1);
  for (const copy of lines.filter((line) => line.startsWith('COPY '))) {
    const [, from, to] = copy.split(' ');
    cpSync(join(directory, 'plumbline-l2-cli', from!), join(folder, to!.endsWith('/') ? from! : to!), {
      recursive: true,
    });
  }
  try {
    // The cache is the machine's, and stays.
    execFileSync('sh', ['-c', one('RUN').replace(/ && npm cache clean.*$/, '')], { cwd: folder, stdio: 'pipe' });
  } catch (error) {
    console.warn(`devnet in CI: npm installs nothing here, and the image was not tried: ${String(error)}`);
    return skip('npm reaches no registry here');
  }
  const words = ['ENTRYPOINT', 'CMD'].flatMap((name) => JSON.parse(one(name)) as string[]);
  expect(words.slice(-2)).toEqual(['--host', '0.0.0.0']);
  const port = await freePort();
  const child = spawn(words[0]!, [...words.slice(1), '--port', String(port)], { cwd: folder, detached: true });
  endLater(child);
  await eventually(async () => expect(await chainId(`http://127.0.0.1:${port}/`)).toBe('0xe703'));
  const [, path] = /http:\/\/127\.0\.0\.1:8545(\S+)$/.exec(one('HEALTHCHECK'))!;
  expect((await fetch(`http://127.0.0.1:${port}${path}`)).ok).toBe(true);
});
