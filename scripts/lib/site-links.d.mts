export interface DeadLink {
  /** Path of the page in the folder. */
  readonly page: string;
  readonly link: string;
}

/**
 * Links of the pages of a folder to a file or a heading that is not in it. Addresses of other hosts are left out.
 *
 * @param scripted - pages whose anchors are made by their script: those are not looked for
 */
export function deadLinks(folder: string, scripted?: readonly string[]): Promise<DeadLink[]>;
