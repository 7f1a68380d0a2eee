import { address } from '../state/view.js';

/** Says that the address names a part that this page does not have. */
export function UnknownView() {
  const { unknown } = address.value;
  if (unknown === undefined) return null;
  return (
    <p class="notice notice-stale" role="alert">
      This page has no part “{unknown.slice(0, 60)}”. The link may be of another version, or incomplete.
    </p>
  );
}
