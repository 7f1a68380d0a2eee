import { installErrorTransfer } from '../../src/hosts/worker/worker-api.js';
import { CommonNode, servePort, type WorkerPort } from '../../src/hosts/worker/worker-port.js';
import { throwingNode } from './every-error.js';

installErrorTransfer();
servePort(self as unknown as WorkerPort, new CommonNode(async () => throwingNode()), Promise.resolve(undefined));
