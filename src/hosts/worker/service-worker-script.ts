/**
 * Door `plumbline/service-worker`: a classic script for `registerRpcProxy`, to be served from the page's origin together with
 * those beside it (`plumbline/service-worker-*`). It exports nothing.
 */
export {};
