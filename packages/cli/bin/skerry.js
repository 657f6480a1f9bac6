#!/usr/bin/env node
// Plain JavaScript that old versions of Node can parse, so that it can print the requirement.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 3)) {
  process.stderr.write(`skerry: Node.js 20.3 or later is required; this is ${process.versions.node}.\n`);
  process.exit(1);
}
import('node:module').then(async (module) => {
  // Caches compiled modules between runs, if this version of Node can.
  module.enableCompileCache?.();
  const { existsSync } = await import('node:fs');
  if (!existsSync(new URL('../dist/main.js', import.meta.url))) {
    const fix = 'run `npm run build` in the source folder with Node.js 24';
    process.stderr.write(`skerry: the CLI is not built; ${fix}.\n`);
    process.exit(1);
  }
  const { main } = await import('../dist/main.js');
  await main();
});
