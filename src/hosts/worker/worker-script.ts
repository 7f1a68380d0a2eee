/**
 * Entry point `plumbline-l2/worker`: a script for a module Worker or a SharedWorker. `createNode` starts it, or takes one that runs it.
 * It exports nothing.
 */
export {};
