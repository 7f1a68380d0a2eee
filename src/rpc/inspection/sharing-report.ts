/** Who writes to the store of a node. */
export interface SharingReport {
  /** `alone`: the node shares its store with none. `follower`: another page's or worker's node writes, and answers for it. */
  readonly role: 'alone' | 'writer' | 'follower';
  /** Id of the one that writes; left out while nobody is known. */
  readonly writer?: string;
  /** Goes up with each writer; about the time it began, in ms. */
  readonly epoch?: number;
}
