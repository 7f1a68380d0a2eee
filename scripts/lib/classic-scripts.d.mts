/** What is read of a chunk that rolldown makes. */
export interface ClassicChunk {
  readonly type: 'chunk';
  readonly fileName: string;
  readonly code: string;
  readonly isEntry: boolean;
  readonly facadeModuleId: string | null;
  readonly imports: readonly string[];
  readonly dynamicImports: readonly string[];
}

export interface ClassicPlan {
  readonly script: string;
  readonly roots: Readonly<Record<string, string>>;
  readonly shared: Readonly<Record<string, string>>;
  readonly aside: Readonly<Record<string, readonly string[]>>;
  readonly always: Readonly<Record<string, string>>;
  readonly beside: Readonly<Record<string, string>>;
}

export declare function classicScripts(output: readonly ClassicChunk[], plan: ClassicPlan): Map<string, string>;
