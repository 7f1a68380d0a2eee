export declare function compileContract(name: string): Promise<{ creationCode: string; runtimeCode: string }>;
export declare function testTokenModule(): Promise<string>;
