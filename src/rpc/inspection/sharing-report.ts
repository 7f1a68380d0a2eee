/** Who writes to the store of a node. */
export interface SharingReport {
  /**
   * `alone`: no other node uses the store. `writer`: this node writes to it. `follower`: the node of another page or worker
   * writes to it, and answers the requests of this one.
   */
  readonly role: 'alone' | 'writer' | 'follower';
  /** Id of the node that writes; left out while it is not known. */
  readonly writer?: string;
  /** Grows with each writer; roughly the time at which it started, in ms. */
  readonly epoch?: number;
}
