import type { ErrorCode } from 'plumbline-l2';

/** An error as a person can read it: what it is, what was said, and what to do. */
export interface Explained {
  readonly title: string;
  readonly message: string;
  readonly code: string;
  readonly advice: string;
  /** Something was checked and found false, which is the page working as it should. */
  readonly refused: boolean;
}

/** Errors of this page itself: of a field, of parameters, of what was pasted, of layer 1 that it reads itself. */
export type PageCode = 'FIELD' | 'PARAMETERS' | 'NOT_JSON' | 'NO_PROOF' | 'LAYER_ONE' | 'PAGE';

/** An error that this page finds before it asks a node, or beside it. */
export class PageError extends Error {
  constructor(
    readonly code: PageCode,
    message: string,
  ) {
    super(message);
  }
}

/** The error of a field. @param field - its label */
export function fieldError(field: string, reason: string): PageError {
  return new PageError('FIELD', `${field}: ${reason}`);
}

/** Title and advice. */
type Entry = readonly [title: string, advice: string];

const PAY: Entry = [
  'The sender cannot pay for it',
  'Lower the amount, choose another sender, or under “Fees” use “Give the sender plenty” to estimate all the same.',
];
const PARAMETER: Entry = [
  'A parameter cannot be used',
  'Correct what is named above, or begin with an example. Options are corrected under “Node”.',
];
const HEX: Entry = ['A value is not hex', 'Hex begins with 0x and has an even number of digits.'];
const BUG: Entry = ['The node has failed', 'This is a defect of the node. The Log has the request; try it again.'];
const STOPPED: Entry = ['The node has stopped', 'Start it again under “Node”.'];
const DICTIONARY: Entry = ['The dictionary cannot be used', 'Choose the one of the network under “Node”, or none.'];
const MATERIAL: Entry = ['This cannot be checked', 'Give the whole answer, unchanged, and what belongs to it.'];
const SEEN: Entry = ['It does not exist any more', 'Ask for a new one.'];
const MANY: Entry = ['Too many at the same time', 'End what is not used any more.'];
const LIMIT: Entry = ['Too many requests', 'The endpoint limits how often it may be asked. Wait a moment.'];

