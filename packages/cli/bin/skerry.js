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
  const { main } = await import('../dist/main.js');
  await main();
});
