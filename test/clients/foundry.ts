import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { foundryPath } from '../support/anvil.js';

/** Foundry looks up names of functions elsewhere; here it reaches the node only. */
const NOWHERE = 'http://127.0.0.1:9';

/** Runs a program of Foundry. @returns what it prints @throws Error with what it printed, if it fails */
export async function runFoundry(program: 'cast' | 'forge', args: readonly string[], cwd?: string): Promise<string> {
  // It keeps what it read of a chain at home, by numbers of blocks.
  const home = await mkdtemp(join(tmpdir(), `${program}-`));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    NO_PROXY: '127.0.0.1',
    NO_COLOR: '1',
    FOUNDRY_DISABLE_NIGHTLY_WARNING: '1',
  };
  try {
    return (await promisify(execFile)(foundryPath(program)!, [...args], { env, cwd })).stdout;
  } finally {
    await rm(home, { recursive: true });
  }
}
