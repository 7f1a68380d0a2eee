import { parentOf } from '../../chain/names.js';
import { invalidParameter, PlumblineError } from '../../errors.js';
import type { Hex } from '../../primitives/hex.js';
import type { AnswerReport } from '../../rpc/answer-report.js';
import type { NameResolution } from '../../rpc/schema/answers.js';
import type { BlockResultJson, LogJson, ReceiptJson, TransactionJson } from '../../rpc/schema/json.js';
import type { PlumblineNode } from '../provider/node-handle.js';
import type { UntypedMethod } from '../provider/provider.js';
import { type Arguments, type Command, EXIT, readArguments } from './arguments.js';
import { blockParameter, CALL_HELP, CALL_OPTIONS, readCall } from './call-options.js';
import { ENDPOINT_EXIT, ENDPOINT_HELP, ENDPOINT_OPTIONS, withNode } from './endpoints.js';
import { exactEtherText, oneLine, priceText, printErrors, printJson, printLines } from './lines.js';

/*
 * Commands that ask a light node for one thing and print it with what it rests on: the class of the answer, its level and its block.
 */

/** The result of a request, and what it rests on. */
interface Answered<Result> {
  readonly result: Result;
  readonly answer: AnswerReport;
}

async function ask<Result>(node: PlumblineNode, method: string, params: readonly unknown[]): Promise<Answered<Result>> {
  let answer: AnswerReport | undefined;
  const hear = (report: AnswerReport) => {
    answer = report;
  };
  node.on('answer', hear);
  try {
    const result = (await node.request<UntypedMethod>({ method, params })) as Result;
    if (answer !== undefined) return { result, answer };
  } finally {
    node.removeListener('answer', hear);
  }
  throw new PlumblineError('INTERNAL', 'an answer came without its report', { reason: 'answer' });
}

/** What an answer rests on, as one line. */
function restsOn({ class: kind, level, blocks, zkBlock, layerOne }: AnswerReport): string {
  if (kind === 'forwarded') return 'forwarded     from an endpoint, not checked';
  const numbers = blocks.map(({ number }) => number).concat(zkBlock ?? []);
  const named =
    numbers.length === 0 ? 'of the node itself' : `block${numbers.length === 1 ? '' : 's'} ${numbers.join(', ')}`;
  const { behind } = layerOne ?? {};
  return `${kind.padEnd(14)}${named}${level === undefined ? '' : `, level ${level}`}${
    behind === undefined ? '' : `; the newest attested block is ${behind} slots old`
  }`;
}

/** Prints text lines and what the answer rests on, or one JSON object. */
function print(json: boolean, answered: Answered<unknown>, lines: readonly string[], more: object = {}): void {
  if (json) printJson({ ...more, ...answered });
  else printLines(...lines, restsOn(answered.answer));
}

/**
 * Prints that there is nothing.
 *
 * @returns 1 where blocks show it, 2 where it is the word of endpoints
 */
function printNothing(json: boolean, answered: Answered<null>, what: string): number {
  const isChecked = answered.answer.class !== 'forwarded';
  if (json) printJson(answered);
  else printErrors(`${isChecked ? 'there is' : 'the endpoints know'} no ${what}`, restsOn(answered.answer));
  return isChecked ? EXIT.failed : EXIT.usage;
}

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const HASH = /^0x[0-9a-f]{64}$/i;

/** An account as it was given: its address, and the name if it was one. */
interface Account {
  readonly address: Hex;
  readonly name?: NameResolution;
}

/** @throws PlumblineError `INVALID_PARAMETER` for what is neither an address nor a name */
function requireAccount(argument: string, given: string): string {
  if (ADDRESS.test(given) || (!given.startsWith('0x') && parentOf(given) !== '')) return given;
  throw invalidParameter(argument, 'must be an address of 20 bytes, or a name of ENS such as alice.eth');
}

type Nameless = Exclude<NameResolution, { status: 'resolved' }>;

/** Exit codes of names without an address: a server's word is not checked. */
const EXIT_OF_NAME: Readonly<Record<Nameless['status'], number>> = {
  noResolver: EXIT.failed,
  noRecord: EXIT.failed,
  failed: EXIT.failed,
  notProved: EXIT.usage,
};

