/** Whether anybody is there to be kept up to date: a page is visible, a device is online. Hosts wire it. */
export interface Activity {
  readonly isActive: boolean;
  /** Told of each change. @returns a function that ends the subscription */
  onChange(listener: () => void): () => void;
}

/** Of a worker by itself, which nobody looks at. */
export const NEVER_ACTIVE: Activity = { isActive: false, onChange: () => () => {} };
