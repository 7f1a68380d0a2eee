/** An error as a person can read it: what it is, what was said, and what to do. */
export interface Explained {
  readonly title: string;
  readonly message: string;
  readonly code: string;
  readonly advice: string;
  /** Something was checked and found false, which is the page working as it should. */
  readonly refused: boolean;
}

const PAY =
  'Lower the amount, choose another sender, or under “Fees” use “Give the sender plenty” to estimate all the same.';

/** Title and advice. */
type Entry = readonly [title: string, advice: string];

/** By the code of a PlumblineError, or the code or wording of a JSON-RPC error. The first that fits counts. */
const BY_CODE: Readonly<Record<string, Entry>> = {
  '3': ['The transaction would revert', 'Check the amount, the balance of the sender and the data of the call.'],
  '4900': ['The node has stopped', 'Start it again under “Node”.'],
  '-32601': [
    'This node does not have that method',
    'Check the name. The method table in the README says which kind of node answers it.',
  ],
  '-32602': ['A parameter cannot be used', 'Correct the parameter that is named above, or begin with an example.'],
  '-32007': ['This node cannot sign for the sender', 'Send from one of the ten dev accounts, or sign it elsewhere.'],
  '-32604': ['This method is off here', 'Methods that change a chain exist on the devnet only.'],
  '-32004': ['The sender cannot pay for it', PAY],
  '-39001': ['There is no such block', 'Ask for a block between 0 and the head.'],
  WORKER_FAILED: [
    'The node could not start in its worker',
    'Load the page again. If that does not help, the worker script cannot be fetched or this browser does not run it.',
  ],
  KERNEL_UNAVAILABLE: ['WebAssembly is not available', 'Allow WebAssembly for this page; the kernels need it.'],
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
  STORE_TAKEN_OVER: ['Another tab has taken over', 'This tab no longer writes; go on there, or load this page again.'],
  STORE_IN_USE: ['Another tab runs another node here', 'Close that tab, or start this node without keeping it.'],
  OUTCOME_UNKNOWN: ['It is not known whether that was done', 'The tab that did it ended. Look before you ask again.'],
  CHAIN_FILE_REFUSED: ['This file was refused', 'It is no exported chain, is damaged, or is of another chain.'],
  INVALID_PARAMETER: ['An option cannot be used', 'Correct it under “Node” and start again.'],
  PROOF_MALFORMED: [
    'This is not a linea_getProof answer',
    'Paste the “result” of the answer, whole, and choose the hash of its state.',
  ],
  INVALID_LENGTH: ['A value has another length', 'An address has 20 bytes; a hash, a root and a key have 32.'],
  INVALID_HEX: ['A value is not hex', 'Hex begins with 0x and has an even number of digits.'],
};

const BY_WORDING: readonly (readonly [pattern: RegExp, entry: Entry, refused?: true])[] = [
  [
    /^(?:Transaction|From|To|Data|Tokens|Ether|Account|Storage keys|Block|State root|Override \d+, [a-z]+): /,
    ['A field cannot be used', 'Correct this field, then try again. Nothing was asked.'],
  ],
  [/^The parameters /, ['The parameters cannot be read', 'Such as ["latest", false]; none are [].']],
  [/^What was pasted is not JSON/, ['This is not JSON', 'Paste the answer whole, from the first brace to the last.']],
  [/^What was pasted is an error/, ['This answer has no proof', 'Paste the answer to a request that succeeded.']],
  [
    /answer .*about .* was refused/i,
    [
      'An endpoint was caught',
      'Its answer does not fit its proof, so it was refused. Use another endpoint or add one.',
    ],
    true,
  ],
  [
    /endpoints agree, but \d+ must/i,
    ['The endpoints disagree', 'Too few of them say the same. Add an endpoint, or find out which one is wrong.'],
    true,
  ],
  [
    /trust level .* not reached/i,
    [
      'The required trust level is not reached',
      'Name endpoints of more origins, or choose a lower level under “Node”.',
    ],
  ],
  [
    /no endpoint could be reached|cannot be reached/i,
    ['No endpoint can be reached', 'Check the network and the addresses; what is kept can still be asked for.'],
  ],
  [
    / serves chain .*, not /,
    ['An endpoint is of another network', 'Give the address of the network that is chosen under “Node”.'],
  ],
  [
    /no endpoint serves/i,
    ['The endpoints refuse this page', 'Check the key, the plan and the address of each endpoint.'],
  ],
  [
    /limit the rate|rate limit/i,
    ['Too many requests', 'The endpoint limits how often it may be asked. Wait a moment.'],
  ],
  [
    /no endpoint gave a well-formed answer/i,
    ['The endpoints do not speak JSON-RPC', 'Check that the addresses are RPC addresses.'],
  ],
  [
    /BLOCK_MISSING_IN_CHAIN/,
    [
      'This block is not provable',
      'Layer 1 holds a root only of blocks that a finalization ended with. Ask for “finalized”.',
    ],
  ],
  [/the worker has failed|the node was closed/i, ['The node has stopped', 'Start it again under “Node”.']],
  [
    /too much for a preview/i,
    [
      'This is too much to preview',
      'Preview fewer calls at a time. What a part of them does says little of the whole.',
    ],
  ],
  [/calldata of transaction is greater/i, ['The data is too large', 'The network takes a limited size of calldata.']],
  [/up-?front cost|insufficient funds/i, ['The sender cannot pay for it', PAY]],
  [
    /invalid opcode|invalid jump|stack underflow/i,
    ['The call would fail', 'This is no code for the EVM: check the data.'],
  ],
  [/out of gas/i, ['The call would run out of gas', 'Raise its gas limit, or leave it out.']],
];

const UNKNOWN: Entry = [
  'The node answered with an error',
  'The Log has the request with its parameters. Try it again, or with other values.',
];

/** What was said, without what a node's own words are wrapped in on the way through JSON-RPC. */
export function messageOf(error: unknown): string {
  const { message } = fieldsOf(error);
  const said = typeof message === 'string' && message !== '' ? message : String(error);
  return said.replace(/^Internal error \((.+)\)$/s, '$1');
}

export function explain(error: unknown): Explained {
  const { code, data } = fieldsOf(error);
  const text = messageOf(error);
  const name = code === undefined ? '' : String(code);
  const worded = BY_WORDING.find(([pattern]) => pattern.test(text));
  const [title, advice] = worded?.[1] ?? BY_CODE[name] ?? UNKNOWN;
  // A text beside the message is part of it; hex is decoded apart (reverts.ts).
  const message = typeof data === 'string' && !data.startsWith('0x') ? `${text}: ${data}` : text;
  return { title, advice, message, code: name, refused: worded?.[2] === true };
}

/** What an error has, whatever was thrown. */
export function fieldsOf(error: unknown): Record<string, unknown> {
  return (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
}
