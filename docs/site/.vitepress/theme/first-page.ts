import { Content } from 'vitepress';
import { VPHomeContent, VPHomeHero } from 'vitepress/theme-without-fonts';
import { defineComponent, h } from 'vue';

/** The theme's layout `home`, as the main part of its page. */
export const FirstPage = defineComponent(
  () => () => h('main', { class: 'first-page' }, [h(VPHomeHero), h(VPHomeContent, () => h(Content))]),
);