/** @returns a name without an address, which is printed then, as it is */
async function accountOf(
  node: PlumblineNode,
  given: string,
  block: string,
  json: boolean,
): Promise<Account | Nameless> {
  if (ADDRESS.test(given)) return { address: given as Hex };
  const name = await node.resolveName(given, { block: block as Hex });
  if (name.status === 'resolved') return { address: name.address, name };
  if (json) printJson({ outcome: name.status === 'notProved' ? 'unknown' : 'refused', name });
  else printErrors(`${oneLine(name.name)}: ${whyNot(name)}`, nameLine(name));
  return name;
}

function whyNot(name: Nameless): string {
  switch (name.status) {
    case 'noResolver':
      return 'the name has no resolver';
    case 'noRecord':
      return `the resolver ${name.resolver} has no address of it`;
    case 'notProved':
      return `the resolver ${name.resolver} asks for a server (CCIP-Read), whose word nothing proves; no address is taken from it`;
    case 'failed':
      return `the contract ${name.contract} gives no address: ${name.reason}`;
  }
}

const nameLine = ({ trust: { block, level } }: NameResolution) =>
  `name          as of block ${block.number}, computed, level ${level}`;

const accountLines = ({ address, name }: Account) => [
  `address       ${address}`,
  ...(name === undefined ? [] : [`of            ${oneLine(name.name)}`, nameLine(name)]),
];

/** Exit code where a name has no address. */
const NAME_EXIT = 'or the name has no address';

const BLOCK = { block: { type: 'string' } } as const;
type Values = Arguments<typeof BLOCK & typeof ENDPOINT_OPTIONS>['values'];

const BALANCE_OPTIONS = { ...BLOCK, ...ENDPOINT_OPTIONS } as const;

/** `plumbline balance`: ether of an account. */
export const balanceCommand: Command = {
  help: `plumbline balance ADDRESS|NAME [options]

  ADDRESS|NAME          account, 20 bytes; or an ENS name, on a network that has ENS (ethereum, sepolia)
  --block N             state to read: a number, a hash or a tag (default: the newest)

${ENDPOINT_HELP}

Exit codes: 0 done, 1 refused: no endpoint has a proof that holds, ${NAME_EXIT}, ${ENDPOINT_EXIT}`,

  options: BALANCE_OPTIONS,

  async run(args) {
    const { values, positionals } = readArguments(args, BALANCE_OPTIONS, { count: 1, name: 'ADDRESS or NAME' });
    const given = requireAccount('ADDRESS', positionals[0]!);
    return withAccount(values, given, async (node, account, block) => {
      const answered = await ask<Hex>(node, 'eth_getBalance', [account.address, block]);
      const wei = BigInt(answered.result);
      const lines = [...accountLines(account), `balance       ${exactEtherText(wei)}`];
      print(values.json, answered, lines, { ...account, wei: String(wei) });
      return EXIT.ok;
    });
  },
};

/** As `withNode`, for a command about an account. A name without an address ends it. */
function withAccount(
  values: Values,
  given: string,
  use: (node: PlumblineNode, account: Account, block: string) => Promise<number>,
): Promise<number> {
  return withNode(values, 'none', async (node) => {
    const block = blockParameter(values.block);
    const account = await accountOf(node, given, block, values.json);
    return 'address' in account ? use(node, account, block) : EXIT_OF_NAME[account.status];
  });
}

const CALLING_OPTIONS = { ...BLOCK, ...CALL_OPTIONS, ...ENDPOINT_OPTIONS } as const;

