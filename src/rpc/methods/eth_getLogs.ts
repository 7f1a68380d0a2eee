import { formatLog } from '../answers/format.js';
import { findLogs } from '../filters/find-logs.js';
import { parseLogRequest } from '../parsing/parse-log-filter.js';
import type { Method } from '../protocol/method.js';
import type { RpcContext } from './context.js';

export const eth_getLogs: Method<RpcContext> = {
  name: 'eth_getLogs',
  async handle({ chain }, [filterParam], { signal }) {
    return (await findLogs(chain, parseLogRequest(filterParam), signal)).map(formatLog);
  },
};
