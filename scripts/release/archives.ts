/**
 * The archives of a release. The same commit gives the same bytes, in any folder, by any user, and with any
 * umask, time zone, and architecture. gzip packs, because its output is the same everywhere, unlike zlib's.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

const MAX_BYTES = 256 * 1024 ** 2;
const COLLECTION = 'integrations/ansible';

/** Files that no operator needs: tests, and the settings of our forge and tools. */
const LEFT_OUT = [
  ...['.changeset', '.ci', '.devcontainer', '.editorconfig', '.github', '.gitignore', 'biome.json'],
  ...['bench', 'cspell-words.txt', 'cspell.json', 'docs/screenshots', 'renovate.json', 'test'],
];
/** Settings of git that change an archive. */
const GIT_SETTINGS = ['tar.umask=0022', 'core.autocrlf=false', 'core.attributesFile=/dev/null'];

interface Build {
  readonly root: string;
  readonly commit: string;
  /** Of the commit, in seconds. */
  readonly epoch: number;
  readonly version: string;
  /** The folder of the files of the release. */
  readonly output: string;
}

/** Packs what an operator installs, as it is in the commit. */
export function packService(build: Build): void {
  const name = `skerry-${build.version}`;
  const files = ['.', ...LEFT_OUT.map((path) => `:(exclude)${path}`)];
  const tar = archiveOf(build, [`--prefix=${name}/`, build.commit, ...files]);
  writeFileSync(join(build.output, `${name}.tar.gz`), gzip(tar));
}

/**
 * Packs the SDK, the CLI, and the Pulumi provider, from the commit. The working tree may have other line ends
 * and older output. npm keeps the modes of files, which depend on umask.
 */
export function packPackages(build: Build): void {
  inScratchFolder(build, (scratch) => {
    const [source, packed] = [join(scratch, 'source'), join(scratch, 'packed')];
    for (const folder of [source, packed]) mkdirSync(folder);
    unpack(archiveOf(build, [build.commit]), source);
    symlinkSync(join(build.root, 'node_modules'), join(source, 'node_modules'));
    run(source, 'npm', 'pack', '--silent', '--workspaces', '--pack-destination', packed);
    for (const file of readdirSync(packed)) packAgain(build, join(packed, file));
  });
}

/**
 * Packs the Ansible collection. ansible-galaxy lists the files in the order of the file system, and names the
 * digest of the list.
 */
export function packCollection(build: Build): void {
  inScratchFolder(build, (scratch) => {
    unpack(archiveOf(build, [build.commit, COLLECTION]), scratch);
    run(scratch, 'ansible-galaxy', 'collection', 'build', COLLECTION, '--output-path', scratch);
    const [archive = ''] = readdirSync(scratch).filter((file) => file.endsWith('.tar.gz'));
    packAgain(build, join(scratch, archive), sortCollection);
  });
}

function sortCollection(folder: string): void {
  const [list, manifest] = [join(folder, 'FILES.json'), join(folder, 'MANIFEST.json')];
  const files = JSON.parse(readFileSync(list, 'utf8')) as { files: { readonly name: string }[] };
  files.files.sort((a, b) => (a.name < b.name ? -1 : 1));
  const text = JSON.stringify(files, null, 1);
  writeFileSync(list, text);
  const digest = createHash('sha256').update(text).digest('hex');
  const about = JSON.parse(readFileSync(manifest, 'utf8')) as {
    file_manifest_file: { chksum_sha256: string };
  };
  about.file_manifest_file.chksum_sha256 = digest;
  writeFileSync(manifest, JSON.stringify(about, null, 1));
}

/** Packs the contents of an archive with sorted names, one time, one owner, and two modes. */
function packAgain({ epoch, output }: Build, archive: string, change?: (folder: string) => void): void {
  const folder = `${archive}.d`;
  mkdirSync(folder);
  execFileSync('tar', ['-xzf', archive, '-C', folder]);
  change?.(folder);
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  const tar = execFileSync(
    'tar',
    ['-c', '--format=ustar', '--sort=name', `--mtime=@${epoch}`, ...owner, ...readdirSync(folder).sort()],
    { cwd: folder, maxBuffer: MAX_BYTES },
  );
  writeFileSync(archive, gzip(tar));
  renameSync(archive, join(output, basename(archive)));
}

function archiveOf({ root }: Build, args: readonly string[]): Buffer {
  const settings = GIT_SETTINGS.flatMap((setting) => ['-c', setting]);
  return execFileSync('git', [...settings, 'archive', '--format=tar', ...args], {
    cwd: root,
    maxBuffer: MAX_BYTES,
  });
}

function unpack(tar: Buffer, folder: string): void {
  execFileSync('tar', ['-x', '-C', folder], { input: tar });
}

function gzip(input: Buffer): Buffer {
  return execFileSync('gzip', ['-9n'], { input, maxBuffer: MAX_BYTES });
}

function run(cwd: string, program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** In the output folder, so that a rename moves the result. */
function inScratchFolder({ output }: Build, work: (scratch: string) => void): void {
  const scratch = mkdtempSync(join(output, '.packing-'));
  try {
    work(scratch);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
