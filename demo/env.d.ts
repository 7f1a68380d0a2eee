/** What vite puts in the place of these. */
interface ImportMeta {
  readonly env: { readonly PROD: boolean };
}

declare module '*.css' {}
