import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { formatLog } from '../answers/format.js';
import { parseLogRequest } from '../parsing/parse-log-filter.js';
import { parseQuantity } from '../parsing/parse-params.js';
import type { Method } from '../protocol/method.js';
import type { RpcContext } from './context.js';

/** Ids are compared as numbers: clients may have changed the case of the digits. */
const idOf = (value: unknown) => toQuantity(parseQuantity(value, 'filterId'));

export const eth_newFilter: Method<RpcContext> = {
  name: 'eth_newFilter',
  handle: ({ filters }, [filterParam]) => filters.addLogs(parseLogRequest(filterParam ?? {})),
};

export const eth_newBlockFilter: Method<RpcContext> = {
  name: 'eth_newBlockFilter',
  handle: ({ filters }) => filters.addBlocks(),
};

export const eth_newPendingTransactionFilter: Method<RpcContext> = {
  name: 'eth_newPendingTransactionFilter',
  handle: ({ filters }) => filters.addTransactions(),
};

/** Logs, or hashes of blocks or of transactions, since the last time. */
export const eth_getFilterChanges: Method<RpcContext> = {
  name: 'eth_getFilterChanges',
  async handle({ filters, chain }, [id], { signal }) {
    const changes = await filters.changes(idOf(id), chain, signal);
    return 'logs' in changes ? changes.logs.map(formatLog) : changes.hashes.map(bytesToHex);
  },
};

/** All logs of a filter of logs. */
export const eth_getFilterLogs: Method<RpcContext> = {
  name: 'eth_getFilterLogs',
  handle: async ({ filters, chain }, [id], { signal }) => {
    return (await filters.logs(idOf(id), chain, signal)).map(formatLog);
  },
};

/** Whether there was such a filter. */
export const eth_uninstallFilter: Method<RpcContext> = {
  name: 'eth_uninstallFilter',
  handle: ({ filters }, [id]) => filters.remove(idOf(id)),
};
