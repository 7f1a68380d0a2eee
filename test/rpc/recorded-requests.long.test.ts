import { expect, onTestFinished, test } from 'vitest';
import { DEV_MNEMONIC } from '../../src/chain/devnet/state/dev-accounts.js';
import { accountsOfMnemonic } from '../../src/hosts/cli/mnemonic.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { RECORDED_CHAIN, recordedRequests, replay } from '../support/recorded-requests.js';

// All tests of the suite had passed when its requests were recorded (bench/recorded/README.md).
test('requests of the tests of OpenZeppelin succeed and fail where they did for that suite', async () => {
  const { chainId } = RECORDED_CHAIN;
  const accounts = accountsOfMnemonic(DEV_MNEMONIC, RECORDED_CHAIN.accounts);
  const network = devnet({ chainId });
  const node = await createInlineNode({ chain: { kind: 'devnet', network, tool: 'hardhat', accounts } });
  onTestFinished(() => node.close());
  const requests = recordedRequests();
  expect(requests).toHaveLength(10_000);
  const others = await replay(requests, (method, params) =>
    node.request<UntypedMethod>({ method, params }).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    ),
  );
  expect(others).toEqual([]);
});
