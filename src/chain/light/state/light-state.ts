import { PlumblineError } from '../../../errors.js';
import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import type { Account, StateReader } from '../../../evm/state/state-reader.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { Wants } from './access-set.js';
import type { ProvedState } from './proved-state.js';

/** Gets what is wanted proved and put into the state, or throws. It may get more than was asked for. */
export type Obtain = (wants: Wants) => Promise<void>;

/** Turns that reads have to meet in one request. */
const GATHERING_TURNS = 3;
const NO_CODE = new Uint8Array(0);

/** Reads a state of which parts are proved; what is missing is fetched, reads at the same time in one request. */
export class LightState implements StateReader {
  private gathering: { readonly wants: Wants; readonly done: Promise<void> } | undefined;

  /** @param read - everything that was read is added to it */
  constructor(
    private readonly state: ProvedState,
    private readonly obtain: Obtain,
    private readonly read: Wants = new Wants(),
  ) {}

  async account(address: Uint8Array): Promise<Account | undefined> {
    this.read.account(address);
    if (!this.state.hasAccount(address)) await this.get((wants) => wants.account(address));
    return this.state.account(address);
  }

  async slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    this.read.slot(address, slot);
    const known = this.state.slot(address, slot);
    if (known !== undefined) return known;
    await this.get((wants) => wants.slot(address, slot));
    return this.state.slot(address, slot)!;
  }

  async code(codeHash: Uint8Array): Promise<Uint8Array> {
    if (equalBytes(codeHash, EMPTY_CODE_HASH)) return NO_CODE;
    const { codes } = this.state;
    const known = await codes.load(codeHash);
    const holder = this.state.holderOf(codeHash);
    if (holder !== undefined) this.read.account(holder, true);
    if (known !== undefined) return known;
    if (holder === undefined) {
      const reason = `no known account has the code ${bytesToHex(codeHash)}`;
      throw new PlumblineError('INTERNAL', reason, { reason });
    }
    await this.get((wants) => wants.account(holder, true));
    return codes.get(codeHash)!;
  }

  private get(name: (wants: Wants) => Wants): Promise<void> {
    if (this.gathering === undefined) {
      const wants = new Wants();
      this.gathering = { wants, done: this.gather(wants) };
    }
    name(this.gathering.wants);
    return this.gathering.done;
  }

  private async gather(wants: Wants): Promise<void> {
    for (let turn = 0; turn < GATHERING_TURNS; turn++) await undefined;
    this.gathering = undefined;
    await this.obtain(wants);
  }
}
