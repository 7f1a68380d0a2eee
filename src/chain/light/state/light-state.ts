import { PlumblineError } from '../../../errors.js';
import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import type { Account, StateReader } from '../../../evm/state-reader.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { AccessSet } from './access-set.js';
import type { ProvedState } from './proved-state.js';

/** Fetches and proves accesses and puts them into the state, or throws. It may fetch more than was asked for. */
export type Obtain = (accesses: AccessSet) => Promise<void>;

/** Microtasks during which reads are gathered into one request. */
const GATHERING_TURNS = 3;
const NO_CODE = new Uint8Array(0);

/** Reads a state that is proved in part. What is missing is fetched; reads at the same time share one request. */
export class LightState implements StateReader {
  private gathering: { readonly accesses: AccessSet; readonly done: Promise<void> } | undefined;

  /** @param read - every read is added to it */
  constructor(
    private readonly state: ProvedState,
    private readonly obtain: Obtain,
    private readonly read: AccessSet = new AccessSet(),
  ) {}

  async account(address: Uint8Array): Promise<Account | undefined> {
    this.read.addAccount(address);
    if (!this.state.hasAccount(address)) await this.get((accesses) => accesses.addAccount(address));
    return this.state.account(address);
  }

  async slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    this.read.addSlot(address, slot);
    const known = this.state.slot(address, slot);
    if (known !== undefined) return known;
    await this.get((accesses) => accesses.addSlot(address, slot));
    return this.state.slot(address, slot)!;
  }

  async code(codeHash: Uint8Array): Promise<Uint8Array> {
    if (equalBytes(codeHash, EMPTY_CODE_HASH)) return NO_CODE;
    const { codes } = this.state;
    const known = await codes.load(codeHash);
    const holder = this.state.holderOf(codeHash);
    if (holder !== undefined) this.read.addAccount(holder, true);
    if (known !== undefined) return known;
    if (holder === undefined) {
      const reason = `no known account has the code ${bytesToHex(codeHash)}`;
      throw new PlumblineError('INTERNAL', reason, { reason });
    }
    await this.get((accesses) => accesses.addAccount(holder, true));
    return codes.get(codeHash)!;
  }

  private get(add: (accesses: AccessSet) => AccessSet): Promise<void> {
    if (this.gathering === undefined) {
      const accesses = new AccessSet();
      this.gathering = { accesses, done: this.gather(accesses) };
    }
    add(this.gathering.accesses);
    return this.gathering.done;
  }

  private async gather(accesses: AccessSet): Promise<void> {
    for (let turn = 0; turn < GATHERING_TURNS; turn++) await undefined;
    this.gathering = undefined;
    await this.obtain(accesses);
  }
}
