import { formatLog } from '../answers/format.js';
import { findLogs } from '../filters/find-logs.js';
import { parseLogRequest } from '../parsing/parse-log-filter.js';
import { defineMethod } from './context.js';

export const eth_getLogs = defineMethod('eth_getLogs', async (context, [filterParam], { signal }) => {
  const { chain, maxAnswerBytes: maxBytes } = context;
  return (await findLogs(chain, parseLogRequest(filterParam), { signal, maxBytes })).map(formatLog);
});
