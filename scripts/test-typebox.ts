/**
 * Bundles typebox for tests. It has about 700 modules, half of everything that a test process loads. Five
 * bundled files save a tenth of a second in each of about 300 processes. `scripts/test.ts` creates and
 * preloads them; the service itself loads typebox unbundled.
 */
import { spawnSync } from 'node:child_process';
import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ESBUILD = `${ROOT}node_modules/@esbuild/linux-${process.arch}/bin/esbuild`;
/** Import specifiers, and their entry modules in typebox. */
const ENTRIES = {
  typebox: 'index',
  'typebox/compile': 'compile/index',
  'typebox/system': 'system/index',
  'typebox/value': 'value/index',
};

/**
 * Creates the bundles in a folder. Returns false if esbuild is not available: tests then run without them,
 * only slower.
 */
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
