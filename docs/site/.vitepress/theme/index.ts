import type { Theme } from 'vitepress';
// With the fonts of the system.
import DefaultTheme from 'vitepress/theme-without-fonts';
import { InstallCommands } from './install-commands.js';
import { PlayGround } from './play-ground.js';
import { RunnableCode } from './runnable-code.js';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('InstallCommands', InstallCommands);
    app.component('PlayGround', PlayGround);
    app.component('RunnableCode', RunnableCode);
  },
} satisfies Theme;
