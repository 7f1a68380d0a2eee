/** The part of a rolldown plugin that tests drive by themselves. */
export interface SlimPlugin {
  readonly name: string;
  buildStart(): Promise<void>;
  transform(code: string, id: string): string | undefined;
  buildEnd(error?: Error): void;
}

export declare function slimDependencies(): SlimPlugin;