/** test/unit/demo-explain.test.ts asks for words of every code. */
const BY_CODE: Readonly<Record<PageCode, Entry> & Partial<Record<ErrorCode, Entry>>> = {
  FIELD: ['A field cannot be used', 'Correct this field, then try again. Nothing was asked.'],
  PARAMETERS: ['The parameters cannot be read', 'Such as ["latest", false]; none are [].'],
  NOT_JSON: ['This is not JSON', 'Paste the answer whole, from the first brace to the last.'],
  NO_PROOF: ['This answer has no proof', 'Paste the answer to a request that succeeded.'],
  LAYER_ONE: ['Layer 1 cannot be read', 'Check its endpoint under “Node”.'],
  PAGE: ['This cannot be done now', 'Do what is said above, then try again.'],
  INVALID_HEX: HEX,
  INVALID_QUANTITY: HEX,
  INVALID_LENGTH: ['A value has another length', 'An address has 20 bytes; a hash, a root and a key have 32.'],
  INVALID_PARAMETER: PARAMETER,
  OUT_OF_RANGE: PARAMETER,
  KERNEL_UNAVAILABLE: [
    'WebAssembly is not available',
    'Allow WebAssembly for this page, by its policy: ’wasm-unsafe-eval’. The kernels need it.',
  ],
  KERNEL_OUT_OF_MEMORY: ['There is no more memory', 'Ask for less at a time, or close other tabs of this page.'],
  HASH_INPUT_LENGTH: MATERIAL,
  HASH_INPUT_NOT_CANONICAL: MATERIAL,
  CALLDATA_TOO_LARGE: ['The data is too large', 'The network takes a limited size of calldata.'],
  DICTIONARY_LENGTH_MISMATCH: DICTIONARY,
  DICTIONARY_CHECKSUM_MISMATCH: DICTIONARY,
  DICTIONARY_UNREACHABLE: DICTIONARY,
  PROOF_MALFORMED: [
    'This is not the answer that was asked for',
    'If it was pasted: paste the “result” of the answer, whole. If an endpoint gave it: use another endpoint.',
  ],
  GAS_IS_ZERO: PARAMETER,
  TRANSACTION_TYPE_UNSUPPORTED: ['This type of transaction is not taken', 'Send another type.'],
  MARGIN_INVALID: PARAMETER,
  STATE_MISMATCH: BUG,
  STATE_NOT_HELD: ['The state of this block is not held', 'Ask for a newer block.'],
  TRIE_LOG_MALFORMED: MATERIAL,
  TRACE_MALFORMED: MATERIAL,
  WITNESS_MISSING: MATERIAL,
  WITNESS_CONFLICT: MATERIAL,
  BLOCK_NOT_FOUND: ['There is no such block', 'Ask for a block between 0 and the head.'],
  BLOCK_NOT_PROVABLE: [
    'This block is not provable',
    'Layer 1 holds a root only of blocks that a finalization ended with. Ask for “finalized”.',
  ],
  BLOCK_PRUNED: ['The data of this block was deleted', 'Ask for a newer block.'],
  TRIE_LOG_MISSING: ['A trie log is missing', 'Name another source of trie logs under “Node”.'],
  REPLICA_DIVERGED: ['The sources contradict each other', 'Name other sources of trie logs under “Node”.'],
  BLOCK_INVALID: ['A block of the file is invalid', 'Nothing was changed from that block on. Choose another file.'],
  TRANSACTION_REJECTED: ['The transaction is refused', 'What is said above names what to change.'],
  TRANSACTION_NOT_FOUND: [
    'There is no such transaction',
    'Check the hash. It may still wait, or be of another network.',
  ],
  TRANSACTION_PENDING: ['No block has it yet', 'Ask for its receipt later. Do not send it again.'],
  BLOCK_INCOMPLETE: ['This block lacks what is needed', 'Ask about another block.'],
  EXECUTION_REVERTED: [
    'The transaction would revert',
    'Check the amount, the balance of the sender and the data of the call.',
  ],
  EXECUTION_FAILED: ['The call would fail', 'This is no code for the EVM, or not with this data: check the data.'],
  MODULE_LIMIT_EXCEEDED: ['This is too much for one block', 'Do less in one transaction.'],
  INSUFFICIENT_FUNDS: PAY,
  UPFRONT_COST_EXCEEDS_BALANCE: PAY,
  GAS_ALLOWANCE_EXCEEDED: ['The call would run out of gas', 'Raise its gas limit, or leave it out.'],
  GAS_BUDGET_EXCEEDED: ['This takes too much work', 'Ask for less at a time, or wait a minute.'],
  SIMULATION_REFUSED: ['The simulation is refused', 'What is said above names what to change.'],
  REQUEST_MALFORMED: ['This is not a request', 'It needs a method and a list of parameters.'],
  REQUEST_TOO_LARGE: ['The request is too large', 'Send less at a time.'],
  METHOD_NOT_FOUND: [
    'This node does not have that method',
    'Check the name. docs/methods.md says which kind of node answers it.',
  ],
  METHOD_NOT_ENABLED: ['This method is off here', 'Methods that change a chain exist on the devnet only.'],
  WALLET_REFUSED: ['The wallet’s method is refused', 'What is said above names why.'],
  REQUEST_TIMED_OUT: ['It took too long', 'Ask for less, or try it again.'],
  ABORTED: ['It was stopped', 'Ask again if you still want to know.'],
  ANSWER_TOO_LARGE: ['The answer is too large', 'Ask for less at a time.'],
  PREVIEW_TOO_LARGE: [
    'This is too much to preview',
    'Preview fewer calls at a time. What a part of them does says little of the whole.',
  ],
  FILTER_NOT_FOUND: SEEN,
  FILTER_LIMIT: MANY,
  SUBSCRIPTION_NOT_FOUND: SEEN,
  SUBSCRIPTION_LIMIT: MANY,
  UPSTREAM_CONFIGURATION: [
    'The endpoints refuse this page',
    'Check the key, the plan and the address of each endpoint.',
  ],
  UPSTREAM_RATE_LIMITED: LIMIT,
  UPSTREAM_MALFORMED: ['The endpoints do not speak JSON-RPC', 'Check that the addresses are RPC addresses.'],
  UPSTREAM_UNAVAILABLE: [
    'No endpoint can be reached',
    'Check the network and the addresses; what is kept can still be asked for.',
  ],
  UPSTREAM_ERROR: [
    'An endpoint answered with an error',
    'Its words may say why. Another endpoint may have the answer.',
  ],
  UPSTREAM_WRONG_CHAIN: [
    'An endpoint is of another network',
    'Give the address of the network that is chosen under “Node”.',
  ],
  UPSTREAM_DISAGREEMENT: [
    'The endpoints disagree',
    'Too few of them say the same. Add an endpoint, or find out which one is wrong.',
  ],
  TRUST_LEVEL_NOT_REACHED: [
    'The required trust level is not reached',
    'Name endpoints of more origins, or choose a lower level under “Node”.',
  ],
  ANSWER_REFUSED: [
    'An endpoint was caught',
    'Its answer does not fit its proof, so it was refused. Use another endpoint or add one.',
  ],
  HEADER_UNSUPPORTED: ['A block is newer than this page', 'Load a newer version of it.'],
  FORK_UNSUPPORTED: ['Layer 1 is newer than this page', 'Load a newer version of it.'],
  STATE_ROOT_MISSING: [
    'Layer 1 has the hash of this block, and no root for a zk proof',
    'Use eth_getProof, or name an older block.',
  ],
  FORK_SCHEDULE: ['Layer 1 changed its plan after this page was made', 'Load a newer version of it.'],
  LAYER_ONE_CONTRADICTS: ['Layer 1 contradicts itself', 'Give another trusted block of it under “Node”.'],
  CHECKPOINT_NEEDED: ['A trusted block of layer 1 is needed', 'Give its root under “Node”.'],
  LAYER_ONE_UNUSABLE: ['Layer 1 does not have what is needed', 'Check its endpoints under “Node”.'],
  WORKER_FAILED: [
    'The node could not start in its worker',
    'Load the page again. If that does not help, the worker script cannot be fetched or this browser does not run it.',
  ],
  NODE_CLOSED: STOPPED,
  STORE_UNAVAILABLE: [
    'This browser keeps nothing for the page',
    'Start the node without “Keep it in this browser”, or leave the private window.',
  ],
  STORE_TOO_NEW: [
    'A newer version wrote what is stored',
    'Load the page again without its cache, or delete what is kept.',
  ],
  STORE_CORRUPT: ['What is stored is damaged', 'Delete what is kept under “Node” and start again.'],
  STORE_QUOTA_EXCEEDED: [
    'The browser gives no more space',
    'Delete what is kept under “Node”, or free space on the device.',
  ],
  CHAIN_FILE_REFUSED: ['This file was refused', 'It is no exported chain, is damaged, or is of another chain.'],
  STORE_TAKEN_OVER: ['Another tab has taken over', 'This tab no longer writes; go on there, or load this page again.'],
  STORE_IN_USE: ['Another tab runs another node here', 'Close that tab, or start this node without keeping it.'],
  OUTCOME_UNKNOWN: ['It is not known whether that was done', 'The tab that did it ended. Look before you ask again.'],
  INTERNAL: BUG,
};

