import { invalidParameter } from '../../errors.js';
import { type Command, EXIT, type OptionTable, readArguments } from './arguments.js';
import { printLines } from './lines.js';

/** A command as a shell completes it. */
interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly help: string;
  readonly options: OptionTable;
}

/*
 * The scripts are made from the tables of options once, as they are printed. A shell that asked the command with each key would wait
 * for a start of Node each time.
 */
const SCRIPTS = { bash, zsh, fish } as const;
type Shell = keyof typeof SCRIPTS;
const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

/**
 * `plumbline completions`: a script that has a shell complete commands and options.
 *
 * @param all - loads all commands
 */
export const completionsCommand = (all: () => Promise<readonly Completed[]>): Command => ({
  help: `plumbline completions SHELL

  SHELL                 ${SHELLS.join(', ')}

The script is printed. To have it in every shell:
  bash   add to ~/.bashrc:  source <(plumbline completions bash)
  zsh    add to ~/.zshrc, after compinit:  source <(plumbline completions zsh)
  fish   plumbline completions fish > ~/.config/fish/completions/plumbline.fish

Exit codes: 0 done, 2 the arguments cannot be used.`,

  options: {},

  async run(args) {
    const { positionals } = readArguments(args, {}, { count: 1, name: 'SHELL' });
    const shell = SHELLS.find((known) => known === positionals[0]);
    if (shell === undefined) throw invalidParameter('SHELL', `must be one of ${SHELLS.join(', ')}`);
    printLines(...SCRIPTS[shell](await all()).split('\n'));
    return EXIT.ok;
  },
});

/** What the help says of an option, in one line without what the scripts quote. */
function described({ help }: Completed, option: string): string {
  const lines = help.split('\n');
  const at = lines.findIndex((line) => new RegExp(`^ .*--${option}(?![\\w-])`).test(line));
  if (at === -1) return option;
  const [, same = ''] = /^ +-.*? {2,}(\S.*)$/.exec(lines[at]!) ?? [];
  return (same || lines[at + 1]!.trim())
    .replace(/(?: \(|;).*/, '')
    .replaceAll(':', ',')
    .replace(/[^\w ,.<>/=-]/g, '')
    .trim();
}

const takesValue = (options: OptionTable, name: string) => options[name]!.type === 'string';
const flags = (options: OptionTable) => [...Object.keys(options), 'help'].map((name) => `--${name}`);

function bash(commands: readonly Completed[]): string {
  const values = commands.flatMap(({ name, options }) =>
    Object.entries(options)
      .filter(([option]) => takesValue(options, option))
      .map(([option, { values }]) => {
        // Without words, files are proposed.
        const words = values === undefined ? 'return' : `words='${values.join(' ')}'`;
        return `    '${name} --${option}') ${words} ;;`;
      }),
  );
  return `_plumbline() {
  local words= cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${[...commands.map(({ name }) => name), '--help', '--version'].join(' ')}'
  else
    case "\${COMP_WORDS[1]} $prev" in
${values.join('\n')}
    *)
      case "\${COMP_WORDS[1]}" in
${commands.map(({ name, options }) => `      ${name}) words='${[...shellsOf(name), ...flags(options)].join(' ')}' ;;`).join('\n')}
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _plumbline plumbline`;
}

const shellsOf = (name: string): readonly string[] => (name === 'completions' ? SHELLS : []);

function zsh(commands: readonly Completed[]): string {
  const list = commands.map(
    ({ name, summary }) => `    '${name}:${summary.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`,
  );
  const cases = commands.map((command) => {
    const specs = Object.entries(command.options).map(([name, { multiple, values }]) => {
      const value = values === undefined ? ':value:_files' : `:value:(${values.join(' ')})`;
      const what = `${multiple ? '*' : ''}--${name}[${described(command, name)}]`;
      return `'${what}${takesValue(command.options, name) ? value : ''}'`;
    });
    const rest = command.name === 'completions' ? `'1:shell:(${SHELLS.join(' ')})'` : "'*:argument:_files'";
    return `    ${command.name}) _arguments ${[...specs, "'--help[options and exit codes]'", rest].join(' \\\n      ')} ;;`;
  });
  return `#compdef plumbline
_plumbline() {
  local -a commands=(
${list.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
  esac
}
compdef _plumbline plumbline`;
}

function fish(commands: readonly Completed[]): string {
  const of = (name: string) => `complete -c plumbline -n '__fish_seen_subcommand_from ${name}'`;
  const lines = commands.flatMap((command) => [
    `complete -c plumbline -n __fish_use_subcommand -f -a ${command.name} -d '${command.summary.replaceAll("'", "\\'")}'`,
    ...shellsOf(command.name).map((shell) => `${of(command.name)} -f -a ${shell}`),
    ...Object.entries(command.options).map(([name, { values }]) => {
      const value = values === undefined ? ' -r' : ` -x -a '${values.join(' ')}'`;
      return `${of(command.name)} -l ${name} -d '${described(command, name)}'${takesValue(command.options, name) ? value : ''}`;
    }),
  ]);
  return lines.join('\n');
}
