import { type Theme, withBase } from 'vitepress';
// With the fonts of the system.
import DefaultTheme from 'vitepress/theme-without-fonts';
import { onMounted } from 'vue';
import { FirstPage } from './first-page.js';
import { InstallCommands } from './install-commands.js';
import { PlayGround } from './play-ground.js';
import { RunnableCode } from './runnable-code.js';
import { showTypes } from './types-on-hover.js';
import './style.css';

export default {
  extends: DefaultTheme,
  setup() {
    // Where there is none, or none is allowed, the site is read with a network only.
    onMounted(() => void navigator.serviceWorker?.register(withBase('/sw.js')).catch(() => {}));
    onMounted(showTypes);
  },
  enhanceApp({ app }) {
    app.component('home', FirstPage);
    app.component('InstallCommands', InstallCommands);
    app.component('PlayGround', PlayGround);
    app.component('RunnableCode', RunnableCode);
  },
} satisfies Theme;
