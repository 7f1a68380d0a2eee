/** A service worker has to come from the site's own origin: copies plumbline's beside the pages. */
import { cp, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = dirname(fileURLToPath(import.meta.resolve('plumbline-l2/service-worker')));
for (const name of await readdir(dist))
  if (/^service-worker.*\.js$/.test(name)) await cp(`${dist}/${name}`, `public/${name}`);
