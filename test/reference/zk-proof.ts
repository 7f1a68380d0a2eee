import { type Digits, ZERO, type ZkFormat } from './zk-hash.js';

/** What an answer of `linea_getProof` proves. */
export interface ProvedAccount {
  /** The compact form of the account, 192 bytes; undefined for an account that does not exist. */
  readonly account: Digits | undefined;
  /** One value for each key that was asked for. */
  readonly slots: readonly Digits[];
}

interface Branch {
  readonly value: Digits;
  readonly leaf: { readonly prev: Digits; readonly next: Digits; readonly hkey: Digits; readonly hval: Digits };
  readonly top: Digits;
}

function require(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`the proof is wrong: ${what}`);
}

function digits(text: unknown): Digits {
  require(typeof text === 'string' && /^0x([0-9a-f]{2})*$/.test(text), 'a field is not hex');
  return text.slice(2);
}

function objectWith(json: unknown, names: readonly string[]): Record<string, unknown> {
  require(typeof json === 'object' && json !== null, 'an object is missing');
  require(Object.keys(json).sort().join() === [...names].sort().join(), `fields ${Object.keys(json)}`);
  return json as Record<string, unknown>;
}

/**
 * Verifies an answer of `linea_getProof` by docs/spec/state-trie.md 8.
 *
 * @param address - 40 digits
 * @param keys - 64 digits each
 * @throws Error saying which rule is broken
 */
export function verifyZkProof(
  format: ZkFormat,
  root: Digits,
  address: Digits,
  keys: readonly Digits[],
  answer: unknown,
): ProvedAccount {
  const { accountProof, storageProofs } = objectWith(answer, ['accountProof', 'storageProofs']);
  require(Array.isArray(storageProofs), 'storageProofs is no list');
  const account = item(format, root, address, format.accountKey(address), format.accountHash, 384, accountProof);
  const storageRoot = account?.slice(128, 192);
  if (storageRoot === undefined || storageProofs.length === 0) {
    require(storageProofs.length === 0, 'slots of a missing account');
    require(storageRoot === undefined || keys.length === 0 || storageRoot === emptyRoot(format), 'slots are missing');
    return { account, slots: keys.map(() => ZERO) };
  }
  require(storageProofs.length === keys.length, 'another number of slots');
  const slots = keys.map((key, i) => {
    const value = item(format, storageRoot, key, format.slotHash(key), format.slotHash, 64, storageProofs[i]);
    require(value !== ZERO, 'a slot of value zero is stored');
    return value ?? ZERO;
  });
  return { account, slots };
}

/** The value of one key; undefined when it is proved to be absent. */
function item(
  format: ZkFormat,
  root: Digits,
  key: Digits,
  hkey: Digits,
  hashValue: (value: Digits) => Digits,
  valueDigits: number,
  json: unknown,
): Digits | undefined {
  const isPresent = typeof json === 'object' && json !== null && 'proof' in json;
  const absent = ['leftLeafIndex', 'rightLeafIndex', 'leftProof', 'rightProof'];
  const fields = objectWith(json, ['key', ...(isPresent ? ['leafIndex', 'proof'] : absent)]);
  require(digits(fields.key) === key, 'another key');
  const valueFits = ({ value, leaf }: Branch) => {
    const isEdge = leaf.hkey === ZERO || leaf.hkey === format.tailKey;
    if (isEdge) return value === ZERO && leaf.hval === ZERO;
    return value.length === valueDigits && hashValue(value) === leaf.hval;
  };
  if (isPresent) {
    const found = branch(format, root, fields.leafIndex, fields.proof);
    require(found.leaf.hkey === hkey && Number(fields.leafIndex) >= 2, 'the leaf of another key');
    require(valueFits(found), 'another value than that of the leaf');
    return found.value;
  }
  const left = branch(format, root, fields.leftLeafIndex, fields.leftProof);
  const right = branch(format, root, fields.rightLeafIndex, fields.rightProof);
  require(left.top === right.top, 'two different trees');
  require(left.leaf.next === format.index(Number(fields.rightLeafIndex)), 'left does not link to right');
  require(right.leaf.prev === format.index(Number(fields.leftLeafIndex)), 'right does not link to left');
  require(left.leaf.hkey < hkey && hkey < right.leaf.hkey, 'the key is not between its neighbours');
  require(valueFits(left) && valueFits(right), 'another value than that of a neighbour');
  return undefined;
}

function branch(format: ZkFormat, root: Digits, index: unknown, json: unknown): Branch {
  const { hash } = format;
  const { value, proofRelatedNodes } = objectWith(json, ['value', 'proofRelatedNodes']);
  require(Array.isArray(proofRelatedNodes) && proofRelatedNodes.length === 42, 'not 42 nodes');
  require(Number.isInteger(index) && Number(index) >= 0 && Number(index) < 2 ** 40, 'the position');
  const nodes = proofRelatedNodes.map(digits);
  const [top, sibling, opening] = [nodes[0]!, nodes[40]!, nodes[41]!];
  const size = format.index(0).length;
  require(opening.length === 2 * size + 128, 'the length of the leaf');
  require(sibling === ZERO || sibling.length === opening.length, 'the length of the sibling');
  require(top.length === size + 64 && hash(top) === root, 'another root');
  let node = hash(opening);
  for (let level = 0; level < 40; level++) {
    const preimage = nodes[40 - level]!;
    require(level === 0 || preimage.length === 128, 'the length of a node');
    const beside = preimage === ZERO ? ZERO : hash(preimage);
    node = Math.floor(Number(index) / 2 ** level) % 2 === 0 ? hash(node + beside) : hash(beside + node);
  }
  require(node === top.slice(size), 'leaf and siblings do not lead to the root');
  const at = (start: number, length: number) => opening.slice(start, start + length);
  const leaf = { prev: at(0, size), next: at(size, size), hkey: at(2 * size, 64), hval: at(2 * size + 64, 64) };
  return { value: digits(value), leaf, top };
}

/** Root of a tree with head and tail alone. */
function emptyRoot({ hash, index, tailKey }: ZkFormat): Digits {
  const leaf = (hkey: Digits) => hash(index(0) + index(1) + hkey + ZERO);
  let [node, empty] = [hash(leaf(ZERO) + leaf(tailKey)), hash(ZERO + ZERO)];
  for (let level = 1; level < 40; level++) [node, empty] = [hash(node + empty), hash(empty + empty)];
  return hash(index(2) + node);
}
