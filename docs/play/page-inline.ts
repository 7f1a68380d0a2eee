import { createInlineNode as create } from 'plumbline-l2/inline';
import { inPage } from './stand-ins.js';

/** `plumbline-l2/inline` for snippets. */
export * from 'plumbline-l2/inline';

export const createInlineNode: typeof create = (options = {}) => create(inPage(options));
