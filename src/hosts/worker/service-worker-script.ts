/**
 * Entry point `plumbline-l2/service-worker`: a classic script for `registerRpcProxy`, to be served from the page's origin
 * together with those beside it (`plumbline-l2/service-worker-*`). It exports nothing.
 */
export {};
