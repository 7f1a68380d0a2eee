import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Directory of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a command in the repository with its output shown, and passes SIGTERM on; resolves to the exit code. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
    const stop = () => child.kill('SIGTERM');
    process.on('SIGTERM', stop);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      process.off('SIGTERM', stop);
      resolve(signal === null ? (code ?? 1) : 1);
    });
  });
}

/** As `run`, but a failure ends this process with the same code. */
export async function mustRun(command, args, options) {
  const code = await run(command, args, options);
  if (code !== 0) process.exit(code);
}

/** Path of a command that a development dependency installs. */
export function bin(name) {
  return `${root}/node_modules/.bin/${name}`;
}
