import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { findLogs } from '../filter-registry.js';
import { OF_THE_NODE, READS } from '../method-rows.js';
import { parseLogRequest } from '../parse-log-filter.js';
import { parseQuantity } from '../parse-params.js';
import { formatLog } from '../schema/format.js';
import type { LogFilterJson, LogJson } from '../schema/json.js';
import { defineMethod } from './context.js';

/** Ids are compared as numbers: clients may change the case of the digits. */
const idOf = (value: unknown) => toQuantity(parseQuantity(value, 'filterId'));

export const eth_newFilter = defineMethod<[filter?: LogFilterJson], Hex>(
  'eth_newFilter',
  OF_THE_NODE,
  async ({ filters }, [filterParam], call) =>
    (await filters()).addLogs(parseLogRequest(filterParam ?? {}), call.client, call),
);

export const eth_newBlockFilter = defineMethod<[], Hex>(
  'eth_newBlockFilter',
  OF_THE_NODE,
  async ({ filters }, _, call) => (await filters()).addBlocks(call.client, call),
);

export const eth_newPendingTransactionFilter = defineMethod<[], Hex>(
  'eth_newPendingTransactionFilter',
  OF_THE_NODE,
  async ({ filters }, _, { client }) => (await filters()).addTransactions(client),
);

/** Logs, or hashes of blocks or of transactions, since the last request. */
export const eth_getFilterChanges = defineMethod<[filter: Hex], readonly Hex[] | readonly LogJson[]>(
  'eth_getFilterChanges',
  READS,
  async ({ filters }, [id], call) => {
    const changes = await (await filters()).changes(idOf(id), call);
    return 'logs' in changes ? changes.logs.map(formatLog) : changes.hashes.map(bytesToHex);
  },
);

/** All logs of a filter of logs. */
export const eth_getFilterLogs = defineMethod<[filter: Hex], readonly LogJson[]>(
  'eth_getFilterLogs',
  READS,
  async ({ filters }, [id], call) => {
    return (await (await filters()).logs(idOf(id), call)).map(formatLog);
  },
);

/** Whether there was such a filter. */
export const eth_uninstallFilter = defineMethod<[filter: Hex], boolean>(
  'eth_uninstallFilter',
  OF_THE_NODE,
  async ({ filters }, [id]) => (await filters()).remove(idOf(id)),
);

export const eth_getLogs = defineMethod<[filter: LogFilterJson], readonly LogJson[]>(
  'eth_getLogs',
  READS,
  async (context, [filterParam], call) => {
    const { chain, maxAnswerBytes } = context;
    return (await findLogs(chain, parseLogRequest(filterParam), { ...call, maxAnswerBytes })).map(formatLog);
  },
);
