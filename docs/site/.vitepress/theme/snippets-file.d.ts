/** What the staging writes of all snippets; the configuration says where it is. */
declare module 'plumbline-site-snippets' {
  const snippets: readonly import('../../stage/runnable.js').Runnable[];
  export default snippets;
}
