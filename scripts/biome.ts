/**
 * Runs Biome from its platform package: the main package lists other platforms, which `npm ci` may fail to
 * resolve.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const binary = fileURLToPath(
  new URL(`../node_modules/@biomejs/cli-linux-${process.arch}/biome`, import.meta.url),
);
process.exit(spawnSync(binary, process.argv.slice(2), { stdio: 'inherit' }).status ?? 1);
