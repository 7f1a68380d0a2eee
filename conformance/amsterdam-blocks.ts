import { RLP } from '@ethereumjs/rlp';
import { importChain } from '../src/chain/devnet/import-blocks.js';
import { type BlockExecution, executeBlock } from '../src/chain/devnet/mining/block-execution.js';
import type { BlockRecord } from '../src/chain/devnet/records/block-record.js';
import { Ledger } from '../src/chain/devnet/records/ledger.js';
import { DevnetState } from '../src/chain/devnet/state/devnet-state.js';
import { type GenesisAlloc, sealGenesis } from '../src/chain/devnet/state/genesis.js';
import { isPlumblineError } from '../src/errors.js';
import { type AccountAccesses, encodeBlockAccessList } from '../src/ethereum/block-access-list.js';
import { headerFromFields } from '../src/ethereum/header.js';
import { encodeReceipt } from '../src/ethereum/receipt.js';
import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { parseSignedTransaction } from '../src/ethereum/transaction.js';
import { contextOfHeader } from '../src/evm/block-context.js';
import { requestsHash } from '../src/evm/system-calls.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { loadTrieKernel } from '../src/kernel/trie.js';
import { devnet } from '../src/networks/devnet.js';
import type { Network } from '../src/networks/network.js';
import { bytesToKey } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { toQuantity } from '../src/primitives/quantity.js';
import { applyAccesses, type ListedAccount } from '../src/proof/access-list.js';
import { type Area, differs, type Material, type Report } from './area.js';
import { networkOf, type StateTest, withWholeKeys } from './state-tests.js';

interface Gas {
  executionGas: Hex;
  stateGas: Hex;
}

/** Lists that are empty may be null. */
interface ValidBlock {
  rlp: Hex;
  headerRlp: Hex;
  hash: Hex;
  transactions: Hex[] | null;
  withdrawals: { index: Hex; validatorIndex: Hex; address: Hex; amount: Hex }[] | null;
  receipts: { encoded: Hex }[] | null;
  requests: Hex[] | null;
  blockAccessList: { rlp: Hex };
  gas: Gas & { transactions: (Gas & { gasUsed: Hex })[] | null };
}

/** A block in the place of the last one. */
interface SpoiltBlock {
  what: string;
  rlp: Hex;
  hash: Hex;
  accepted?: true;
}

interface Vector extends Pick<StateTest, 'pre' | 'config'> {
  genesis: { headerRlp: Hex; hash: Hex };
  blocks: ValidBlock[];
  invalid?: SpoiltBlock[];
}

const FILE = 'amsterdam/blocks.json';

/** Chains of blocks under Amsterdam: header, receipts, requests, access list, both sums of gas, and what is refused. */
export const amsterdamBlocksArea: Area = {
  name: 'amsterdam blocks',
  usesKernel: true,
  isOutside: true,
  showsEveryFailure: true,
  files: (material) => [FILE].filter(material.has),
  async run(material, report) {
    await loadSignerRecovery();
    for (const [name, vector] of Object.entries(material.json<Record<string, Vector>>(FILE)))
      if (material.wants(name)) await checkVector(name, vector, material, report);
  },
};

async function checkVector(name: string, vector: Vector, { build }: Material, report: Report): Promise<void> {
  const chain = await openChain(vector, build);
  await report.check(`${name} genesis`, () => differs(vector.genesis.hash, bytesToHex(chain.ledger.head.hash)));
  const before = Math.max(0, vector.blocks.length - 1);
  for (const [i, block] of vector.blocks.entries()) {
    if (i === before) await checkSpoilt(name, vector, chain, report);
    const what = `${name} block ${i + 1}`;
    await report.check(what, async () => differsExecution(block, await chain.execute(block)));
    const { accessList = [] } = await chain.execute(block);
    const held = await Promise.all(accessList.map((accesses) => chain.held(accesses)));
    await report.check(`${what}, imported`, async () => {
      await chain.append(block.rlp);
      return differs(block.hash, bytesToHex(chain.ledger.head.hash));
    });
    // As a light node brings over what it holds. geth's state root holds for both sides.
    await report.check(`${what}, by its list from the state before to the one after`, async () => {
      for (const [at, accesses] of accessList.entries()) {
        const [own, after] = [held[at]!, await chain.held(accesses)];
        applyAccesses(own, accesses);
        const slots = ({ slots }: ListedAccount) => [...slots].filter(([key]) => own.slots.has(key)).sort();
        const found = differs([valuesOf(after), slots(after)], [valuesOf(own), slots(own)]);
        if (found !== undefined) return `${bytesToHex(accesses.address)}: ${found}`;
      }
      return undefined;
    });
  }
  if (vector.blocks.length === 0) await checkSpoilt(name, vector, chain, report);
}

async function checkSpoilt(name: string, { invalid = [] }: Vector, chain: TestChain, report: Report): Promise<void> {
  for (const { what, rlp, accepted, hash } of invalid) {
    await report.check(`${name}: ${what}`, async () => {
      const { head } = chain.ledger;
      try {
        await chain.append(rlp);
      } catch (error) {
        if (!isPlumblineError(error, 'BLOCK_INVALID')) throw error;
        return accepted ? `expected a valid block: ${error.message}` : undefined;
      }
      const got = bytesToHex(chain.ledger.head.hash);
      chain.revert(head.header.number);
      return accepted ? differs(hash, got) : 'expected a refusal, and the block was imported';
    });
  }
}

