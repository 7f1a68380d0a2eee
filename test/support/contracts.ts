import { readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CompiledContract } from '../../scripts/build-contracts.mjs';
import type { Hex } from '../../src/primitives/hex.js';

type Compiler = typeof import('../../scripts/build-contracts.mjs');
export type Contracts = Readonly<Record<string, CompiledContract>>;

/** The nearest folder above this file with a package.json: benches run a compiled copy of it in build/. */
function repositoryRoot(): string {
  const isRoot = (folder: string) => statSync(`${folder}/package.json`, { throwIfNoEntry: false }) !== undefined;
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isRoot(folder)) folder = dirname(folder);
  return folder;
}

let compiled: Promise<Contracts> | undefined;

/** The test token and everything in test/contracts/ by name, compiled on first use; takes the compiler about a second. */
export function contracts(): Promise<Contracts> {
  compiled ??= compileAll(repositoryRoot());
  return compiled;
}

async function compileAll(root: string): Promise<Contracts> {
  const url = pathToFileURL(`${root}/scripts/build-contracts.mjs`).href;
  const { compileContracts } = (await import(/* @vite-ignore */ url)) as Compiler;
  const sources = readdirSync(`${root}/test/contracts`).map((name) => `test/contracts/${name}`);
  return compileContracts(['scripts/contracts/TestToken.sol', ...sources]);
}

/** An argument of a call: a word as number or hex (left padded), bytes, or an array of words. */
export type Argument = bigint | number | Hex | { readonly bytes: Hex } | readonly (bigint | Hex)[];

/** A 32-byte word, as 64 hex digits. */
export function word(value: bigint | number | Hex): string {
  return BigInt(value).toString(16).padStart(64, '0');
}

/** Arguments by the contract ABI, hex digits without prefix. */
export function encodeArguments(args: readonly Argument[]): string {
  const heads: string[] = [];
  let tail = '';
  for (const argument of args) {
    if (typeof argument !== 'object') {
      heads.push(word(argument));
      continue;
    }
    heads.push(word(args.length * 32 + tail.length / 2));
    if ('bytes' in argument) {
      const digits = argument.bytes.slice(2);
      tail += word(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
    } else tail += word(argument.length) + argument.map(word).join('');
  }
  return heads.join('') + tail;
}

/** Calldata of a function, named by its signature. */
export function callData(contract: CompiledContract | undefined, signature: string, ...args: Argument[]): Hex {
  const selector = contract?.methodIdentifiers[signature];
  if (selector === undefined) throw new Error(`the contract has no ${signature}`);
  return `0x${selector}${encodeArguments(args)}`;
}
