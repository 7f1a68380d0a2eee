/**
 * Writes assembly/field/bls12377.ts: Montgomery squaring and multiplication with every limb in a local. AssemblyScript has
 * no arrays of locals, so each step is written out here.
 *
 * A machine does one 64-bit product per cycle, so the fewer products the better. Nine limbs are three blocks of three,
 * and products of blocks are taken as Karatsuba does: not at the nine pairs of limbs, but at six points, the limbs x, y, z
 * and the sums xy, xz, yz. Sums of blocks' products are collected per point first, and turned into columns once:
 *   x | xy - x - y | xz - x - z + y | yz - y - z | z
 * The z of a group and the x of the next meet with opposite signs in two columns: their difference is taken once. The square
 * of one block has six products either way, and needs no points.
 * The modulus is 1 + R1 2^29 + 66 2^58 + U 2^87 with U of two blocks. A squaring takes 81 products instead of 117.
 *
 * The compiler places instructions by the order of operands, and a tenth of the time hangs on it. ORDERS are the orders of
 * single lines that a search by measurement kept (V8 of Node.js 20); any order gives the same numbers.
 *
 * The terms of a round's sum, and their sum, are not carried: the two that change have limbs below 2^29, and the caller
 * gives the third with limbs between -3 2^28 and -2^28, so the sum's are below 3 2^28 in size. A column of a square is then
 * below 7 9 2^56 + 2 2^30 2^23 < 2^62 (the ninth limb is below 2^23), the multiples of the modulus in it are below
 * 9 2^58 + 2^60 < 2^61.4, together below 2^63. Without squarings the factor is a constant whose limbs add up to less than
 * 0.6 2^32, and the sum's limbs may reach 2^31.
 *
 * Multiples of the modulus are taken away, not added: the factor of a step is then the low limb as it is, and the carry a
 * shift. Results lie between minus the modulus and a little above zero, and only the highest limb has a sign.
 */
import { hex, indent, LIMB_BITS, LIMBS, limb, MASK, POINTS, range, U, zeros } from './lib/bls12377.mjs';
import { writeGenerated } from './lib/generated.mjs';

const PLACE = { x: 0, y: 1, z: 2 };
/** Value of a block at a point: a limb, or the name of a sum of two. */
const at = (letter, block, point) => `${letter}${block}${point}`;
const limbName = (letter, i) => at(letter, Math.floor(i / 3), 'xyz'[i % 3]);
const sums = (letter, block) =>
  POINTS.slice(3).map((p) => `${at(letter, block, p)} = ${at(letter, block, p[0])} + ${at(letter, block, p[1])};`);

const square = {
  0: (p) => `a0${p} * a0${p}`,
  1: (p) => `((a0${p} * a1${p}) << 1)`,
  2: (p) => `((a0${p} * a2${p}) << 1) + a1${p} * a1${p}`,
  3: (p) => `((a1${p} * a2${p}) << 1)`,
  4: (p) => `a2${p} * a2${p}`,
};
const product = {
  0: (p) => `a0${p} * b0${p}`,
  1: (p) => `a0${p} * b1${p} + a1${p} * b0${p}`,
  2: (p) => `a0${p} * b2${p} + a1${p} * b1${p} + a2${p} * b0${p}`,
  3: (p) => `a1${p} * b2${p} + a2${p} * b1${p}`,
  4: (p) => `a2${p} * b2${p}`,
};
/** Products of the reduction's factors with the two blocks of U that belong to a group of columns. */
const multiples = {
  0: () => '',
  1: (p) => ` + q0${p} * L${p}`,
  2: (p) => ` + q0${p} * H${p} + q1${p} * L${p}`,
  3: (p) => ` + q1${p} * H${p} + q2${p} * L${p}`,
  4: (p) => ` + q2${p} * H${p}`,
};

/** The first group of a square: one block, so its products are columns as they are. */
const blockSquare = [
  'c0 = a0x * a0x;',
  'c1 = (a0x * a0y) << 1;',
  'c2 = ((a0x * a0z) << 1) + a0y * a0y;',
  'over = a0z * a0z;',
  'c3 = ((a0y * a0z) << 1) + over;',
];