function differsExecution(block: ValidBlock, execution: BlockExecution): string | undefined {
  const { executed, gasUsed, accessList = [] } = execution;
  const receipts = executed.map(({ transaction: { type }, outcome: { succeeded, logs }, cumulativeGasUsed }) =>
    bytesToHex(encodeReceipt({ type, succeeded, cumulativeGasUsed, logs })),
  );
  const gas = executed.map(({ outcome }) => ({
    gasUsed: toQuantity(outcome.gasUsed),
    executionGas: toQuantity(outcome.executionGas),
    stateGas: toQuantity(outcome.stateGas),
  }));
  const { transactions, ...sums } = block.gas;
  const larger = BigInt(sums.executionGas) > BigInt(sums.stateGas) ? sums.executionGas : sums.stateGas;
  const sum = (member: 'executionGas' | 'stateGas') =>
    toQuantity(executed.reduce((total, { outcome }) => total + outcome[member], 0n));
  const requests = requestsHash((block.requests ?? []).map((request) => hexToBytes(request)));
  return (
    differs(transactions ?? [], gas) ??
    differs(sums, { executionGas: sum('executionGas'), stateGas: sum('stateGas') }) ??
    differs(larger, toQuantity(gasUsed)) ??
    differs(
      (block.receipts ?? []).map(({ encoded }) => encoded),
      receipts,
    ) ??
    differs(bytesToHex(requests), bytesToHex(execution.requestsHash!)) ??
    differs(block.blockAccessList.rlp, bytesToHex(encodeBlockAccessList(accessList)))
  );
}

/** Of an account that is there. */
const valuesOf = ({ account }: ListedAccount) =>
  account && [account.nonce, account.balance, bytesToHex(account.codeHash)].map(String);

type TestChain = Awaited<ReturnType<typeof openChain>>;

async function openChain(vector: Vector, build: Material['build']) {
  const { pre, genesis } = vector;
  const network: Network = { ...devnet(), ...networkOf(vector, 'Amsterdam') };
  const header = headerFromFields(RLP.decode(hexToBytes(genesis.headerRlp)) as Uint8Array[]);
  const [hasher, kernel] = await Promise.all([
    loadHasher('poseidon2', { build }),
    loadTrieKernel('poseidon2', { build, undo: true, nodes: true }),
  ]);
  const state = await DevnetState.create({ hasher, kernel }, false);
  const settings = {
    network,
    alloc: allocOf(pre),
    genesisTimestamp: header.timestamp,
    genesisHeader: { ...header, coinbase: header.miner },
    prices: undefined,
    coinbase: header.miner,
    onProgress: undefined,
  };
  const record = await sealGenesis(settings, state);
  const ledger = new Ledger(network.chainId);
  ledger.append(record.block, []);
  return {
    ledger,
    /** Executes a block after the head, and leaves the state as it was. */
    execute({ headerRlp, transactions, withdrawals }: ValidBlock): Promise<BlockExecution> {
      const next = headerFromFields(RLP.decode(hexToBytes(headerRlp)) as Uint8Array[]);
      const plan = {
        context: contextOfHeader(next, ledger.blockHash, network),
        transactions: (transactions ?? []).map((raw) =>
          parseSignedTransaction(hexToBytes(raw), network.chainId, { blobs: true }),
        ),
        withdrawals: (withdrawals ?? []).map(({ index, validatorIndex, address, amount }) => ({
          index: BigInt(index),
          validatorIndex: BigInt(validatorIndex),
          address: hexToBytes(address, 20),
          amount: BigInt(amount),
        })),
      };
      return executeBlock(network, state, plan, (error) => {
        throw error;
      });
    },
    /** What the state has of an account, and of its slots that a list names. */
    async held({ address, storageChanges, storageReads }: AccountAccesses): Promise<ListedAccount> {
      const keys = [...storageChanges.map(({ key }) => key), ...storageReads];
      const reader = state.flat.at(ledger.head.header.number);
      const account = await reader.account(address);
      const slots = await Promise.all(
        keys.map(async (key): Promise<[string, Uint8Array]> => [bytesToKey(key), await reader.slot(address, key)]),
      );
      return { account, slots: new Map(slots) };
    },
    async append(rlp: Hex): Promise<void> {
      const append = async ({ block, receipts }: BlockRecord) => ledger.append(block, receipts);
      await importChain({ network, ledger, state }, hexToBytes(rlp), append);
    },
    revert(number: number): void {
      ledger.truncate(number);
      state.revertTo(number, ledger.head.header.stateRoot);
    },
  };
}

function allocOf(pre: StateTest['pre']): GenesisAlloc {
  const accounts = Object.entries(withWholeKeys(pre)).map(([address, account]) => {
    const { nonce = '0x0', balance = '0x0', code = '0x', storage = {} } = account ?? {};
    return [address, { nonce: BigInt(nonce), balance: BigInt(balance), code, storage }];
  });
  return Object.fromEntries(accounts) as GenesisAlloc;
}
