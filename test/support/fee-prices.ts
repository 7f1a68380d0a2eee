/** Prices that an operator puts into a header of Linea mainnet. */
export const PRICES = { fixedCostWei: 30_000_000n, variableCostWei: 1_000_000_000n };
