#!/usr/bin/env node
/** The command `plumbline`: runs one of its commands, and turns errors into exit codes. */
import { isPlumblineError, messageOf } from '../../errors.js';
import { CLIENT_VERSION } from '../../rpc/methods/node-constants.js';
import { type Command, EXIT } from './arguments.js';
import { checkpointCommand } from './checkpoint.js';
import { diagnoseCommand } from './diagnose.js';
import { estimateCommand } from './estimate.js';
import { previewCommand } from './preview.js';
import { proofCommand } from './proof.js';
import { serveCommand } from './serve.js';
import { sizeCommand } from './size.js';
import { verifyCommand } from './verify.js';

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: serveCommand,
  verify: verifyCommand,
  proof: proofCommand,
  estimate: estimateCommand,
  preview: previewCommand,
  diagnose: diagnoseCommand,
  size: sizeCommand,
  checkpoint: checkpointCommand,
};

const USAGE = `plumbline <command> [options]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`)
  .join('\n')}

  plumbline <command> --help   options and exit codes of a command
  plumbline --version

Exit codes: 0 done, 1 failed or refused, see the command, 2 could not be checked, or the arguments cannot be used.`;

async function main([name, ...args]: readonly string[]): Promise<number> {
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) return general(name);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(command.help);
    return EXIT.ok;
  }
  try {
    return await command.run(args);
  } catch (error) {
    if (!isPlumblineError(error, 'INVALID_PARAMETER')) throw error;
    console.error(`plumbline ${name}: ${error.message}\n\nplumbline ${name} --help lists what it takes.`);
    return EXIT.usage;
  }
}

function general(name: string | undefined): number {
  if (name === '--help' || name === '-h' || name === 'help') {
    console.log(USAGE);
    return EXIT.ok;
  }
  if (name === '--version') {
    console.log(CLIENT_VERSION);
    return EXIT.ok;
  }
  console.error(name === undefined ? USAGE : `plumbline: unknown command ${name}\n\n${USAGE}`);
  return EXIT.usage;
}

// Not awaited at the top of the module: the bundle would have a file for each `import()` of all its entry points.
main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(`plumbline: ${messageOf(error)}`);
    process.exitCode = EXIT.failed;
  },
);
