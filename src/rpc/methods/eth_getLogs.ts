import type { RpcContext } from '../context.js';
import { findLogs } from '../filters/find-logs.js';
import { formatLog } from '../format.js';
import type { Method } from '../method.js';
import { parseLogRequest } from '../parsing/parse-log-filter.js';

export const eth_getLogs: Method<RpcContext> = {
  name: 'eth_getLogs',
  async handle({ chain }, [filterParam], { signal }) {
    return (await findLogs(chain, parseLogRequest(filterParam), signal)).map(formatLog);
  },
};
