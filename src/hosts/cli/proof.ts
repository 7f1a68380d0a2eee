import { invalidParameter, PlumblineError } from '../../errors.js';
import type { HashScheme } from '../../kernel/contracts.js';
import { bytesToHex } from '../../primitives/hex.js';
import { type VerifiedLineaProof, verifyLineaProof } from '../../proof/linea-proof.js';
import type { AnswerReport } from '../../rpc/answer-report.js';
import type { UntypedMethod } from '../provider/provider.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { blockParameter } from './call-options.js';
import { ENDPOINT_EXIT, ENDPOINT_HELP, ENDPOINT_OPTIONS, withNode } from './endpoints.js';
import { printJson, printLines } from './lines.js';
import { accountInWords, readClaim, readStorageKey, requiredBytes, shownAccount } from './saved-proof.js';

const OPTIONS = {
  key: { type: 'string', multiple: true },
  block: { type: 'string' },
  ...ENDPOINT_OPTIONS,
} as const;

/** `plumbline proof`: an account of the zk state, proved against a root on layer 1. */
export const proofCommand: Command = {
  help: `plumbline proof ADDRESS [options]

  ADDRESS               account, 20 bytes
  --key HEX             storage key, at most 32 bytes; may be given several times
  --block N             a finalized block, by its number or hash (default: the newest one that can be proved)

${ENDPOINT_HELP}. It holds the proof, and plumbline verify reads it

Exit codes: 0 verified, 1 refused: no endpoint has a proof that holds, ${ENDPOINT_EXIT}`,

  options: OPTIONS,

  async run(args) {
    const { values, positionals } = readArguments(args, OPTIONS, { count: 1, name: 'ADDRESS' });
    const address = requiredBytes('ADDRESS', 20, positionals[0]);
    const storageKeys = (values.key ?? []).map(readStorageKey);
    const params = [bytesToHex(address), storageKeys.map(bytesToHex), blockParameter(values.block)];
    if (values.devnet === undefined && values.l1 === undefined)
      throw invalidParameter('--l1', 'is missing: the roots of zk proofs are on layer 1');
    return withNode(values, 'none', async (node) => {
      let report: AnswerReport | undefined;
      node.on('answer', (answer) => {
        report = answer;
      });
      const result = await node.request<UntypedMethod>({ method: 'linea_getProof', params });
      const { verdict, stateRoot, scheme } = await read(node.info.hashScheme!, { address, storageKeys }, result);
      const [block, level] = [report?.zkBlock, report?.level];
      if (values.json) {
        const [account, keys] = params;
        const asked = { address: account, storageKeys: keys, block, stateRoot: bytesToHex(stateRoot), scheme };
        printJson({ verified: true, ...asked, level, ...shownAccount(verdict), result });
      } else {
        printLines('verified', `account  ${params[0]}`, ...accountInWords(verdict));
        printLines(`root     ${bytesToHex(stateRoot)} of block ${block}, level ${level}`);
      }
      return EXIT.ok;
    });
  },
};

/** What a proof shows that the node has verified: its root is the one that it leads to. */
async function read(
  newest: HashScheme,
  question: Omit<Parameters<typeof verifyLineaProof>[1], 'stateRoot'>,
  answer: unknown,
): Promise<{ verdict: VerifiedLineaProof; stateRoot: Uint8Array; scheme: HashScheme }> {
  // An older block may have the other scheme.
  const { hasher, root: stateRoot } = await readClaim(answer, [newest, newest === 'mimc' ? 'poseidon2' : 'mimc']);
  const verdict = stateRoot && verifyLineaProof(hasher, { ...question, stateRoot }, answer);
  if (verdict?.verified) return { verdict, stateRoot: stateRoot!, scheme: hasher.scheme };
  throw new PlumblineError('INTERNAL', 'the verified proof cannot be read', { reason: 'proof' });
}