/** `plumbline call`: what a contract answers. */
export const callCommand: Command = {
  help: `plumbline call [ADDRESS|NAME] [options]

  ADDRESS|NAME          contract, 20 bytes; it replaces --to. Or an ENS name, on a network that has ENS (ethereum, sepolia)
${CALL_HELP}
  --block N             state to run on: a number, a hash or a tag (default: the newest)

${ENDPOINT_HELP}

Exit codes: 0 done, 1 refused: the call reverts, ${NAME_EXIT}, ${ENDPOINT_EXIT}`,

  options: CALLING_OPTIONS,

  async run(args) {
    const { values, positionals } = readArguments(args, CALLING_OPTIONS, {
      count: 1,
      optional: true,
      name: 'ADDRESS or NAME',
    });
    const [given] = positionals;
    if (given !== undefined && (values.to !== undefined || values.call !== undefined))
      throw invalidParameter('ADDRESS', 'is in the place of --to and --call; leave one of them out');
    const described = await readCall(values);
    if (given === undefined) {
      if (described === undefined) throw invalidParameter('ADDRESS', 'is missing; name the contract');
      return withNode(values, 'none', (node) => run(node, described, blockParameter(values.block)));
    }
    return withAccount(values, requireAccount('ADDRESS', given), (node, account, block) =>
      run(node, { ...described, to: account.address }, block, account),
    );

    async function run(node: PlumblineNode, call: object, block: string, account?: Account): Promise<number> {
      const answered = await ask<Hex>(node, 'eth_call', [call, block]);
      const lines = [...(account === undefined ? [] : accountLines(account)), `result        ${answered.result}`];
      print(values.json, answered, lines, account);
      return EXIT.ok;
    }
  },
};

const LOGS_OPTIONS = {
  address: { type: 'string', multiple: true },
  topic: { type: 'string', multiple: true },
  'from-block': { type: 'string' },
  'to-block': { type: 'string' },
  ...ENDPOINT_OPTIONS,
} as const;

/** `plumbline logs`: events of contracts. */
export const logsCommand: Command = {
  help: `plumbline logs [options]

  --address HEX         contract, 20 bytes; may be given several times (default: any)
  --topic HEX           topic of the next position, 32 bytes: the first is the hash of the event. Several topics for one
                        position have commas between them; - means any
  --from-block N        the first block: a number or a tag (default: the newest)
  --to-block N          the last block (default: the newest)

${ENDPOINT_HELP}

Exit codes: 0 done, 1 refused: no endpoint has logs that are right, ${ENDPOINT_EXIT}`,

  options: LOGS_OPTIONS,

  async run(args) {
    const { values } = readArguments(args, LOGS_OPTIONS, { count: 0, name: '' });
    const filter = {
      fromBlock: blockParameter(values['from-block']),
      toBlock: blockParameter(values['to-block']),
      ...(values.address !== undefined && { address: values.address }),
      ...(values.topic !== undefined && {
        topics: values.topic.map((topic) => (topic === '-' ? null : topic.split(','))),
      }),
    };
    return withNode(values, 'none', async (node) => {
      const answered = await ask<readonly LogJson[]>(node, 'eth_getLogs', [filter]);
      const lines = answered.result.flatMap(({ blockNumber, logIndex, transactionHash, address, topics, data }) => [
        `log           ${BigInt(logIndex)} of block ${BigInt(blockNumber)}, transaction ${transactionHash}`,
        `  address     ${address}`,
        ...topics.map((topic) => `  topic       ${topic}`),
        `  data        ${data}`,
      ]);
      print(values.json, answered, [...lines, `logs          ${answered.result.length}`]);
      return EXIT.ok;
    });
  },
};

