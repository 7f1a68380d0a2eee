export interface DeadLink {
  /** Path of the page in the folder. */
  readonly page: string;
  readonly link: string;
}

/** Links of the pages of a folder to a file or a heading that is not in it. Addresses of other hosts are left out. */
export function deadLinks(folder: string): Promise<DeadLink[]>;
