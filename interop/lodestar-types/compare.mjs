// Random objects of one preset, as Lodestar's types have them, beside those of plumbline. The preset is read when its packages are loaded.
import { ssz } from '@lodestar/types';
import { containersOf } from '../../build/modules/consensus/containers.js';
import { toJson } from '../../build/modules/consensus/ssz.js';

const [preset, given] = process.argv.slice(2);
const COUNT = Number(given);
const KINDS = {
  bootstrap: 'LightClientBootstrap',
  update: 'LightClientUpdate',
  finalityUpdate: 'LightClientFinalityUpdate',
  optimisticUpdate: 'LightClientOptimisticUpdate',
};
/** Layout of each fork; Fulu has that of Electra. */
const LAYOUTS = { capella: 'capella', deneb: 'deneb', electra: 'electra', fulu: 'electra', gloas: 'gloas' };
const SIZE = { mainnet: 512, minimal: 32 }[preset];

/** A linear congruential generator, so that a run can be repeated. */
let state = Number(process.env.INTEROP_SEED ?? 1);
const random = (bound) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * bound);
};
const bytes = (length) => Uint8Array.from({ length }, () => random(256));

/** A random value of a type of Lodestar's, by what the type says of itself. */
function randomOf(type) {
  if (type.fields !== undefined)
    return Object.fromEntries(Object.entries(type.fields).map(([name, field]) => [name, randomOf(field)]));
  if (type.elementType !== undefined && type.length !== undefined)
    return Array.from({ length: type.length }, () => randomOf(type.elementType));
  const name = type.constructor.name;
  if (name === 'UintNumberType') return random(2 ** 32) * 2 ** random(21);
  if (name === 'UintBigintType') return BigInt(`0x${Buffer.from(bytes(type.byteLength)).toString('hex')}`);
  if (name === 'ByteListType') return bytes(random(type.limitBytes + 1));
  if (type.lengthBits !== undefined) return type.deserialize(bytes(type.lengthBits / 8));
  if (type.lengthBytes !== undefined) return bytes(type.lengthBytes);
  throw new Error(`no values of ${name} ${type.typeName}`);
}

/** Both texts from shortly before their first difference on. */
function differing(own, other) {
  const at = Math.max(0, [...own].findIndex((letter, i) => letter !== other[i]) - 40);
  return `${own.slice(at, at + 120)} | ${other.slice(at, at + 120)}`;
}

const hexOf = (value) => Buffer.from(value).toString('hex');
const found = {};
for (const [fork, layout] of Object.entries(LAYOUTS)) {
  const ours = containersOf(layout, SIZE);
  let compared = 0;
  for (let i = 0; i < COUNT; i++) {
    const [kind, name] = Object.entries(KINDS)[i % 4];
    // Fulu names no types of its own for light clients.
    const type = ssz[fork][name] ?? ssz.electra[name];
    const value = randomOf(type);
    const serialized = type.serialize(value);
    const data = ours[kind].decode(serialized, '');
    const json = type.toJson(value);
    const pairs = {
      bytes: [hexOf(ours[kind].encode(data)), hexOf(serialized)],
      root: [hexOf(ours[kind].hashTreeRoot(data)), hexOf(type.hashTreeRoot(value))],
      // The headers of Capella have both blob members here, as zero; plumbline writes none. Lodestar writes addresses with a checksum.
      ...(layout !== 'capella' && { json: [toJson(data), json].map((one) => JSON.stringify(one).toLowerCase()) }),
      'bytes of its JSON': [hexOf(ours[kind].encode(ours[kind].fromJson(json, ''))), hexOf(serialized)],
    };
    for (const [what, [own, other]] of Object.entries(pairs))
      if (own !== other) throw new Error(`${fork} ${name} ${i}: ${what} differ: ${differing(own, other)}`);
    compared++;
  }
  found[fork] = compared;
}
console.log(JSON.stringify(found));
