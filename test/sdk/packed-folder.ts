/**
 * A folder outside of the project with our packages as customers have them: packed and installed with their
 * dependencies. Nothing is downloaded: the dependencies are copied from the local installation.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface PackedFolder {
  /** The folder with the installation. */
  readonly folder: string;
  /** The tarballs of the requested packages, in their order. */
  readonly tarballs: readonly string[];
  remove(): void;
}

interface Manifest {
  readonly name: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** The packages, by name. */
const FOLDERS = {
  sdk: join(ROOT, 'packages/sdk'),
  cli: join(ROOT, 'packages/cli'),
  pulumi: join(ROOT, 'integrations/pulumi'),
};

export async function installPacked(names: readonly (keyof typeof FOLDERS)[]): Promise<PackedFolder> {
  const scratch = mkdtempSync(join(tmpdir(), 'skerry-packed-'));
  const [packed, folder] = [join(scratch, 'packed'), join(scratch, 'installed')];
  mkdirSync(packed);
  mkdirSync(folder);
  const own = names.map((name) => FOLDERS[name]);
  const ownNames = new Set(own.map((path) => readManifest(path).name));
  const others = [...collectDependencies(own)].filter((path) => !ownNames.has(readManifest(path).name));
  const tarballs = [];
  for (const path of own) tarballs.push(await pack(path, packed));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type: 'module' }),
  );
  // In the layout of this installation: some packages exist in two versions.
  for (const path of others) cpSync(path, join(folder, relative(ROOT, path)), { recursive: true });
  for (const [at, path] of own.entries()) await unpack(tarballs[at] ?? '', path, folder);
  return { folder, tarballs, remove: () => rmSync(scratch, { recursive: true, force: true }) };
}

/** Returns the errors, warnings, and suggestions of publint for a tarball. */
export async function lintTarball(tarball: string): Promise<(string | undefined)[]> {
  const { buffer, byteOffset, byteLength } = readFileSync(tarball);
  const pack = { tarball: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer };
  const { messages, pkg = {} } = await publint({ pack, level: 'suggestion', strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }));
}

/** Returns the folders of all dependencies, including transitive ones. */
function collectDependencies(folders: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (folder: string): void => {
    const paths = createRequire(join(folder, 'package.json')).resolve.paths('x') ?? [];
    for (const name of Object.keys(readManifest(folder).dependencies ?? {})) {
      const at = paths.map((path) => join(path, name)).find(isPackage);
      if (at === undefined) throw new Error(`${name} is not installed`);
      if (!found.has(at)) visit(at);
      found.add(at);
    }
  };
  for (const folder of folders) visit(folder);
  return found;
}

function isPackage(path: string): boolean {
  try {
    return readManifest(path).name !== '';
  } catch {
    return false;
  }
}

/** Packs one of our packages, which its `prepack` script compiles, and returns the tarball. */
async function pack(folder: string, into: string): Promise<string> {
  const stdout = await npm(folder, ['pack', '--json', '--pack-destination', into]);
  const [{ filename } = { filename: '' }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as {
    filename: string;
  }[];
  return join(into, filename);
}

/** Does what `npm install` does with a tarball whose dependencies are there. */
async function unpack(tarball: string, source: string, folder: string): Promise<void> {
  const { name, bin = {} } = readManifest(source);
  const target = join(folder, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  await promisify(execFile)('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  for (const [program, path] of Object.entries(bin)) {
    symlinkSync(join(target, path), join(folder, 'node_modules/.bin', program));
  }
}

async function npm(cwd: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', args, { cwd, maxBuffer: 16 * 1024 ** 2 });
  return stdout;
}
