/** Runs Biome by its platform package: the umbrella package lists foreign platforms that `npm ci` may not resolve. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const binary = fileURLToPath(
  new URL(`../node_modules/@biomejs/cli-linux-${process.arch}/biome`, import.meta.url),
);
process.exit(spawnSync(binary, process.argv.slice(2), { stdio: 'inherit' }).status ?? 1);
