#!/usr/bin/env node
// Plain JavaScript that an old Node can read, so that it can say what is missing.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 3)) {
  process.stderr.write(`skerry: Node 20.3 or newer is needed, this is ${process.versions.node}.\n`);
  process.exit(1);
}
import('node:module').then(async (module) => {
  // Compiled modules are kept from one start to the next, where this Node can do that.
  module.enableCompileCache?.();
  const { existsSync } = await import('node:fs');
  if (!existsSync(new URL('../dist/main.js', import.meta.url))) {
    process.stderr.write('skerry: it is not compiled yet; `npm run build` where its sources are does that, on their Node 24.\n');
    process.exit(1);
  }
  const { main } = await import('../dist/main.js');
  await main();
});
