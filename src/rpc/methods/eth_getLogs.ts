import { formatLog } from '../answers/format.js';
import { findLogs } from '../filters/find-logs.js';
import { parseLogRequest } from '../parsing/parse-log-filter.js';
import { READS } from '../protocol/method-rows.js';
import type { LogFilterJson, LogJson } from '../schema/json.js';
import { defineMethod } from './context.js';

export const eth_getLogs = defineMethod<[filter: LogFilterJson], readonly LogJson[]>(
  'eth_getLogs',
  READS,
  async (context, [filterParam], call) => {
    const { chain, maxAnswerBytes } = context;
    return (await findLogs(chain, parseLogRequest(filterParam), { ...call, maxAnswerBytes })).map(formatLog);
  },
);
