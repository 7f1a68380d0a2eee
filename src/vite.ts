/**
 * Entry point `plumbline-l2/vite`: a plugin for Vite 5 and newer. It does not import Vite. The types of the plugin fit Vite's.
 *
 * @module plumbline-l2/vite
 *
 * @example
 * export default defineConfig({ plugins: [plumbline({ kind: 'light', connect: ['https://first.example'] })] });
 */

/** Options of the plugin. */
export interface PlumblinePluginOptions {
  /** The kind of node in the page. The page begins to load its scripts early: all that the first estimate needs. */
  readonly kind: 'devnet' | 'light';
  /**
   * The origins of the endpoints. With this option, the page gets a content security policy: it allows scripts and workers of the
   * page's own origin, and requests to these origins. Without it, the page gets no policy. If the page already has a policy, the
   * plugin does not change it.
   */
  readonly connect?: readonly string[];
}

/** A tag that Vite puts into a page. */
export interface HtmlTag {
  readonly tag: string;
  readonly attrs: Record<string, string>;
  readonly injectTo: 'head' | 'head-prepend';
}

/** A plugin for Vite's configuration. */
export interface PlumblinePlugin {
  readonly name: string;
  config(): object;
  configResolved(config: { readonly base: string; readonly command: string }): void;
  readonly transformIndexHtml: {
    readonly order: 'post';
    handler(html: string, context: { readonly path: string }): HtmlTag[];
  };
}

/** A file of a worker, as bundlers give it to plugins. */
interface WorkerChunk {
  readonly fileName: string;
  readonly moduleIds?: readonly string[];
  readonly imports?: readonly string[];
}

/** Chunks that a worker loads up to its first estimate, from `dist/hosts`. The build writes them here (scripts/bundle.mjs). */
const FIRST_ESTIMATE = JSON.parse('{"devnet":[],"light":[]}') as Readonly<
  Record<'devnet' | 'light', readonly string[]>
>;

/**
 * The content security policy that plumbline needs in a page (docs/browsers.md). It says nothing about styles, pictures and frames.
 *
 * @param connect - origins of the endpoints
 *
 * @example
 * ```ts
 * import { contentSecurityPolicy } from 'plumbline-l2/vite';
 *
 * contentSecurityPolicy(['https://first.example']).split('; ')[2]; // => "connect-src 'self' https://first.example"
 * ```
 */
export function contentSecurityPolicy(connect: readonly string[] = []): string {
  return [
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    ["connect-src 'self'", ...connect].join(' '),
    "object-src 'none'",
    "base-uri 'none'",
  ].join('; ');
}

const OWN_POLICY = /<meta[^>]+http-equiv=["']?content-security-policy/i;

/**
 * Sets Vite up for a page with a node: workers become modules in chunks, and `vite dev` does not bundle the package. A built page
 * loads the scripts of the first estimate early (`modulepreload`), and has the policy that plumbline needs.
 *
 * @example
 * ```ts
 * import { plumbline } from 'plumbline-l2/vite';
 *
 * const { config } = plumbline({ kind: 'devnet' });
 * JSON.stringify(config()).includes('"format":"es"'); // => true
 * ```
 */
export function plumbline({ kind, connect }: PlumblinePluginOptions): PlumblinePlugin {
  /** What was made of the modules of workers: files by module, and the files that each imports. */
  const files = new Map<string, string>();
  const imports = new Map<string, readonly string[]>();
  const workers = {
    name: 'plumbline:workers',
    generateBundle(_: unknown, bundle: Record<string, WorkerChunk>): void {
      for (const chunk of Object.values(bundle)) {
        imports.set(chunk.fileName, chunk.imports ?? []);
        for (const id of chunk.moduleIds ?? []) files.set(id.replaceAll('\\', '/'), chunk.fileName);
      }
    },
  };
  /** Files up to the first estimate, in the order in which they are imported. */
  function wanted(): Set<string> {
    const ends = FIRST_ESTIMATE[kind].map((file) => `/plumbline-l2/dist/hosts/${file}`);
    const found = new Set([...files].filter(([id]) => ends.some((end) => id.endsWith(end))).map(([, file]) => file));
    // A bundler may put what chunks share into others. A set is gone through to its end, also to what is added meanwhile.
    for (const file of found) for (const imported of imports.get(file) ?? []) found.add(imported);
    return found;
  }
  let base = '/';
  let isBuild = false;
  return {
    name: 'plumbline',
    config: () => ({
      worker: { format: 'es', plugins: () => [workers] },
      optimizeDeps: { exclude: ['plumbline-l2'] },
    }),
    configResolved(config) {
      base = config.base;
      isBuild = config.command === 'build';
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { path }) {
        if (!isBuild) return [];
        const up = '../'.repeat(path.split('/').length - 2) || './';
        const from = base === '' || base === './' ? up : base;
        const policy: HtmlTag = {
          tag: 'meta',
          attrs: { 'http-equiv': 'Content-Security-Policy', content: contentSecurityPolicy(connect) },
          injectTo: 'head-prepend',
        };
        return [
          ...(connect === undefined || OWN_POLICY.test(html) ? [] : [policy]),
          ...[...wanted()].map(
            (file): HtmlTag => ({
              tag: 'link',
              attrs: { rel: 'modulepreload', href: `${from}${file}`, crossorigin: '' },
              injectTo: 'head',
            }),
          ),
        ];
      },
    },
  };
}
