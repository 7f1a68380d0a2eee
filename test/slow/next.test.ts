/*
 * Slow because Next.js is 340 MB to install and minutes to build on a busy machine; it is installed outside of the repository.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { addressOf, executablePath, launch, outcomeOf } from '../packaging/page.js';
import { ANSWERS, ESTIMATE, packPackage, run } from '../packaging/project.js';

/** Pinned: what is tried here does not change by itself. */
const PACKAGES = ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'];

/** A component of the server has a node of its own, and one of the client another in a worker. */
const FILES: Readonly<Record<string, string>> = {
  'app/layout.jsx': `export default function Layout({ children }) {
  return <html><body>{children}</body></html>;
}`,
  'app/page.jsx': `import { feeOnServer } from './server.js';
import Fee from './fee.jsx';
export const dynamic = 'force-dynamic';
export default async function Page() {
  return <main><p id="server">{await feeOnServer()}</p><Fee /></main>;
}`,
  'app/server.js': `import { linea } from 'plumbline-l2';
import { createInlineNode } from 'plumbline-l2/inline';
import { loadHasher } from 'plumbline-l2/verify';
import { estimate } from './estimate.js';
export async function feeOnServer() {
  const { transfer } = await estimate(await createInlineNode());
  const hash = (await loadHasher('mimc')).hash(new Uint8Array(32));
  return linea.chainId + ' ' + transfer.gasLimit + ' ' + hash.length;
}`,
  'app/fee.jsx': `'use client';
import { useEffect } from 'react';
import { createNode } from 'plumbline-l2';
import { estimate } from './estimate.js';
export default function Fee() {
  useEffect(() => {
    createNode().then(estimate).then(
      (outcome) => { window.outcome = outcome; },
      (error) => { window.outcome = error.code ?? String(error); },
    );
  }, []);
  return <p>fees</p>;
}`,
  'app/estimate.js': ESTIMATE,
  'package.json': '{ "private": true, "type": "module" }',
};

let server: ChildProcess | undefined;
afterAll(() => {
  server?.kill();
});

test.skipIf(executablePath === undefined)(
  'Next.js builds a page that estimates, on the server and in a worker',
  async ({ skip }) => {
    const packed = await packPackage();
    const project = await packed.installed('next', FILES, PACKAGES);
    if (project === undefined) {
      console.warn('next: npm reaches no registry here, so Next.js is not tried');
      return skip('npm reaches no registry here');
    }
    const next = join(project, 'node_modules/next/dist/bin/next');
    const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' } as const;
    await run('env', ['NEXT_TELEMETRY_DISABLED=1', process.execPath, next, 'build'], project);
    const scripts = readdirSync(join(project, '.next/static/chunks'), { recursive: true }).filter((name) =>
      String(name).endsWith('.js'),
    );
    console.log(`next: ${scripts.length} scripts for the browser`);
    server = spawn(process.execPath, [next, 'start', '-p', '0', '-H', '127.0.0.1'], { cwd: project, env });
    const url = await addressOf(server);
    // 59144 is the chain id of Linea, 32 the bytes of a hash.
    expect(await (await fetch(url)).text()).toContain('59144 0x5208 32');
    const browser = await launch();
    try {
      expect(await outcomeOf(browser, url)).toEqual({ outcome: ANSWERS, troubles: [] });
    } finally {
      await browser.close();
    }
  },
);
