import { defineComponent, h, ref } from 'vue';
import { PACKAGE, PUBLISHED } from '../../../../scripts/lib/published.mjs';

const COMMANDS = [
  ['npm', `npm install ${PACKAGE}`],
  ['pnpm', `pnpm add ${PACKAGE}`],
  ['Yarn', `yarn add ${PACKAGE}`],
  ['Bun', `bun add ${PACKAGE}`],
  // It adds no package from a file.
  ...(PUBLISHED.npm ? [['Deno', `deno add npm:${PACKAGE}`] as const] : []),
] as const;

/** How each package manager installs the package. */
export const InstallCommands = defineComponent(() => {
  const chosen = ref('npm');
  const choice = (name: string) =>
    h('label', [
      h('input', {
        type: 'radio',
        name: 'package-manager',
        value: name,
        checked: chosen.value === name,
        onChange: () => {
          chosen.value = name;
        },
      }),
      name,
    ]);
  return () =>
    h('fieldset', { class: 'install' }, [
      h(
        'legend',
        PUBLISHED.npm ? 'Package manager' : 'Package manager, with the file that `npm run pack` makes in a clone',
      ),
      h(
        'div',
        { class: 'install-choices' },
        COMMANDS.map(([name]) => choice(name)),
      ),
      h('pre', { tabindex: 0 }, h('code', COMMANDS.find(([name]) => name === chosen.value)![1])),
    ]);
});
