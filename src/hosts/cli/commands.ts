/** The commands of `plumbline`: finds one by its name, runs it, and turns errors into exit codes. */
import { isPlumblineError, messageOf } from '../../errors.js';
import { CLIENT_VERSION } from '../../rpc/methods/node-info.js';
import { type Command, EXIT, unknownCommand } from './arguments.js';
import { printErrors, printLines } from './lines.js';

/** A command is loaded when it is run: what others need would be most of the time until `serve` answers. */
const COMMANDS: Readonly<Record<string, { readonly summary: string; load(): Promise<Command> }>> = {
  serve: {
    summary: 'run a node: JSON-RPC over HTTP and WebSocket',
    load: async () => (await import('./serve.js')).serveCommand,
  },
  verify: {
    summary: 'check a saved linea_getProof answer against a state root, or a bundle of evidence',
    load: async () => (await import('./verify.js')).verifyCommand,
  },
  proof: {
    summary: 'fetch and verify linea_getProof: an account and its slots in the finalized zk state',
    load: async () => (await import('./proof.js')).proofCommand,
  },
  estimate: {
    summary: 'what a transaction costs: gas, prices and the total fee, computed here on proved state',
    load: async () => (await import('./estimate.js')).estimateCommand,
  },
  preview: {
    summary: 'what a transaction would do: transfers, approvals, balances and warnings, before it is signed',
    load: async () => (await import('./preview.js')).previewCommand,
  },
  diagnose: {
    summary: 'whether a transaction will be included, and if not, why and what to do',
    load: async () => (await import('./diagnose.js')).diagnoseCommand,
  },
  balance: {
    summary: 'ether of an account, by its address or ENS name, proved',
    load: async () => (await import('./read.js')).balanceCommand,
  },
  call: {
    summary: 'what a contract answers, executed here on proved state',
    load: async () => (await import('./read.js')).callCommand,
  },
  logs: {
    summary: 'events of contracts, checked against the roots of their blocks',
    load: async () => (await import('./read.js')).logsCommand,
  },
  tx: {
    summary: 'a transaction and its receipt, by its hash',
    load: async () => (await import('./read.js')).txCommand,
  },
  block: {
    summary: 'a block, by its number, hash or tag',
    load: async () => (await import('./read.js')).blockCommand,
  },
  messages: {
    summary: 'messages of an account to layer 1: withdrawals, and whether they can be claimed',
    load: async () => (await import('./messages.js')).messagesCommand,
  },
  claim: {
    summary: 'the transaction that claims a message on layer 1, proved, and whether it passes',
    load: async () => (await import('./messages.js')).claimCommand,
  },
  rpc: {
    summary: 'any JSON-RPC method of a light node',
    load: async () => (await import('./read.js')).rpcCommand,
  },
  size: {
    summary: 'compressed size of calldata or of a transaction',
    load: async () => (await import('./size.js')).sizeCommand,
  },
  checkpoint: {
    summary: 'finalized beacon blocks that servers name, as a starting point for layer 1',
    load: async () => (await import('./layer-one-root.js')).checkpointCommand,
  },
  completions: {
    summary: 'a script that completes commands and options in bash, zsh or fish',
    load: async () => (await import('./completions.js')).completionsCommand(allCommands),
  },
};

function allCommands() {
  return Promise.all(
    Object.entries(COMMANDS).map(async ([name, { summary, load }]) => ({ name, summary, ...(await load()) })),
  );
}

const USAGE = `plumbline <command> [options]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`)
  .join('\n')}

  plumbline <command> --help   options and exit codes of a command
  plumbline --version

Exit codes: 0 done, 1 failed or refused, see the command, 2 could not be checked, or the arguments cannot be used.`.split(
  '\n',
);

/** Runs what the arguments of the process say. @returns the exit code */
export async function run(args: readonly string[]): Promise<number> {
  try {
    return await runCommand(args);
  } catch (error) {
    printErrors(`plumbline: ${messageOf(error)}`);
    return EXIT.failed;
  }
}

async function runCommand([name, ...args]: readonly string[]): Promise<number> {
  const found = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (found === undefined) return general(name);
  const command = await found.load();
  if (args.includes('--help') || args.includes('-h')) {
    printLines(...command.help.split('\n'));
    return EXIT.ok;
  }
  try {
    return await command.run(args);
  } catch (error) {
    if (!isPlumblineError(error, 'INVALID_PARAMETER')) throw error;
    printErrors(`plumbline ${name}: ${error.message}`, '', `plumbline ${name} --help lists what it takes.`);
    return EXIT.usage;
  }
}

function general(name: string | undefined): number {
  if (name === '--help' || name === '-h' || name === 'help') {
    printLines(...USAGE);
    return EXIT.ok;
  }
  if (name === '--version') {
    printLines(CLIENT_VERSION);
    return EXIT.ok;
  }
  const words = name === undefined ? [] : [`plumbline: ${unknownCommand(name, Object.keys(COMMANDS))}`, ''];
  printErrors(...words, ...USAGE);
  return EXIT.usage;
}
