import { randomBytes } from '../random-programs.js';
import { code, OP, pick, push, pushAddress, store } from './code.js';
import { type Setting, since } from './setting.js';

/** Code that a creation runs: it deploys, fails, destroys itself, calls back, or writes storage. */
export function initCode(setting: Setting): Uint8Array {
  const { below, accounts } = setting;
  const effect = pick(below, [
    code(),
    code(),
    code(push(below(3)), push(below(3)), OP.SSTORE),
    code(push(1), push(2), OP.LOG0),
  ]);
  switch (below(14)) {
    case 0:
      return code();
    case 1:
      return code(effect, push(below(70)), push(0), OP.REVERT);
    case 2:
      return code(effect, OP.INVALID);
    case 3:
      return code(effect, pushAddress(pick(below, accounts)), OP.SELFDESTRUCT);
    case 4:
      return code(effect, OP.ADDRESS, OP.SELFDESTRUCT);
    case 5:
      // Code that may not be deployed from London on.
      return code(effect, deploying(code(0xef, ...randomBytes(below, below(4)))));
    case 6:
      // At the limit of a contract's size and above it.
      return code(effect, push(pick(below, [0x5fff, 0x6000, 0x6001, 0xc000])), push(0), OP.RETURN);
    case 7:
      // Calls back its creator with little gas, then deploys what came back.
      return code(
        ...[push(32), push(0), push(0), push(0), push(0), 0x33, push(20_000), OP.CALL, OP.POP],
        ...[push(below(33)), push(0), OP.RETURN],
      );
    case 8:
      return code(effect, push(3), OP.JUMPDEST);
    case 9:
      // A creation within the creation.
      return code(store(0, deploying(runtime(setting))), push(64), push(0), push(0), OP.CREATE, push(0), OP.SSTORE);
    case 10:
      // Reads its own code and data: a creation has none of the second.
      return code(
        OP.CODESIZE,
        push(0),
        push(0),
        OP.CODECOPY,
        OP.CALLDATASIZE,
        push(1),
        OP.SSTORE,
        push(64),
        push(0),
        OP.RETURN,
      );
    default:
      return code(effect, deploying(runtime(setting)));
  }
}

/** Init code that deploys up to a word of code. */
function deploying(runtimeCode: Uint8Array): Uint8Array {
  const short = runtimeCode.subarray(0, 32);
  return code(store(0, short), push(short.length), push(0), OP.RETURN);
}

/** Small contracts, of at most a word. */
function runtime(setting: Setting): Uint8Array {
  const { below, accounts } = setting;
  const someone = pushAddress(pick(below, accounts));
  const transient = since(setting, 'cancun') ? code(push(0), OP.TLOAD, push(0), OP.SSTORE) : code(OP.STOP);
  return pick(below, [
    code(push(below(4)), push(below(3)), OP.SSTORE),
    code(someone, OP.SELFDESTRUCT),
    code(0x33, OP.SELFDESTRUCT),
    code(push(below(40)), push(0), OP.REVERT),
    code(OP.GAS, push(0), OP.MSTORE, push(32), push(0), OP.RETURN),
    code(push(0), OP.SLOAD, push(1), 0x01, push(0), OP.SSTORE),
    transient,
    randomBytes(below, below(32)),
  ]);
}
