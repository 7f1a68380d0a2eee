/** An amount of `decimals` places as decimal text, without zeros at its end: `1500`, 3 gives `1.5`. */
export function decimalText(amount: bigint | string, decimals: number): string {
  const value = BigInt(amount);
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  return `${value < 0n ? '-' : ''}${whole}${fraction.replace(/0+$/, '').replace(/^(?=.)/, '.')}`;
}

/** Wei as ether: `0.5 ETH`. */
export function etherText(wei: bigint | string): string {
  return `${decimalText(wei, 18)} ETH`;
}

/** Wei per gas, in the unit that reads best: `7 wei`, `0.02 gwei`. */
export function priceText(wei: bigint | string): string {
  const value = BigInt(wei);
  return value < 100_000n ? `${value} wei` : `${decimalText(value, 9)} gwei`;
}