function group(g, terms) {
  if (g === 0 && terms === square) return blockSquare;
  const lines = POINTS.map((p) => `w${p} = ${terms[g](p)}${multiples[g](p)};`);
  const column = (i) => `c${3 * g + i}`;
  lines.push(
    ...(g === 0 ? [`${column(0)} = wx;`, 'sum = wx;'] : ['sum = wx - over;', `${column(0)} += sum;`]),
    `${column(1)} = wxy - wy - sum;`,
    `${column(2)} = wxz + wy - wx - wz;`,
    `${column(3)} = wyz - wy${g === 4 ? ' - wz' : ''};`,
    g === 4 ? `${column(4)} = wz;` : 'over = wz;',
  );
  return lines;
}

/** The part of the third limb that is a shift; the rest of it, two, goes with the second limb into one constant of 31 bits. */
const times64 = (name) => `(${name} << 6)`;

/** Three steps of the reduction: factors of columns 3 block .. 3 block + 2. */
function factors(block) {
  const lines = [];
  for (let k = 3 * block; k < 3 * block + 3; k++) {
    const q = (i) => limbName('q', i);
    const far = k < 2 ? '' : ` - ${times64(q(k - 2))}`;
    const near = k < 1 ? '' : ` + carry + ${q(k - 1)} * NEAR`;
    lines.push(`sum = c${k}${far}${near};`, `${q(k)} = sum & MASK;`, 'carry = sum >> LIMB_BITS;');
  }
  return [...lines, ...sums('q', block)];
}

const ORDERS = {
  square: {
    'sum = c4 - (q0z << 6) + carry + q1x * NEAR;': 'sum = c4 + carry - (q0z << 6) + q1x * NEAR;',
    'wx = ((a0x * a2x) << 1) + a1x * a1x + q0x * Hx + q1x * Lx;':
      'wx = ((a0x * a2x) << 1) + q0x * Hx + q1x * Lx + a1x * a1x;',
    'wxz = ((a0xz * a2xz) << 1) + a1xz * a1xz + q0xz * Hxz + q1xz * Lxz;':
      'wxz = a1xz * a1xz + q1xz * Lxz + ((a0xz * a2xz) << 1) + q0xz * Hxz;',
    'c8 = wxz + wy - wx - wz;': 'c8 = wy - wx + wxz - wz;',
  },
  product: {
    'wx = a0x * b1x + a1x * b0x + q0x * Lx;': 'wx = a1x * b0x + a0x * b1x + q0x * Lx;',
    'wxz = a0xz * b1xz + a1xz * b0xz + q0xz * Lxz;': 'wxz = a1xz * b0xz + a0xz * b1xz + q0xz * Lxz;',
    'wy = a0y * b2y + a1y * b1y + a2y * b0y + q0y * Hy + q1y * Ly;':
      'wy = q0y * Hy + a2y * b0y + a1y * b1y + q1y * Ly + a0y * b2y;',
    'wx = a1x * b2x + a2x * b1x + q1x * Hx + q2x * Lx;': 'wx = q2x * Lx + a2x * b1x + a1x * b2x + q1x * Hx;',
    'sum = c9 - (q2y << 6) + q2z * NEAR + carry;': 'sum = carry + c9 - (q2y << 6) + q2z * NEAR;',
  },
};
const ordered = (terms) => {
  const orders = terms === square ? ORDERS.square : ORDERS.product;
  return steps(terms).map((line) => orders[line] ?? line);
};

function steps(terms) {
  const lines = [...group(0, terms)];
  for (let block = 0; block < 3; block++) lines.push(...factors(block), ...group(block + 1, terms));
  lines.push(...group(4, terms));
  for (let k = LIMBS; k < 2 * LIMBS - 1; k++) {
    const late = k === 9 ? ` - ${times64('q2y')} + q2z * NEAR` : k === 10 ? ` - ${times64('q2z')}` : '';
    lines.push(`sum = c${k}${late} + carry;`, `${limbName('n', k - LIMBS)} = sum & MASK;`, 'carry = sum >> LIMB_BITS;');
  }
  return lines;
}

const blocks = (letter, points = POINTS) => range(3).flatMap((block) => points.map((p) => at(letter, block, p)));
const constants = Object.entries(U).flatMap(([name, limbs]) =>
  POINTS.map((p) => `const ${name}${p}: i64 = -${hex([...p].reduce((sum, x) => sum + limb(limbs[PLACE[x]]), 0n))};`),
);

