/** The SDK as a page would have it: one file, by esbuild. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ESBUILD = `${ROOT}node_modules/@esbuild/linux-${process.arch}/bin/esbuild`;

/** `entry` is a file, `args` go to esbuild. */
export function bundle(entry: string, args: readonly string[]): Buffer {
  const options = ['--bundle', '--minify', '--log-level=error', ...args];
  return execFileSync(ESBUILD, [entry, ...options], { maxBuffer: 16 * 1024 ** 2 });
}

/** How large all of the SDK is with what it depends on: minified, and gzipped as well. */
export function sdkSize(): { readonly minifiedBytes: number; readonly gzippedBytes: number } {
  const minified = bundle(`${ROOT}packages/sdk/dist/index.js`, ['--format=esm']);
  return { minifiedBytes: minified.length, gzippedBytes: gzipSync(minified, { level: 9 }).length };
}
