import { createNode as create, registerRpcProxy as register } from 'plumbline-l2';
import { inPage } from './stand-ins.js';

/** `plumbline-l2` for snippets: endpoints of the documents are answered in this page, also for a node in a worker. */
export * from 'plumbline-l2';

export const createNode: typeof create = (options = {}) => create(inPage(options));

/** The script of the service worker lies beside the frame, and answers this frame alone. */
export const registerRpcProxy: typeof register = (options) =>
  register({ ...options, scriptUrl: `.${new URL(String(options.scriptUrl), location.href).pathname}` });