/** `plumbline tx`: a transaction and its receipt. */
export const txCommand: Command = {
  help: `plumbline tx HASH [options]

  HASH                  of the transaction, 32 bytes

${ENDPOINT_HELP}

Exit codes: 0 it is in a block and succeeded, 1 it failed there, or an endpoint's answer is refused, 2 no known block has it;
${ENDPOINT_EXIT}`,

  options: ENDPOINT_OPTIONS,

  async run(args) {
    const { values, positionals } = readArguments(args, ENDPOINT_OPTIONS, { count: 1, name: 'HASH' });
    const [hash = ''] = positionals;
    if (!HASH.test(hash)) throw invalidParameter('HASH', 'must be 32 bytes of hex with 0x');
    return withNode(values, 'none', async (node) => {
      const found = await ask<TransactionJson | null>(node, 'eth_getTransactionByHash', [hash]);
      const { result: transaction, answer } = found;
      if (transaction === null) return printNothing(values.json, { result: null, answer }, 'such transaction');
      const { from, to, value, nonce, gas, blockNumber } = transaction;
      const lines = [
        `transaction   ${transaction.hash}`,
        `from          ${from}, nonce ${BigInt(nonce)}`,
        `to            ${to ?? 'a contract that it creates'}`,
        `value         ${exactEtherText(value)}`,
        `gas limit     ${BigInt(gas)}`,
      ];
      if (blockNumber === null) {
        print(values.json, found, [...lines, 'block         none yet: it waits, as an endpoint says']);
        return EXIT.usage;
      }
      const had = await ask<ReceiptJson | null>(node, 'eth_getTransactionReceipt', [hash]);
      const { result: receipt } = had;
      if (receipt === null) return printNothing(values.json, { result: null, answer: had.answer }, 'receipt of it');
      const succeeded = receipt.status !== '0x0';
      const ends = [
        `block         ${BigInt(blockNumber)}`,
        `status        ${succeeded ? 'success' : 'failed'}, gas used ${BigInt(receipt.gasUsed)}, ${receipt.logs.length} logs`,
      ];
      print(values.json, had, [...lines, ...ends], { transaction });
      return succeeded ? EXIT.ok : EXIT.failed;
    });
  },
};

/** `plumbline block`: a block without the bodies of its transactions. */
export const blockCommand: Command = {
  help: `plumbline block [NUMBER|HASH|TAG] [options]

  NUMBER|HASH|TAG       the block; latest, finalized, safe, earliest (default: latest)

${ENDPOINT_HELP}

Exit codes: 0 done, 1 there is no such block, or an endpoint's answer is refused, ${ENDPOINT_EXIT}`,

  options: ENDPOINT_OPTIONS,

  async run(args) {
    const { values, positionals } = readArguments(args, ENDPOINT_OPTIONS, { count: 1, optional: true, name: 'block' });
    const block = blockParameter(positionals[0]);
    return withNode(values, 'none', async (node) => {
      const method = HASH.test(block) ? 'eth_getBlockByHash' : 'eth_getBlockByNumber';
      const found = await ask<BlockResultJson<Hex> | null>(node, method, [block, false]);
      const { result, answer } = found;
      if (result === null) return printNothing(values.json, { result: null, answer }, 'such block');
      const { number, hash, parentHash, timestamp, stateRoot, miner, gasUsed, gasLimit, baseFeePerGas } = result;
      print(values.json, found, [
        `block         ${BigInt(number)}`,
        `hash          ${hash}`,
        `parent        ${parentHash}`,
        `time          ${new Date(Number(timestamp) * 1000).toISOString()}`,
        `state root    ${stateRoot}`,
        `fees go to    ${miner}`,
        `gas used      ${BigInt(gasUsed)} of ${BigInt(gasLimit)}`,
        ...(baseFeePerGas === undefined ? [] : [`base fee      ${priceText(baseFeePerGas)} per gas`]),
        `transactions  ${result.transactions.length}`,
      ]);
      return EXIT.ok;
    });
  },
};

const MAX_PARAMS = 16;

/** `plumbline rpc`: any method of a light node. */
export const rpcCommand: Command = {
  help: `plumbline rpc METHOD [PARAM...] [options]

  METHOD                a JSON-RPC method, such as eth_getCode; docs/methods.md lists them
  PARAM                 its parameters in order, each as JSON. If it is not JSON, it is text

${ENDPOINT_HELP}

Exit codes: 0 done, 1 refused: something was checked and is false, ${ENDPOINT_EXIT}`,

  options: ENDPOINT_OPTIONS,

  async run(args) {
    const places = { count: 1 + MAX_PARAMS, optional: true, name: `METHOD and at most ${MAX_PARAMS} PARAM` };
    const { values, positionals } = readArguments(args, ENDPOINT_OPTIONS, places);
    const [method, ...params] = positionals;
    if (method === undefined) throw invalidParameter('METHOD', 'is missing, such as eth_getCode');
    return withNode(values, 'none', async (node) => {
      const answered = await ask<unknown>(node, method, params.map(jsonOrText));
      print(values.json, answered, JSON.stringify(answered.result, null, 2).split('\n'));
      return EXIT.ok;
    });
  },
};

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
