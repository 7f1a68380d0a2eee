// Endpoints that this Snap asks, by chain id: yours, or those of a provider. None of them is believed.
export const ENDPOINTS = {
  1337: { network: 'devnet', endpoints: ['http://127.0.0.1:8545'], layerOne: ['http://127.0.0.1:8545/l1'] },
};
