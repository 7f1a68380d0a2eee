// The plugin is one of Hardhat's, and its connections are providers for fixtures. Only compiled.
import { defineConfig } from 'hardhat/config';
import type { NetworkConnection } from 'hardhat/types/network';
import { fixture, plumblineDevnet } from 'plumbline-l2/hardhat';

export const config = defineConfig({
  plugins: [plumblineDevnet({ network: 'devnet', chain: { mining: 'manual' } })],
});
export const set = ({ provider }: NetworkConnection): (() => Promise<number>) => fixture(provider, async () => 1);
// @ts-expect-error a mistake has to be one, or nothing is checked here
plumblineDevnet({ network: 1 });
