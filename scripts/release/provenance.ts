/** The provenance of a release: an in-toto statement with the SLSA predicate, version 1. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readLock } from '../lock-file.ts';

const LOCK_MAX_BYTES = 16 * 1024 ** 2;

interface Source {
  readonly root: string;
  readonly commit: string;
  readonly version: string;
}

export interface Digest {
  readonly name: string;
  readonly sha256: string;
}

/** Says from what, by which tools, the files were made. docs/contributors/releases.md describes the type. */
export function createProvenance({ root, commit, version }: Source, files: readonly Digest[]): string {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:skerry:release:1',
        externalParameters: { version, commit },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: sha256OfLock(root, commit) } },
          nodeOf(root),
        ],
      },
      runDetails: { builder: { id: 'urn:skerry:releaser', version: toolVersions() } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}

/** As it is in the commit: the working tree may have other line ends. */
function sha256OfLock(root: string, commit: string): string {
  const lock = execFileSync('git', ['show', `${commit}:package-lock.json`], {
    cwd: root,
    maxBuffer: LOCK_MAX_BYTES,
  });
  return createHash('sha256').update(lock).digest('hex');
}

/** The Node of the lock file, which compiles the packages. */
function nodeOf(root: string) {
  const name = `node-linux-${process.arch}`;
  const { version = '', integrity = '' } = readLock(root)[`node_modules/${name}`] ?? {};
  if (process.version !== `v${version}`)
    throw new Error(`Node is ${process.version}, and the lock file has ${version}: run npm ci.`);
  const sha512 = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  return { uri: `pkg:npm/${name}@${version}`, name: 'node', digest: { sha512 } };
}

function toolVersions(): Record<string, string> {
  const tools = ['git', 'tar', 'gzip', 'npm', 'ansible-galaxy'];
  return Object.fromEntries([
    ['node', process.version],
    ...tools.map((tool) => {
      const [line = ''] = execFileSync(tool, ['--version'], { encoding: 'utf8' }).split('\n');
      return [tool, /\d+(?:\.\d+)+/.exec(line)?.[0] ?? line];
    }),
  ]);
}
