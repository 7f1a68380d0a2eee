import { join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BUNDLERS } from './builds.js';
import { executablePath, launch, STRICT_CSP, serveFiles, troublesOf } from './page.js';
import { bin, type Packed, packPackage, run } from './project.js';

/**
 * A widget that sends: wagmi connects, sends and waits for the receipt; viem estimates; plumbline’s hook previews; ethers reads
 * what came of it. All four ask one node.
 */
const WIDGET = `import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { BrowserProvider } from 'ethers';
import { createNode, type PlumblineNode } from 'plumbline-l2';
import { NodeProvider, usePreview } from 'plumbline-l2/react';
import { CHAINS, lineaActions } from 'plumbline-l2/viem';
import { plumblineConnector, plumblineTransport } from 'plumbline-l2/wagmi';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createPublicClient, formatEther, parseEther } from 'viem';
import {
  createConfig, useConnect, useConnection, useConnectors, useSendTransaction, useWaitForTransactionReceipt, WagmiProvider,
} from 'wagmi';

const TO = '0x2500000000000000000000000000000000000000';
const value = parseEther('1.5');

let node: Promise<PlumblineNode> | undefined;
const open = () => (node ??= createNode());
const transport = plumblineTransport(open);
const client = createPublicClient({ chain: CHAINS.devnet, transport }).extend(lineaActions());
const config = createConfig({
  chains: [CHAINS.devnet],
  connectors: [plumblineConnector(open)],
  transports: { [CHAINS.devnet.id]: transport },
});

function Transfer({ account }: { account: \`0x\${string}\` }) {
  const fees = useQuery({
    queryKey: ['fees', account],
    queryFn: async () => {
      const { gasLimit, priorityFeePerGas } = await client.estimateLineaFees({ account, to: TO, value });
      return \`\${gasLimit} gas, priority fee \${priorityFeePerGas > 0n ? 'above zero' : 'zero'}\`;
    },
  });
  const preview = usePreview({ account, to: TO, value });
  const { mutate: send, data: hash } = useSendTransaction();
  const { data: receipt } = useWaitForTransactionReceipt({ hash });
  const after = useQuery({
    queryKey: ['after', hash],
    enabled: receipt !== undefined,
    queryFn: async () => {
      const provider = new BrowserProvider(await open());
      const found = await provider.getTransactionReceipt(hash!);
      return \`\${found!.gasUsed} gas in block \${found!.blockNumber}, \${formatEther(await provider.getBalance(TO))} ETH\`;
    },
  });
  return (
    <>
      <p id="fees">{fees.data}</p>
      <p id="preview">{preview.data?.calls[0]?.status}</p>
      <button type="button" onClick={() => send({ to: TO, value })}>Send</button>
      <p id="receipt">{receipt?.status}</p>
      <p id="after">{after.data}</p>
    </>
  );
}

function Widget() {
  const { address } = useConnection();
  const [connector] = useConnectors();
  const { mutate: connect } = useConnect();
  if (address !== undefined) return <Transfer account={address} />;
  return <button type="button" onClick={() => connect({ connector: connector! })}>Connect</button>;
}

createRoot(document.querySelector('#app')!).render(
  <StrictMode>
    <WagmiProvider config={config}>
      <QueryClientProvider client={new QueryClient()}>
        <NodeProvider open={open}>
          <Widget />
        </NodeProvider>
      </QueryClientProvider>
    </WagmiProvider>
  </StrictMode>,
);
`;

const TYPES = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    // The declarations of other packages are theirs to keep; types.test.ts checks ours.
    skipLibCheck: true,
    noEmit: true,
  },
  files: ['widget.tsx'],
};

const PACKAGES = ['@tanstack/react-query', 'ethers', 'react', 'react-dom', 'viem', 'wagmi'];
const TYPES_OF = ['@types/react', '@types/react-dom'];

describe('a widget with React, wagmi, viem and ethers, and the packed package', () => {
  let packed: Packed;
  let project: string;
  beforeAll(async () => {
    packed = await packPackage();
    const files = {
      'index.html':
        '<!doctype html><title>widget</title><div id="app"></div><script type="module" src="./widget.tsx"></script>',
      'widget.tsx': WIDGET,
      'tsconfig.json': JSON.stringify(TYPES),
      ...BUNDLERS.vite8.settings('devnet'),
    };
    project = packed.project('widget', files, [...PACKAGES, ...TYPES_OF]);
  });

  test('has no errors of types', async () => {
    expect(await run(bin('tsc'), ['-p', 'tsconfig.json'], project)).toBe('');
  });

  describe.skipIf(executablePath === undefined)('in Chromium', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launch();
    });
    afterAll(() => browser?.close());

    test('connects, estimates, previews, sends and shows the receipt, under the strictest policy', async () => {
      await BUNDLERS.vite8.build(project);
      const server = await serveFiles(join(project, 'out'), STRICT_CSP);
      onTestFinished(() => server.close());
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
      const troubles = troublesOf(page);
      await page.goto(server.url);
      const shown = async (id: string) => {
        const place = page.locator(`#${id}`, { hasText: /./ });
        await place.waitFor();
        return place.innerText();
      };
      await page.getByRole('button', { name: 'Connect' }).click();
      // 21 000 is what a plain transfer costs.
      expect(await shown('fees')).toBe('21000 gas, priority fee above zero');
      expect(await shown('preview')).toBe('success');
      await page.getByRole('button', { name: 'Send' }).click();
      expect(await shown('receipt')).toBe('success');
      expect(await shown('after')).toBe('21000 gas in block 1, 1.5 ETH');
      expect(page.workers()).toHaveLength(1);
      expect(troubles).toEqual([]);
    });
  });
});
