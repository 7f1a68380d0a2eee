/**
 * Entry point `plumbline-l2/worker`: a script for a module Worker or a SharedWorker, which `createNode` starts or is given. It
 * exports nothing.
 */
export {};
