import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProgressLines } from '../../src/hosts/cli/lines.js';
import { type Running, runBuilt, startUntil } from '../support/built-command.js';

const COMMAND = fileURLToPath(new URL('../../cli/dist/cli.js', import.meta.url));
const has = (program: string) => spawnSync(program, ['--version']).error === undefined;

describe('what was meant', () => {
  test.each([
    [['serv'], /^plumbline: unknown command 'serv' \(Did you mean serve\?\)\n/],
    [['diagnos', '0x12'], /^plumbline: unknown command 'diagnos' \(Did you mean diagnose\?\)\n/],
    [['zzzzzz'], /^plumbline: unknown command 'zzzzzz'\n/],
    [['serve', '--prot', '1'], /^plumbline serve: arguments: unknown option '--prot' \(Did you mean --port\?\)\n/],
    [['balance', '0x12', '--upstrem', 'x'], /unknown option '--upstrem' \(Did you mean --upstream\?\)\n/],
    [['serve', '--port'], /^plumbline serve: arguments: option '--port <value>' argument missing\n/],
    [['serve', '--port', '--quiet'], /^plumbline serve: arguments: option --port has no value: --quiet follows it\n/],
  ])('plumbline %j', async (args, words) => {
    const { code, out, err } = await runBuilt(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(words);
  });
});

describe('plumbline completions', () => {
  test('of a shell that is not known', async () => {
    const { code, err } = await runBuilt(['completions', 'cmd']);
    expect(code).toBe(2);
    expect(err).toContain('SHELL: must be one of bash, zsh, fish');
  });

  describe.skipIf(!has('bash'))('in bash', () => {
    let script: string;
    beforeAll(async () => {
      script = (await runBuilt(['completions', 'bash'])).out;
    });

    /** What a bash proposes for the last of some words. */
    async function proposed(...words: readonly string[]): Promise<string[]> {
      const program = `${script}
COMP_WORDS=(plumbline "$@")
COMP_CWORD=$#
_plumbline
printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout } = await promisify(execFile)('bash', ['-c', program, 'bash', ...words]);
      return stdout.split('\n').filter((line) => line !== '');
    }

    test.each([
      [['ser'], ['serve']],
      [['--v'], ['--version']],
      [['serve', '--net'], ['--network']],
      [
        ['serve', '--network', 'linea'],
        ['linea', 'linea-sepolia'],
      ],
      [
        ['serve', '--hardfork', ''],
        ['osaka', 'amsterdam'],
      ],
      [['diagnose', '--verb'], ['--verbose']],
      [
        ['completions', ''],
        ['bash', 'zsh', 'fish', '--help'],
      ],
      // Files, which bash proposes by itself.
      [['serve', '--genesis', ''], []],
      [['verify', 'answer'], []],
    ])('%j', async (words, expected) => {
      expect(await proposed(...words)).toEqual(expected);
    });

    test('every option that the help of a command lists', async () => {
      const { out } = await runBuilt(['--help']);
      const names = [...out.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name!);
      expect(names.length).toBeGreaterThan(15);
      for (const name of names) {
        const { out: help } = await runBuilt([name, '--help']);
        // Those that begin a line, and others that stand beside them.
        const options = [...help.matchAll(/^ {2}(-.*?)(?: {2,}|$)/gm)].flatMap(
          ([, left]) => left!.match(/--[\w-]+/g) ?? [],
        );
        expect((await proposed(name, '--')).sort(), name).toEqual([...new Set([...options, '--help'])].sort());
      }
    });
  });

  test.each(['zsh', 'fish'])('%s reads its script', async (shell) => {
    const { code, out } = await runBuilt(['completions', shell]);
    expect(code).toBe(0);
    expect(out).toContain('linea linea-sepolia');
    if (!has(shell)) return console.warn(`completions: there is no ${shell} here, and its script was not read by it`);
    expect(spawnSync(shell, ['-n'], { input: out })).toMatchObject({ status: 0 });
  });
});

describe.skipIf(!has('script'))('colours', () => {
  /** What a command prints on a terminal. */
  async function onTerminal(args: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    // Nothing of the environment here, in which `CI` or NODE_DISABLE_COLORS may say that the terminal has no colours.
    const options = { env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env } };
    const command = `${process.execPath} ${COMMAND} ${args}`;
    return (await promisify(execFile)('script', ['-qec', `${command} || true`, '/dev/null'], options)).stdout;
  }
  const RED = '\u001b[31m';

  test('on a terminal', async () => {
    expect(await onTerminal('size oops')).toContain(`${RED}plumbline size:\u001b[39m`);
  });
  test('on a terminal, with the output in a file', async () => {
    expect(await onTerminal('size oops > /dev/null')).toContain(`${RED}plumbline size:\u001b[39m`);
  });
  test('not with NO_COLOR, nor in a terminal that has none', async () => {
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const printed = await onTerminal('size oops', env as Record<string, string>);
      expect(printed).toContain('plumbline size:');
      expect(printed).not.toContain('\u001b');
    }
  });
  test('not in a file', async () => {
    expect((await runBuilt(['size', 'oops'])).err).not.toContain('\u001b');
  });
});

describe('diagnose', () => {
  let served: Running;
  let url: string;
  beforeAll(async () => {
    const running = await startUntil(/JSON-RPC {2}(http:\/\/127\.0\.0\.1:\d+)\//, 'serve', '--port', '0', '--quiet');
    served = running;
    url = running.match[1]!;
  });
  afterAll(() => served?.stop('SIGTERM'));

  const poor = ['--from', `0x${'11'.repeat(20)}`, '--to', `0x${'22'.repeat(20)}`, '--value', '1gwei'];

  test('a line for the check that failed, and what depends on it counted below', async () => {
    const { code, out } = await runBuilt(['diagnose', ...poor, '--devnet', url]);
    expect(code).toBe(1);
    const lines = out.trim().split('\n');
    expect(lines.filter((line) => line.startsWith('  fails '))).toEqual([
      expect.stringMatching(/^ {2}fails {3}funds /),
    ]);
    expect(out).toMatch(/\n {2}fails .*\n {12}could not be checked because of it: \d+\n/);
    expect(out).toMatch(/^checks {2}\d+ ok of \d+; --verbose lists all$/m);
    expect(out).not.toMatch(/^ {2}ok |^ {2}unknown .*execution/m);
  });

  test('--verbose has a line for each, with ether beside wei', async () => {
    const { out } = await runBuilt(['diagnose', ...poor, '--verbose', '--devnet', url]);
    expect(out).toMatch(/^ {2}ok {6}chain-id /m);
    expect(out).toMatch(/^ {2}unknown execution /m);
    expect(out).toMatch(/^ {2}fails {3}funds +0 ETH \(0 wei\), at least 0\.000000001 ETH \(1000000000 wei\)/m);
  });

  test('an estimate has its prices in gwei and wei', async () => {
    const from = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
    const { out } = await runBuilt(['estimate', '--from', from, '--to', from, '--value', '1', '--devnet', url]);
    expect(out).toMatch(/^base fee +7 wei per gas$/m);
    const [, gwei, wei] = /^max fee +([\d.]+) gwei \((\d+) wei\) per gas$/m.exec(out)!;
    expect(Number(wei)).toBe(Math.round(Number(gwei) * 1e9));
    const [, ether, total] = /^total fee +([\d.]+) ETH \((\d+) wei\) at most/m.exec(out)!;
    expect(Number(total) / 1e18).toBeCloseTo(Number(ether), 15);
  });
});

describe('progress', () => {
  function lines(isTTY: boolean) {
    const written: string[] = [];
    let now = 0;
    const stream = { isTTY, write: (text: string) => written.push(text) > 0 };
    const progress = new ProgressLines(stream as unknown as NodeJS.WriteStream, () => now);
    const at = (ms: number, fraction: number) => {
      now = ms;
      progress.report({ stage: 'blocks', fraction });
    };
    return { written, progress, at };
  }

  test('is one line of a terminal, and away at the end', () => {
    const { written, progress, at } = lines(true);
    at(10, 0.01);
    at(250, 0.25);
    at(260, 0.26);
    at(900, 0.9);
    progress.end();
    expect(written).toEqual(['\r\u001b[Kimporting blocks: 25 %', '\r\u001b[Kimporting blocks: 90 %', '\r\u001b[K']);
  });

  test('is nothing where it is quick, and of stages that are', () => {
    const { written, progress, at } = lines(true);
    at(10, 0.5);
    progress.report({ stage: 'kernels', fraction: 0.5 });
    progress.end();
    expect(written).toEqual([]);
  });
});
