/**
 * Writes the files of a release of the current commit to a folder, by default `release/`, and signs them with
 * an SSH key: `node scripts/release/build.ts [--output FOLDER] [--key FILE]`. Without a key it writes all but
 * the signature, for someone who compares them with a release.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readLock } from '../lock-file.ts';
import { packCollection, packPackages, packService } from './archives.ts';
import { createProvenance, type Digest } from './provenance.ts';
import { createBillOfMaterials } from './sbom.ts';
import { SIGNERS, signFile } from './sign.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHECKSUMS = 'SHA256SUMS';

// Programs sort and print in one way. ansible-galaxy refuses other encodings.
process.env.LC_ALL = 'C.UTF-8';
const { key, output } = readOptions();
if (git('status', '--porcelain') !== '') throw new Error('Commit or stash your changes first.');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const commit = git('rev-parse', 'HEAD');
const epoch = Number(git('show', '--no-patch', '--format=%ct', commit));
const build = { root: ROOT, commit, epoch, version, output };

mkdirSync(output, { recursive: true });
if (readdirSync(output).length > 0) throw new Error(`${output} is not empty`);
packService(build);
packPackages(build);
packCollection(build);
const bill = createBillOfMaterials(readLock(ROOT), new Date(epoch * 1000));
writeFileSync(join(output, `skerry-${version}.cdx.json`), bill);
writeFileSync(
  join(output, `skerry-${version}.provenance.json`),
  createProvenance(build, readdirSync(output).sort().map(digestOf)),
);
const digests = readdirSync(output).sort().map(digestOf);
const checksums = join(output, CHECKSUMS);
writeFileSync(checksums, digests.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''));
if (key !== undefined) signFile(checksums, key, join(ROOT, SIGNERS));
process.stdout.write(
  `Wrote ${digests.length} files and ${CHECKSUMS}${key === undefined ? ', unsigned,' : ''} to ${output}.\n`,
);

/** Paths are relative to the folder of the caller. */
function readOptions(): { readonly key: string | undefined; readonly output: string } {
  const { values } = parseArgs({ options: { key: { type: 'string' }, output: { type: 'string' } } });
  return {
    key: values.key === undefined ? undefined : resolve(values.key),
    output: resolve(values.output ?? join(ROOT, 'release')),
  };
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}

function digestOf(name: string): Digest {
  const bytes = readFileSync(join(output, name));
  return { name, sha256: createHash('sha256').update(bytes).digest('hex') };
}
