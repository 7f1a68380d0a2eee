#!/usr/bin/env node
/**
 * The command `plumbline`. From Node 22.8 on, compiled code is kept in the system's directory for temporary files, and the next start
 * takes it from there. This holds for modules that are loaded after this line, so all others are loaded by `import()`.
 */
import * as modules from 'node:module';

(modules as { enableCompileCache?(): unknown }).enableCompileCache?.();

// Not awaited at the top of the module: the bundle would have a file for each `import()` of all its entry points.
import('./commands.js').then(async ({ run }) => {
  process.exitCode = await run(process.argv.slice(2));
});
