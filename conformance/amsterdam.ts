import { keccak_256 } from '@noble/hashes/sha3.js';
import { PlumblineError } from '../src/errors.js';
import { BlockAccesses, encodeBlockAccessList } from '../src/ethereum/block-access-list.js';
import { Machine } from '../src/evm/machine.js';
import { StateOverlay } from '../src/evm/state-overlay.js';
import type { TransactionOutcome } from '../src/evm/transaction-message.js';
import { bytesToHex, type Hex } from '../src/primitives/hex.js';
import { toQuantity } from '../src/primitives/quantity.js';
import { AllocRoot } from './alloc-root.js';
import { AllocState } from './alloc-state.js';
import { type Area, differs, type Material, type Report } from './area.js';
import { contextOf, logsHash, networkOf, outcomeOf, type Post, type StateTest, withWholeKeys } from './state-tests.js';

/** What geth made of one transaction. */
export interface AmsterdamPost extends Post {
  /** Missing if it is refused. */
  receipt?: {
    status: Hex;
    gasUsed: Hex;
    gasBeforeRefund: Hex;
    executionGas: Hex;
    stateGas: Hex;
    error?: string;
    output?: Hex;
    outputHash?: Hex;
  };
  /** Of the transaction alone, with index 1. */
  blockAccessList?: { hash: Hex; rlp?: Hex };
}

const FILES = ['ported-0', 'ported-1', 'ported-2', 'ported-3', 'amsterdam', 'random'].map(
  (name) => `amsterdam/${name}.json`,
);
const FORK = 'Amsterdam';

/** Reasons of geth, and ours. What cannot be encoded is malformed here, where geth looks at it later. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/exceeds 256 bits$|^invalid tx value|^nonce has max value/, 'malformed'],
  [/: intrinsic cost \d+, floor: \d+$/, 'gas-limit'],
  [/^(intrinsic gas too low|insufficient gas for floor data)/, 'intrinsic-gas'],
  [/^transaction gas limit too high/, 'gas-limit'],
  [/^insufficient funds/, 'INSUFFICIENT_FUNDS'],
  [/^max fee per gas less than block base fee/, 'gas-price'],
  [/^max priority fee per gas higher/, 'gas-price'],
  [/^sender not an eoa/, 'sender'],
  [/^nonce too low/, 'nonce-too-low'],
  [/^nonce too high/, 'nonce-too-high'],
  [/^gas limit reached/, 'block-gas-limit'],
  [/^max initcode size exceeded/, 'init-code'],
  [/^(blob transaction|blob \d+ has invalid|EIP-7702 transaction|rlp:)/, 'malformed'],
];

/** State tests under Amsterdam: besides roots, logs and refusals both kinds of gas, what is returned, and access lists. */
export const amsterdamArea: Area = {
  name: 'amsterdam',
  usesKernel: true,
  isOutside: true,
  showsEveryFailure: true,
  files: (material) => FILES.filter(material.has),
  async run(material, report) {
    for (const path of this.files(material)) await checkFile(path, material, report);
  },
};

async function checkFile(path: string, material: Material, report: Report): Promise<void> {
  let cases = 0;
  for (const [name, test] of Object.entries(material.json<Record<string, StateTest>>(path))) {
    if (!material.wants(name)) continue;
    const alloc = withWholeKeys(test.pre);
    const [reader, root] = [new AllocState(alloc), new AllocRoot(alloc)];
    const network = networkOf(test, FORK);
    const block = contextOf(test, network);
    for (const post of test.post[FORK] as AmsterdamPost[]) {
      const { data, gas, value } = post.indexes;
      cases++;
      await report.check(`${name} data ${data} gas ${gas} value ${value}`, async () => {
        const state = new StateOverlay(reader);
        const machine = await Machine.open(network, block, state);
        const accesses = new BlockAccesses();
        const outcome = await outcomeOf(machine, post.txbytes, { accesses: { of: accesses, index: 1 } });
        machine.close();
        const problem =
          outcome instanceof PlumblineError ? differsRefusal(post, outcome) : differsRun(post, outcome, accesses);
        return problem ?? differs(post.hash, root.after(await state.changes()));
      });
    }
  }
  report.note(`${path}: ${cases} cases`);
}

function differsRefusal({ expectException, logs }: AmsterdamPost, refusal: PlumblineError): string | undefined {
  if (expectException === undefined) return `expected a run, got ${refusal.message}`;
  const rule = 'rule' in refusal.details ? refusal.details.rule : refusal.code;
  const expected = REFUSALS.find(([reason]) => reason.test(expectException))?.[1];
  if (expected !== rule) return `expected ${expectException}, got ${rule}: ${refusal.message}`;
  return differs(logs, logsHash([]));
}

function differsRun(
  { expectException, logs, receipt, blockAccessList }: AmsterdamPost,
  outcome: TransactionOutcome,
  accesses: BlockAccesses,
): string | undefined {
  if (receipt === undefined || blockAccessList === undefined) return `expected ${expectException}, got a run`;
  const { status, gasUsed, gasBeforeRefund, executionGas, stateGas, error = 'execution reverted' } = receipt;
  // geth shows the code that a creation could not deposit; a transaction that halts returns nothing here.
  const { output, outputHash } = error === 'execution reverted' ? receipt : { output: '0x' };
  const returned = outputHash === undefined ? outcome.returnData : keccak_256(outcome.returnData);
  const rlp = encodeBlockAccessList(accesses.list());
  return (
    differs(
      { status, gasUsed, gasBeforeRefund, executionGas, stateGas, output: outputHash ?? output },
      {
        status: outcome.succeeded ? '0x1' : '0x0',
        gasUsed: toQuantity(outcome.gasUsed),
        gasBeforeRefund: toQuantity(outcome.gasUsedBeforeRefund),
        executionGas: toQuantity(outcome.executionGas),
        stateGas: toQuantity(outcome.stateGas),
        output: bytesToHex(returned),
      },
    ) ??
    differs(logs, logsHash(outcome.logs)) ??
    differs(blockAccessList.rlp ?? blockAccessList.hash, bytesToHex(blockAccessList.rlp ? rlp : keccak_256(rlp))) ??
    differs(blockAccessList.hash, bytesToHex(keccak_256(rlp)))
  );
}
