import type { PlumblineNode, SharingReport, StorageReport } from 'plumbline-l2';

/** What the node keeps, and who writes it. */
export interface Kept {
  readonly storage: StorageReport;
  readonly sharing: SharingReport;
}

/** Undefined where the node has been closed meanwhile. */
export async function readKept(node: PlumblineNode): Promise<Kept | undefined> {
  try {
    const [storage, sharing] = await Promise.all([node.storage(), node.sharing()]);
    return { storage, sharing };
  } catch {
    return undefined;
  }
}

/** Gives bytes to the visitor as a file. */
export function download(bytes: Uint8Array, name: string): void {
  const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