/** Why a transaction is refused or a call fails, where there is more to say than for the others. */
const BY_DETAIL: Readonly<Record<string, Entry>> = {
  'TRANSACTION_REJECTED sender': [
    'This node cannot sign for the sender',
    'Send from one of the ten dev accounts, or sign it elsewhere.',
  ],
  'TRANSACTION_REJECTED funds': PAY,
  'EXECUTION_FAILED out of gas': ['The call would run out of gas', 'Raise its gas limit, or leave it out.'],
};

/** By the number of an error that has no code of plumbline, such as one of another node. */
const BY_NUMBER: Readonly<Record<string, ErrorCode>> = {
  '3': 'EXECUTION_REVERTED',
  '-32601': 'METHOD_NOT_FOUND',
  '-32602': 'INVALID_PARAMETER',
  '-32604': 'METHOD_NOT_ENABLED',
  '-39001': 'BLOCK_NOT_FOUND',
  '-32004': 'INSUFFICIENT_FUNDS',
  '-32005': 'UPSTREAM_RATE_LIMITED',
};

const UNKNOWN: Entry = [
  'The node answered with an error',
  'The Log has the request with its parameters. Try it again, or with other values.',
];

/** What was said. */
export function messageOf(error: unknown): string {
  const { message } = fieldsOf(error);
  return typeof message === 'string' && message !== '' ? message : String(error);
}

/** The code of plumbline or of this page, and its details; of an error of `request`, of a page, or as it came over HTTP. */
export function reasonOf(error: unknown): {
  readonly reason: string | undefined;
  readonly details: Record<string, unknown>;
} {
  const { code, reason, details, data } = fieldsOf(error);
  if (typeof reason === 'string') return { reason, details: fieldsOf(details) };
  if (typeof code === 'string') return { reason: code, details: fieldsOf(details) };
  const told = fieldsOf(data);
  return typeof told.reason === 'string'
    ? { reason: told.reason, details: fieldsOf(told.details) }
    : { reason: BY_NUMBER[String(code)], details: {} };
}

export function explain(error: unknown): Explained {
  const { code, data } = fieldsOf(error);
  const { reason = '', details } = reasonOf(error);
  const entry = (BY_CODE as Readonly<Record<string, Entry>>)[reason] ?? UNKNOWN;
  const [title, advice] = BY_DETAIL[`${reason} ${details.rule ?? details.reason}`] ?? entry;
  const text = messageOf(error);
  // A text beside the message is part of it; hex is decoded apart (reverts.ts).
  const message = typeof data === 'string' && !data.startsWith('0x') ? `${text}: ${data}` : text;
  const name = code === undefined ? '' : String(code);
  return { title, advice, message, code: name, refused: ['ANSWER_REFUSED', 'UPSTREAM_DISAGREEMENT'].includes(reason) };
}

/** What an error has, whatever was thrown. */
export function fieldsOf(error: unknown): Record<string, unknown> {
  return (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
}
