/**
 * `npm run release -- --key FILE`: applies the changesets to the packages, dates the changelog, commits, tags
 * the version, and packs the service, the SDK, the CLI, the Pulumi provider, and the Ansible collection into
 * `release/`. The SSH key signs the tag and the files. It does not publish or push.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { requireSigner, SIGNERS } from './release/sign.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COLLECTION = 'integrations/ansible';
const MANIFESTS = 'deploy/kubernetes';

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}

function requireCleanTree(): void {
  if (run('git', 'status', '--porcelain') !== '') throw new Error('Commit or stash your changes first.');
}

function requireChangesets(): void {
  const changesets = readdirSync(`${ROOT}.changeset`).filter((file) => /^(?!README).*\.md$/.test(file));
  if (changesets.length === 0) throw new Error('Nothing to release. Add a changeset with `npx changeset`.');
}

function readVersion(): string {
  const text = readFileSync(`${ROOT}packages/sdk/package.json`, 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Gives the Ansible collection the version of the packages. */
function setCollectionVersion(version: string): void {
  const path = `${ROOT}${COLLECTION}/galaxy.yml`;
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^version: .*$/m, `version: ${version}`));
}

/** Gives the Kubernetes manifests the image of the version. */
function setImageVersion(version: string): void {
  for (const file of readdirSync(`${ROOT}${MANIFESTS}`)) {
    const path = `${ROOT}${MANIFESTS}/${file}`;
    writeFileSync(path, readFileSync(path, 'utf8').replace(/image: skerry:.*/g, `image: skerry:${version}`));
  }
}

/** Dates the unreleased section of the changelog, and starts a new one. */
function dateChangelog(version: string): void {
  const path = `${ROOT}CHANGELOG.md`;
  const today = new Date().toISOString().slice(0, 10);
  const heading = '## [Unreleased]';
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(heading, `${heading}\n\n## [${version}] - ${today}`),
  );
}

/** The path is relative to the folder of the caller, and npm changes to ours. */
function readKey(): string {
  const { key } = parseArgs({ options: { key: { type: 'string' } } }).values;
  if (key === undefined) throw new Error('usage: npm run release -- --key FILE');
  return resolve(process.env.INIT_CWD ?? '.', key);
}

const key = readKey();
requireCleanTree();
requireChangesets();
requireSigner(key, `${ROOT}${SIGNERS}`);
// Of the package ansible-core. Without it, stop before anything is changed.
run('ansible-galaxy', '--version');
run(process.execPath, 'node_modules/@changesets/cli/bin.js', 'version');
const version = readVersion();
run('npm', 'version', version, '--no-git-tag-version', '--allow-same-version');
run('npm', 'install', '--package-lock-only', '--ignore-scripts');
setCollectionVersion(version);
setImageVersion(version);
dateChangelog(version);
run('git', 'add', '--all');
run('git', 'commit', '--message', `release: ${version}`, '--message', 'CHANGELOG.md lists the changes.');
const signing = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key}`];
run('git', ...signing, 'tag', '--sign', `v${version}`, '--message', `Skerry ${version}`);
rmSync(`${ROOT}release`, { recursive: true, force: true });
run(process.execPath, 'scripts/release/build.ts', '--key', key);
process.stdout.write(
  `Tagged v${version}, and packed and signed its files in release/. Push with: git push --follow-tags\n`,
);
