/**
 * Folders whose mutants are tried, with the tests that are to notice them: fast ones, since each of some thousand mutants
 * runs them anew. Globs of files, as vitest has them.
 */
export const MUTATED_FOLDERS = {
  fees: ['test/unit/{extra-data,fees,fees-*,transaction-bytes}.test.ts'],
  kernel: [
    'test/unit/{keccak,recovery,sizer-cache,dictionary,trie-kernel,trie-refusals,precompiles}.test.ts',
    'test/unit/{evm-*,state-memory,state-proofs,state-world,state-entry,fees,transaction-bytes}.test.ts',
    'test/unit/{hash-vectors,evm-fixtures}.long.test.ts',
    'test/differential/{hash,lzss}.test.ts',
    'test/rpc/trace.test.ts',
  ],
  proof: [
    'test/unit/{mpt-*,light-seals}.test.ts',
    'test/unit/proof-{account-state,bodies,contents,headers,header-verdicts,hostile-tree,json-reader}.test.ts',
    'test/unit/proof-{linea-answer,maru,maru-answer,recorded,settled-header}.test.ts',
  ],
  state: ['test/unit/{state-*,replica-parts}.test.ts', 'test/unit/state-{key-follower,pages,trace}.long.test.ts'],
  upstream: ['test/unit/upstream-*.test.ts'],
};
