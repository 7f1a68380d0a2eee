/** What a page does today: it asks its endpoint with viem, and believes the answer. */
import { createPublicClient, http, toHex } from 'viem';
import type { Hex } from '../../src/primitives/hex.js';
import { leaveBalance } from './page-call.js';

const query = new URLSearchParams(location.search);
const url = query.get('chain') === 'layer-one' ? `${query.get('url')}/l1` : query.get('url')!;
const client = createPublicClient({ transport: http(url) });
const balance = await client.getBalance({ address: query.get('address') as Hex });
leaveBalance({ balance: toHex(balance), level: undefined });
