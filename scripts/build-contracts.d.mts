export interface CompiledContract {
  /** Constructor code, `0x` hex; constructor arguments go behind it. */
  readonly creationCode: `0x${string}`;
  /** As it is on chain, `0x` hex; empty for an interface. */
  readonly runtimeCode: `0x${string}`;
  /** Selector (8 hex digits) by signature, for instance `transfer(address,uint256)`. */
  readonly methodIdentifiers: Readonly<Record<string, string>>;
}

export declare function compileContracts(files: readonly string[]): Promise<Record<string, CompiledContract>>;
/** Texts of the generated modules by path. */
export declare function generatedModules(): Promise<Record<string, string>>;
