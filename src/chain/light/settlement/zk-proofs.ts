import type { LineaProofJson } from '../../../accumulator/proof-shape.js';
import { isPlumblineError, PlumblineError } from '../../../errors.js';
import type { Hasher, HashScheme } from '../../../kernel/contracts.js';
import { type Network, schemeAt } from '../../../networks/network.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { malformed } from '../../../proof/json-reader.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';
import { isMethodMissing, type RpcErrorBody } from '../../../upstream/failure.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { answerRefused } from '../refused.js';
import type { RootedBlock } from './finality.js';

/** Dependencies of `ZkProofs`. */
export interface ZkProofParts {
  readonly network: Network;
  readonly upstream: EndpointGroup;
  /** Stores proofs for later sessions. */
  readonly table: BudgetedTable | undefined;
  /** Most bytes of proofs that are kept in memory, 8 MiB when left out. A longer proof is not kept. */
  readonly keptBytes?: number | undefined;
  loadHasher(scheme: HashScheme): Promise<Hasher>;
}

/** What to prove of the zk state after a block. */
export interface ZkQuestion {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each. */
  readonly storageKeys: readonly Uint8Array[];
}

const METHOD = 'linea_getProof';
const INTERNAL_ERROR = -32603;
/** A proof of an account with one slot is about 14 KB of text, with 1024 slots about 13 MB. */
const DEFAULT_KEPT_BYTES = 8 * 2 ** 20;
const OTHER: Readonly<Record<HashScheme, HashScheme>> = { mimc: 'poseidon2', poseidon2: 'mimc' };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Answers of `linea_getProof`, verified against a root on layer 1 and cached. */
export class ZkProofs {
  /** Proofs as text, the least recently used first. Text, because callers may change the returned object. */
  private readonly kept = new Map<string, string>();
  private keptBytes = 0;
  /** The hash scheme of blocks from `from` on, if it turned out to differ from the profile. */
  private found: { readonly from: number; readonly scheme: HashScheme } | undefined;

  constructor(private readonly parts: ZkProofParts) {}

  /**
   * A verified proof, cached, stored or fetched.
   *
   * @param signal - ends the request
   * @param isOfTag - whether another block would do as well: an internal error of all endpoints then means that they do not hold
   *   this one, as the state manager says it of tags
   * @throws PlumblineError `BLOCK_NOT_PROVABLE` if no endpoint has the block; `ANSWER_REFUSED`, `PROOF_MALFORMED` if no
   *   endpoint returns a valid proof; of the endpoints
   */
  async prove(
    question: ZkQuestion,
    at: Pick<RootedBlock, 'number' | 'root'>,
    signal?: AbortSignal,
    isOfTag = false,
  ): Promise<LineaProofJson> {
    const key = keyOf(this.parts.network, question, at.number);
    // A proof against one root is not valid for another root that layer 1 may return later.
    const rooted = `${key} ${bytesToHex(at.root)}`;
    let text = this.kept.get(rooted) ?? (await this.load(key, question, at));
    if (text === undefined) {
      text = await this.fetch(question, at, signal, isOfTag);
      await this.parts.table?.put(key, encoder.encode(text));
    }
    this.keep(rooted, text);
    return JSON.parse(text) as LineaProofJson;
  }

  /** @returns the proof as text, because a provider may change the answer object later */
  private async fetch(
    question: ZkQuestion,
    { number, root }: Pick<RootedBlock, 'number' | 'root'>,
    signal: AbortSignal | undefined,
    isOfTag: boolean,
  ): Promise<string> {
    const { address, storageKeys } = question;
    const said: RpcErrorBody[] = [];
    const params = [bytesToHex(address), storageKeys.map(bytesToHex), toQuantity(number)];
    try {
      return await this.parts.upstream.request(METHOD, params, {
        ...(signal !== undefined && { signal }),
        tryNext: (error) => {
          said.push(error);
          return true;
        },
        accept: async (answer) => {
          const text = textOf(answer);
          await this.verify(question, number, root, JSON.parse(text));
          return shown(text);
        },
      });
    } catch (error) {
      const isInternal = (one: RpcErrorBody) => isOfTag && one.code === INTERNAL_ERROR;
      const isNotHeld =
        said.length > 0 && said.every((one) => isMissing(one) || isInternal(one) || isMethodMissing(one));
      if (!isPlumblineError(error, 'UPSTREAM_ERROR') || !isNotHeld || said.every(isMethodMissing)) throw error;
      const text = `no endpoint has the zk state after block ${number}`;
      throw new PlumblineError('BLOCK_NOT_PROVABLE', text, { block: String(number) }, { cause: error });
    }
  }

  /**
   * Verifies with the profile's hash scheme, then with the other one: the block at which a network changes it is not published.
   */
  private async verify(question: ZkQuestion, number: number, root: Uint8Array, answer: unknown): Promise<void> {
    const { network, loadHasher } = this.parts;
    const named = schemeAt(network, number);
    const first = this.found !== undefined && number >= this.found.from ? this.found.scheme : named;
    const request = { ...question, stateRoot: root };
    const judge = async (scheme: HashScheme) => {
      try {
        const [hasher, { verifyLineaProof }] = await Promise.all([
          loadHasher(scheme),
          import('../../../proof/linea-proof.js'),
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
    this.drop(key);
    this.kept.set(key, text);
    this.keptBytes += key.length + text.length;
    const { keptBytes: limit = DEFAULT_KEPT_BYTES } = this.parts;
    for (const oldest of this.kept.keys()) {
      if (this.keptBytes <= limit) break;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    const text = this.kept.get(key);
    if (text === undefined) return;
    this.kept.delete(key);
    this.keptBytes -= key.length + text.length;
  }

  /** Loads a stored proof and verifies it again. @returns undefined if there is none, or it is not valid */
  private async load(key: string, question: ZkQuestion, at: Pick<RootedBlock, 'number' | 'root'>) {
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

/** @throws PlumblineError `PROOF_MALFORMED` for a value that is not JSON, as a provider may return */
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

const isMissing = ({ message }: RpcErrorBody) => /BLOCK_MISSING_IN_CHAIN/.test(message);

/** A verified answer as it is shown: without the nulls that the state manager may put in place of proofs of empty storage. */
function shown(text: string): string {
  const proof = JSON.parse(text) as LineaProofJson;
  return (proof.storageProofs as readonly unknown[]).includes(null)
    ? JSON.stringify({ ...proof, storageProofs: [] })
    : text;
}
