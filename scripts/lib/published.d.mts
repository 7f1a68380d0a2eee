export const PUBLISHED: { readonly npm: boolean; readonly github: boolean };
export const PACKAGE: string;
