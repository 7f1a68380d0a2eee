import type { Hex } from 'plumbline';

/** A transfer as the form says it. */
export interface Transfer {
  from: Hex;
  to: Hex;
  call: { from: Hex; to: Hex; data: Hex };
}

/** What `linea_estimateGas` answers. */
export interface Estimate {
  gasLimit: Hex;
  baseFeePerGas: Hex;
  priorityFeePerGas: Hex;
}