const source = `// Generated by scripts/generate-bls12377.mjs; do not edit.
// biome-ignore-all format: a step a line
// biome-ignore-all lint/style/useSingleVarDeclarator: the limbs are one number

/**
 * The BLS12-377 scalar field. An element is nine limbs of 29 bits, least first, 36 bytes of memory, in Montgomery form with
 * radix 2^261. The modulus is 1 modulo 2^47, so a reduction step takes no product to find its factor, and all columns stay
 * below 2^63 (docs/spec/hashing.md 6). The generator explains the names and the order of the steps.
 */
export const LIMB_BITS: i64 = ${LIMB_BITS};
export const MASK: i64 = ${hex(MASK)};
export const ELEMENT_BYTES: usize = ${4 * LIMBS};

// Limbs of the modulus, and sums of them, negated. NEAR is the second limb and two of the third.
const NEAR: i64 = -${hex(limb(1) + (2n << LIMB_BITS))};
${constants.join('\n')}

/**
 * \`sum = a + b + c; into = sum^(2^squarings) * factor\`. A factor of 0 stands for the sum: with four squarings that is a
 * round of MiMC's cipher. Sum and factor are below 4.5 times the modulus in size; the result is between minus the modulus and
 * 0.1 times the modulus, with limbs below 2^29. The limbs of a sum that is squared are below 3 2^28 in size (\`lower\` sees to
 * it), those of another below 2^31. With more rounds, the result takes the place of \`a\` and the element behind \`c\` that of
 * \`c\`. One function, so that the limbs stay in locals.
 */
export function addSquareMultiply(a: usize, b: usize, c: usize, squarings: i32, factor: usize, into: usize, rounds: i32 = 1): void {
${indent(
  range(LIMBS).flatMap((i) => [`let ${limbName('a', i)}: i64 = load<i32>(a, ${4 * i});`]),
  2,
)}
  ${zeros(range(3).flatMap((b) => POINTS.slice(3).map((p) => at('a', b, p))))}
  ${zeros(blocks('b', ['x', 'y', 'z']))}
  ${zeros(blocks('q'))}
  ${zeros(blocks('n', ['x', 'y', 'z']).slice(0, 8))}
  ${zeros(POINTS.map((p) => `w${p}`))}
  ${zeros(range(17).map((i) => `c${i}`))}
  ${zeros(['sum', 'carry', 'over'])}
  for (; rounds > 0; rounds--, c += ELEMENT_BYTES) {
${indent(
  range(LIMBS).map(
    (i) => `${limbName('a', i)} = ${limbName('a', i)} + load<i32>(b, ${4 * i}) + load<i32>(c, ${4 * i});`,
  ),
  4,
)}
${indent(
  range(LIMBS).map((i) => `${limbName('b', i)} = ${limbName('a', i)};`),
  4,
)}
    for (let left = squarings; left > 0; left--) {
${indent(
  range(3).flatMap((block) => sums('a', block)),
  6,
)}
${indent(ordered(square), 6)}
    ${range(LIMBS)
      .map((i) => `${limbName('a', i)} = ${i < 8 ? limbName('n', i) : 'carry'};`)
      .join(' ')}
  }
${indent(
  range(3).flatMap((block) => sums('a', block)),
  4,
)}
    if (factor !== 0) {
${indent(
  range(LIMBS).map((i) => `${limbName('b', i)} = load<i32>(factor, ${4 * i});`),
  6,
)}
    }
${indent(
  range(3).flatMap((block) => sums('b', block).map((line) => `const ${line.replace(' =', ': i64 =')}`)),
  4,
)}
${indent(ordered(product), 4)}
    ${range(LIMBS)
      .map((i) => `${limbName('a', i)} = ${i < 8 ? limbName('n', i) : 'carry'};`)
      .join(' ')}
  }
${indent(
  range(LIMBS).map((i) => `store<i32>(into, ${limbName('a', i)}, ${4 * i});`),
  2,
)}
}
`;
export const files = { 'assembly/field/bls12377.ts': source };
await writeGenerated(import.meta.url, files);
