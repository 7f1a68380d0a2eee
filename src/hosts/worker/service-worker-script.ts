/**
 * Entry point `plumbline-l2/service-worker`: a classic script for `registerRpcProxy`. Serve it from the page's origin, together with
 * the files beside it (`plumbline-l2/service-worker-*`). It exports nothing.
 */
export {};
