/** Bundles the SDK into one file with esbuild, as for a web page. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ESBUILD = `${ROOT}node_modules/@esbuild/linux-${process.arch}/bin/esbuild`;

/** `entry` is a file; `args` are arguments of esbuild. */
export function bundle(entry: string, args: readonly string[]): Buffer {
  const options = ['--bundle', '--minify', '--log-level=error', ...args];
  return execFileSync(ESBUILD, [entry, ...options], { maxBuffer: 16 * 1024 ** 2 });
}

/** Returns the size of the whole SDK with its dependencies: minified, and also gzipped. */
export function sdkSize(): { readonly minifiedBytes: number; readonly gzippedBytes: number } {
  const minified = bundle(`${ROOT}packages/sdk/dist/index.js`, ['--format=esm']);
  return { minifiedBytes: minified.length, gzippedBytes: gzipSync(minified, { level: 9 }).length };
}
