import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
};

/** Serves the files of a directory on a free port of loopback, compressed, as hosts of static files do. */
export async function serveStatic(directory) {
  const compressed = new Map();
  const server = createServer(async ({ url }, response) => {
    const path = normalize(decodeURIComponent(new URL(url, 'http://site').pathname));
    const file = join(directory, path.endsWith('/') ? `${path}index.html` : path);
    const bytes = compressed.get(file) ?? (await readFile(file).then(gzipSync, () => undefined));
    if (bytes === undefined) return void response.writeHead(404).end();
    compressed.set(file, bytes);
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.setHeader('content-encoding', 'gzip').end(bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
