/**
 * Folders whose mutants are tried, with the tests that are to notice them: fast ones, since each of some thousand mutants
 * runs them anew. Globs of files, as vitest has them.
 */
export const MUTATED_FOLDERS = {
  fees: ['test/unit/{dictionary,dictionary-source,extra-data,fees,fees-*,transaction-bytes}.test.ts'],
  kernel: [
    'test/unit/{kernel-loading,kernel-modules,keccak,recovery,sizer-cache,dictionary,precompiles}.test.ts',
    'test/unit/trie-{kernel,past,refusals}.test.ts',
    'test/unit/{evm-*,state-memory,state-twins,state-paged,state-world,state-entry,fees,transaction-bytes}.test.ts',
    'test/unit/{hash-vectors,evm-fixtures}.long.test.ts',
    'test/differential/{hash,lzss}.test.ts',
    'test/rpc/trace.long.test.ts',
  ],
  proof: [
    'test/unit/{mpt-*,light-seals,amsterdam-headers}.test.ts',
    'test/unit/proof-{account-state,bodies,contents,headers,header-verdicts,hostile-tree,json-reader}.test.ts',
    'test/unit/proof-{access-list,linea-answer,maru,maru-answer,recorded,settled-header,unchanged-slot}.test.ts',
    'test/unit/{block-lists,forced-transactions,messages,settled-by-hash}.test.ts',
  ],
  state: [
    'test/unit/state-{block-mismatch,entry,fixtures,holding,key-follower,memory,refusals,tree,trie-log,twins,world}.test.ts',
    'test/unit/{state-page*,state-trace-*,state-traced-application,state-witness*}.test.ts',
    'test/unit/state-{fixtures,witness}.long.test.ts',
    '!test/unit/state-!(fixtures|witness).long.test.ts',
  ],
  upstream: ['test/unit/upstream-*.test.ts'],
};

/** Tests of those files that are left out: each survivor would cost their time, and they find little that others do not. */
export const SLOW_TESTS = {
  kernel: new RegExp(
    [
      'hashing/trees|scalar against the twin|tries, simd against|> (every length|inputs around|.*edge words|a word that is not below)',
      'plain model > (agrees (on|after|when whole|where)|gives the same size)|never confuses|same bytes each time',
      'of every block|some state tests|by a light node|of a pairing|yields the thread',
      'in chunks, reports|pages more or less|memory of dropped tries',
    ].join('|'),
  ),
  state: new RegExp(
    [
      'state/generated-|in chunks, reports|seed [2-9]|mimc: a witness trie and the full tree > agree',
      'refuses blocks with traces too|with (19|2.) pages|without memory for its record|the store of a replica',
      'state trees? >|operations >|mimc tree >|poseidon2 tree >',
    ].join('|'),
  ),
};
