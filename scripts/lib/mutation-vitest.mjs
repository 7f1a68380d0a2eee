/** What tests import from `vitest`, for tests that run in the process of the mutants (mutation-runner.mjs). */
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect';
import { fn, restoreAllMocks, spyOn } from '@vitest/spy';

export {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  it,
  onTestFinished,
  test,
} from '@vitest/runner';

for (const part of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(part);

export const expect = (value, message) => chai.expect(value, message);
Object.assign(expect, chai.expect, globalThis[ASYMMETRIC_MATCHERS_OBJECT]);
setState({ assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null }, expect);

const globals = new Map();
export const vi = {
  fn,
  spyOn,
  restoreAllMocks,
  stubGlobal(name, value) {
    if (!globals.has(name)) globals.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true });
  },
  unstubAllGlobals() {
    for (const [name, before] of globals) {
      if (before === undefined) delete globalThis[name];
      else Object.defineProperty(globalThis, name, before);
    }
    globals.clear();
  },
};
