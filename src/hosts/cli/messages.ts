import { invalidParameter } from '../../errors.js';
import type { ClaimPreparation, LayerOneView, MessageJson, ProvedBlocks } from '../../messages/withdrawal.js';
import type { Hex } from '../../primitives/hex.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { ENDPOINT_EXIT, ENDPOINT_HELP, ENDPOINT_OPTIONS, withNode } from './endpoints.js';
import { etherText, exactEtherText, oneLine, printJson, printLines } from './lines.js';

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const HASH = /^0x[0-9a-f]{64}$/i;
/** Blocks that are read where none are named. */
const NEWEST = 1_000;

/** @throws PlumblineError `INVALID_PARAMETER` */
function blockNumber(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (given.trim() !== '' && Number.isSafeInteger(number) && number >= 0) return number;
  throw invalidParameter(option, 'must be the number of a block');
}

/** @throws PlumblineError `INVALID_PARAMETER` */
function requireForm(name: string, given: string | undefined, form: RegExp, bytes: number): Hex {
  if (given !== undefined && form.test(given)) return given as Hex;
  throw invalidParameter(name, `must be ${bytes} bytes of hex with 0x`);
}

function messageLines({ from, to, value, fee, nonce, tokenTransfer }: MessageJson): string[] {
  const moved =
    tokenTransfer === undefined
      ? []
      : [
          `  tokens      ${BigInt(tokenTransfer.amount)} of ${tokenTransfer.token} on chain ${BigInt(tokenTransfer.chainId)}`,
          `  for         ${tokenTransfer.recipient}`,
        ];
  return [
    `  from        ${from}, number ${BigInt(nonce)}`,
    `  to          ${to}`,
    `  value       ${exactEtherText(value)}`,
    ...(BigInt(fee) === 0n ? [] : [`  fee         ${etherText(BigInt(fee))}, for whoever claims it first`]),
    ...moved,
  ];
}

const provedLine = ({ from, to, level }: ProvedBlocks) =>
  `complete      in blocks ${from} to ${to}, level ${level}; nothing is known of others`;

function layerOneLine({ level, block, finalizedBlock }: LayerOneView): string {
  const age = Math.max(0, Math.round(Date.now() / 1000 - block.timestamp));
  const word = level === 'finalized' ? 'final as its endpoints say' : level;
  return `layer 1       block ${block.number}, ${word}, ${age} s old; block ${finalizedBlock} is final there`;
}

const MESSAGES_OPTIONS = {
  'from-block': { type: 'string' },
  'to-block': { type: 'string' },
  ...ENDPOINT_OPTIONS,
} as const;

/** `plumbline messages`: messages to layer 1 of an account. */
export const messagesCommand: Command = {
  help: `plumbline messages ADDRESS [options]

  ADDRESS               their sender, or their recipient on layer 1, 20 bytes
  --from-block N        the first block (default: ${NEWEST} blocks before the last)
  --to-block N          the last block (default: the newest)

${ENDPOINT_HELP}

Exit codes: 0 done, 1 refused: no endpoint has logs or proofs that are right, ${ENDPOINT_EXIT}`,

  options: MESSAGES_OPTIONS,

  async run(args) {
    const { values, positionals } = readArguments(args, MESSAGES_OPTIONS, { count: 1, name: 'ADDRESS' });
    const address = requireForm('ADDRESS', positionals[0], ADDRESS, 20);
    const [from, to] = [
      blockNumber('--from-block', values['from-block']),
      blockNumber('--to-block', values['to-block']),
    ];
    return withNode(values, 'none', async (node) => {
      const toBlock = to ?? Number(await node.request({ method: 'eth_blockNumber' }));
      const list = await node.messages({ address, fromBlock: from ?? Math.max(0, toBlock - NEWEST + 1), toBlock });
      if (values.json) printJson(list);
      else
        printLines(
          ...list.messages.flatMap((one) => [
            `message       ${one.hash}`,
            `  state       ${one.state}, sent in block ${one.blockNumber}, transaction ${one.transactionHash}`,
            ...messageLines(one),
          ]),
          `messages      ${list.messages.length}`,
          provedLine(list.proved),
          layerOneLine(list.layerOne),
        );
      return EXIT.ok;
    });
  },
};

/** What a claim would do, as text, and the exit code of it. */
function verdictOf(found: ClaimPreparation): readonly [text: string, code: number] {
  switch (found.status) {
    case 'claimed':
      return ['it was claimed', EXIT.failed];
    case 'notFinal':
      return [`its block, ${found.blockNumber}, is not final on layer 1 yet`, EXIT.usage];
    case 'notAnchored':
      return ['its block is final, and no root of layer 1 was found that holds it: an endpoint hides logs', EXIT.usage];
    case 'notFound':
      return ['it is not in the blocks that were read', EXIT.usage];
    case 'inbox':
      return [
        'layer 1 has recorded it: it is claimed without a proof; whether the claim passes was not looked at',
        EXIT.ok,
      ];
    case 'anchored':
      if (found.refusal !== undefined) return [`the contract refuses the claim: ${found.refusal}`, EXIT.failed];
      if (found.wouldPass === undefined)
        return ['the contract allows the claim; it was not executed, so its recipient may still refuse it', EXIT.ok];
      if (found.wouldPass) return ['the claim passes: it was executed on the state of layer 1', EXIT.ok];
      return [
        `the recipient refuses the claim: ${oneLine(found.revert?.reason ?? found.revert?.data ?? '')}`,
        EXIT.failed,
      ];
  }
}

const CLAIM_OPTIONS = {
  block: { type: 'string' },
  'fee-recipient': { type: 'string' },
  ...ENDPOINT_OPTIONS,
} as const;

/** `plumbline claim`: the transaction that claims a message on layer 1. */
export const claimCommand: Command = {
  help: `plumbline claim HASH [options]

  HASH                  of the message, 32 bytes: plumbline messages lists them
  --block N             the block in which it was sent (default: the command asks the endpoints, then searches the newest blocks)
  --fee-recipient HEX   who gets the fee of the message, 20 bytes (default: the sender of the claim)

${ENDPOINT_HELP}

Exit codes: 0 it can be claimed: the transaction is printed, 1 it cannot: it was claimed, or the claim is refused, or an endpoint's answer is,
2 it cannot be claimed yet, or was not found, or could not be checked: an endpoint fails, or the arguments cannot be used.`,

  options: CLAIM_OPTIONS,

  async run(args) {
    const { values, positionals } = readArguments(args, CLAIM_OPTIONS, { count: 1, name: 'HASH' });
    const hash = requireForm('HASH', positionals[0], HASH, 32);
    const fromBlock = blockNumber('--block', values.block);
    const recipient = values['fee-recipient'];
    const feeRecipient = recipient === undefined ? undefined : requireForm('--fee-recipient', recipient, ADDRESS, 20);
    return withNode(values, 'none', async (node) => {
      const found = await node.prepareClaim(hash, {
        ...(fromBlock !== undefined && { fromBlock }),
        ...(feeRecipient !== undefined && { feeRecipient }),
      });
      const [text, code] = verdictOf(found);
      if (values.json) printJson(found);
      else
        printLines(
          `message       ${hash}`,
          ...('message' in found ? messageLines(found.message) : []),
          `claim         ${text}`,
          ...('transaction' in found && code === EXIT.ok
            ? [`  to          ${found.transaction.to}`, '  value       0', `  data        ${found.transaction.data}`]
            : []),
          ...('proved' in found ? [provedLine(found.proved)] : []),
          layerOneLine(found.layerOne),
        );
      return code;
    });
  },
};
