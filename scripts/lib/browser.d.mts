export declare const BROWSER_ARGS: string[];
export declare const NONE: string;
export declare function findBrowser(): Promise<string | undefined>;
export declare function ensureBrowser(): Promise<string | undefined>;
