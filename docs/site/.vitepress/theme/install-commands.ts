import { defineComponent, h, ref } from 'vue';

const COMMANDS = [
  ['npm', 'npm install plumbline-l2'],
  ['pnpm', 'pnpm add plumbline-l2'],
  ['Yarn', 'yarn add plumbline-l2'],
  ['Bun', 'bun add plumbline-l2'],
  ['Deno', 'deno add npm:plumbline-l2'],
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
      h('legend', 'Package manager'),
      h(
        'div',
        { class: 'install-choices' },
        COMMANDS.map(([name]) => choice(name)),
      ),
      h('pre', { tabindex: 0 }, h('code', COMMANDS.find(([name]) => name === chosen.value)![1])),
    ]);
});
