/**
 * Entry point `plumbline/service-worker`: a classic script for `registerRpcProxy`. Serve it from the page's origin, together with
 * the files beside it (`plumbline/service-worker-*`). It exports nothing.
 */
export {};
