/**
 * typebox is some 700 modules, half of what a test's process loads. Tests have the same source in five files: a tenth of a second less
 * for each of some 300 processes. Preloaded by `scripts/test.ts`, which makes the files; the service itself takes typebox as it comes.
 */
import { spawnSync } from 'node:child_process';
import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ESBUILD = `${ROOT}node_modules/@esbuild/linux-${process.arch}/bin/esbuild`;
/** What is imported, and its file, by names of typebox's own. */
const ENTRIES = {
  typebox: 'index',
  'typebox/compile': 'compile/index',
  'typebox/system': 'system/index',
  'typebox/value': 'value/index',
};

/** Makes the files in a folder, and returns whether they are there: without esbuild tests are slower, and the same. */
export function bundleTypebox(folder: string): boolean {
  const entries = Object.entries(ENTRIES).map(
    ([name, file]) => `${bundleName(name)}=${ROOT}node_modules/typebox/build/${file}.mjs`,
  );
  const options = ['--bundle', '--splitting', '--format=esm', '--platform=node', '--log-level=error'];
  const outputs = [`--outdir=${folder}`, '--out-extension:.js=.mjs'];
  return spawnSync(ESBUILD, [...options, ...outputs, ...entries], { stdio: 'ignore' }).status === 0;
}

function bundleName(name: string): string {
  return name.replace('/', '-');
}

const folder = process.env.SKERRY_TEST_TYPEBOX;
if (folder !== undefined) {
  registerHooks({
    resolve(specifier, context, next) {
      if (!Object.hasOwn(ENTRIES, specifier)) return next(specifier, context);
      const { href } = pathToFileURL(`${folder}/${bundleName(specifier)}.mjs`);
      return { url: href, format: 'module', shortCircuit: true };
    },
  });
}
