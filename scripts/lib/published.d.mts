export const PUBLISHED: { readonly npm: boolean; readonly github: boolean };
