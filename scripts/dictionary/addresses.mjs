/** Contracts that are public and the same for everybody: tokens of the Linea network, and singletons of every chain. */

/** Receive `transfer` and `approve`. */
export const TOKENS = {
  weth: 'e5d7c2a44ffddf6b295a15c148167daaaf5cf34f',
  usdc: '176211869ca2b568f2a7d4ee941e073a821ee1ff',
  usdt: 'a219439258ca9da29e9cc4ce5596924745e12b93',
  dai: '4af15ec2a0bd43db75dd04e62faa3b8ef36b00d5',
  wbtc: '3aab2285ddcddad8edf438c1bab47e1a9d05a9b4',
  wsteth: 'b5bedd42000b71fdde22d3ee8a79bd49a568fc8f',
};

/** Called with their own interfaces, and approved as spenders. */
export const CONTRACTS = {
  multicall3: 'ca11bde05977b3631167028862be2a173976ca11',
  permit2: '000000000022d473030f116ddee9f6b43ac78ba3',
  entryPoint06: '5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  entryPoint07: '0000000071727de22e5e9d8baf0edac6f37da032',
  seaport15: '00000000000000adc04c56bf30ac9d3c0aaf14dc',
  seaport16: '0000000000000068f116a894984e2db1123eb395',
  conduit: '1e0049783f008a0085193e00003d00cd54003c71',
  create2Deployer: '4e59b44847b379578588920ca78fbf26c0b4956c',
  lifiDiamond: '1231deb6f5749ef6ce6943a275a1d3e7486f4eae',
  lineaMessageService: '508ca82df566dcd1b0de8296e70a96332cd644ec',
  lineaTokenBridge: '353012dc4a9a6cf55c941badc267f82004a8ceb9',
  syncSwapRouter: '80e38291e06339d10aab483c65695d004dbd5c69',
  lynexRouter: '610d2f07b7edc67565160f587f37636194c34e74',
  pancakeRouter: '8cfe327cec66d1c090dd72bd0ff11d690c33a2eb',
  pancakeSmartRouter: '678aa4bf4e210cf2166753e054d5b7c31cc7fa86',
  oneInch5: '1111111254eeb25477b68fb85ed929f73a960582',
  oneInch6: '111111125421ca6dc452d289314280a0f8842a65',
  kyberRouter: '6131b5fae19ea4f9d964eac0408e4408b66337b5',
  odosRouter: '2d8879046f1559e53eb052e949e9544bcb72f414',
  velocoreVault: '1d0188c4b276a09366d05d6be06af61a73bc7535',
  iziSwapRouter: '032b241de86a8660f1ae0691a4760b426ea246d7',
  dmail: '47fbe95e981c0df9737b6971b451fb15fdc989d9',
  safeSingleton: 'd9db270c1b5e3bd161e8c8503c55ceabee709552',
  safeFactory: 'a6b71e26c5e0845f74c812102ca7114b6a896ab2',
  multiSend: '40a2accbd92bca938b02010e17a5b8929b49130d',
  native: 'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',
  dead: '000000000000000000000000000000000000dead',
};
