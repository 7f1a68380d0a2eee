import type { LineaProofJson } from '../../../accumulator/proof-shape.js';
import { PlumblineError } from '../../../errors.js';
import type { Hasher, HashScheme } from '../../../kernel/contracts.js';
import { type Network, schemeAt } from '../../../networks/network.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { malformed } from '../../../proof/json-reader.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { answerRefused } from '../refused.js';
import type { FinalizedBlock } from './finality-store.js';

/** What proofs of the zk state are asked, checked and kept with. */
export interface ZkProofParts {
  readonly network: Network;
  readonly upstream: EndpointGroup;
  /** Keeps proofs for other sessions. */
  readonly table: BudgetedTable | undefined;
  loadHasher(scheme: HashScheme): Promise<Hasher>;
}

/** A question about the zk state after one block. */
export interface ZkQuestion {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each. */
  readonly storageKeys: readonly Uint8Array[];
}

const METHOD = 'linea_getProof';
/** Proofs kept in memory; one of an account with a slot is some 14 KB of text. */
const MAX_KEPT = 64;
const OTHER: Readonly<Record<HashScheme, HashScheme>> = { mimc: 'poseidon2', poseidon2: 'mimc' };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Answers of `linea_getProof`, each verified against a root that layer 1 holds, kept, and given again without endpoints. */
export class ZkProofs {
  /** As text, the least recently used first: what is handed out is the caller's, to do with it as it likes. */
  private readonly kept = new Map<string, string>();
  /** Scheme that was found to hold where the profile names another, from this block on. */
  private found: { readonly from: number; readonly scheme: HashScheme } | undefined;

  constructor(private readonly parts: ZkProofParts) {}

  /**
   * A verified proof: kept, stored or fetched.
   *
   * @throws PlumblineError `BLOCK_NOT_PROVABLE` when no endpoint has the block; `ANSWER_REFUSED`, `PROOF_MALFORMED` when
   *   none gives a proof that holds; of the endpoints
   */
  async prove(question: ZkQuestion, at: Pick<FinalizedBlock, 'number' | 'root'>): Promise<LineaProofJson> {
    const key = keyOf(this.parts.network, question, at.number);
    // What held against one root does not hold against another that layer 1 names later.
    const rooted = `${key} ${bytesToHex(at.root)}`;
    let text = this.kept.get(rooted) ?? (await this.load(key, question, at));
    if (text === undefined) {
      text = await this.fetch(question, at);
      await this.parts.table?.put(key, encoder.encode(text));
    }
    this.keep(rooted, text);
    return JSON.parse(text) as LineaProofJson;
  }

  /** @returns the proof as text: others may hold the answer itself, and change it */
  private async fetch(
    question: ZkQuestion,
    { number, root }: Pick<FinalizedBlock, 'number' | 'root'>,
  ): Promise<string> {
    const { address, storageKeys } = question;
    const params = [bytesToHex(address), storageKeys.map(bytesToHex), toQuantity(number)];
    try {
      return await this.parts.upstream.request(METHOD, params, {
        tryNext: () => true,
        accept: async (answer) => {
          const text = textOf(answer);
          await this.verify(question, number, root, JSON.parse(text));
          return text;
        },
      });
    } catch (error) {
      if (!isBlockMissing(error)) throw error;
      const text = `no endpoint has block ${number}`;
      throw new PlumblineError('BLOCK_NOT_PROVABLE', text, { block: String(number) }, { cause: error });
    }
  }

  /** By the scheme of the profile, and once by the other: from which block on a network changed it is not published. */
  private async verify(question: ZkQuestion, number: number, root: Uint8Array, answer: unknown): Promise<void> {
    const { network, loadHasher } = this.parts;
    const named = schemeAt(network, number);
    const first = this.found !== undefined && number >= this.found.from ? this.found.scheme : named;
    const request = { ...question, stateRoot: root };
    const judge = async (scheme: HashScheme) => {
      try {
        const [hasher, { verifyLineaProof }] = await Promise.all([
          loadHasher(scheme),
          import('../../../proof/zk/linea-proof.js'),
        ]);
        return verifyLineaProof(hasher, request, answer);
      } catch (error) {
        return { verified: false, error } as const;
      }
    };
    const verdict = await judge(first);
    if (verdict.verified) return;
    const other = await judge(OTHER[first]);
    if (other.verified) {
      this.found = OTHER[first] === named ? undefined : { from: number, scheme: OTHER[first] };
      return;
    }
    if ('error' in verdict) throw verdict.error;
    throw answerRefused(`zk proof of ${bytesToHex(question.address)}`, verdict);
  }

  private keep(key: string, text: string): void {
    this.kept.delete(key);
    this.kept.set(key, text);
    if (this.kept.size > MAX_KEPT) this.kept.delete(this.kept.keys().next().value!);
  }

  /** What is stored is verified again: a store is no proof. */
  private async load(key: string, question: ZkQuestion, at: Pick<FinalizedBlock, 'number' | 'root'>) {
    const bytes = await this.parts.table?.get(key);
    if (bytes === undefined) return undefined;
    try {
      const text = decoder.decode(bytes);
      await this.verify(question, at.number, at.root, JSON.parse(text));
      return text;
    } catch {
      return undefined;
    }
  }
}

/** @throws PlumblineError `PROOF_MALFORMED` for what a provider gives that is no JSON */
function textOf(answer: unknown): string {
  try {
    return JSON.stringify(answer ?? null);
  } catch {
    throw malformed('', 'is not JSON');
  }
}

function keyOf({ chainId }: Network, { address, storageKeys }: ZkQuestion, number: number): string {
  const height = String(number).padStart(16, '0');
  return `${chainId} ${height} ${bytesToHex(address)} ${storageKeys.map(bytesToHex).join(',')}`;
}

function isBlockMissing(error: unknown): boolean {
  if (!(error instanceof PlumblineError) || error.code !== 'UPSTREAM_ERROR') return false;
  return /BLOCK_MISSING_IN_CHAIN/.test((error as PlumblineError<'UPSTREAM_ERROR'>).details.message);
}
