/** The files of a release: the same from any folder, complete, and refused once someone changed them. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readLock } from '../../scripts/lock-file.ts';
import { codeBlocks, readGuide } from '../docs/docs-content.ts';
import { findProgram, skipUnlessInstalled } from '../support/installed-programs.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { killLeftovers, startSkerryd } from '../support/skerryd-process.ts';
import { Releaser } from './releaser.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SKIP = skipUnlessInstalled(findProgram(['ansible-galaxy']), 'ansible-core is not installed');
const [VERIFY] = codeBlocks(readGuide('operators/install'), 'Get a release');

describe('a release', { skip: FULL_ONLY.skip || SKIP }, () => {
  let releaser: Releaser;
  let files: readonly string[];
  before(() => {
    releaser = new Releaser();
    for (const index of [0, 1] as const) {
      const { status, stderr } = releaser.build(index);
      assert.equal(status, 0, stderr);
    }
    files = readdirSync(releaser.output(0)).sort();
  });
  after(() => {
    killLeftovers();
    releaser.close();
  });

  const hashes = (folder: string) =>
    readdirSync(folder)
      .sort()
      .map(
        (name) =>
          `${createHash('sha256')
            .update(readFileSync(join(folder, name)))
            .digest('hex')}  ${name}`,
      );
  const archive = () => files.find((file) => /^skerry-[\d.]+\.tar\.gz$/.test(file)) ?? assert.fail();

  /** Runs the commands of the guide on a copy of the files that `change` changed. */
  function verify(change: (folder: string) => void): {
    readonly status: number | null;
    readonly output: string;
  } {
    const folder = join(releaser.folder, 'downloaded');
    rmSync(folder, { recursive: true, force: true });
    cpSync(releaser.output(0), folder, { recursive: true });
    copyFileSync(releaser.signers, join(folder, 'release-signers'));
    change(folder);
    const script = VERIFY?.text ?? assert.fail('the guide has no commands');
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  }

  function changeByte(path: string): void {
    const bytes = readFileSync(path);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  }

  it('has the same bytes from another folder, user setting, umask, time zone, and language', () => {
    assert.equal(files.length, 9);
    assert.deepEqual(hashes(releaser.output(1)), hashes(releaser.output(0)));
  });

  it('is accepted by the commands of the guide', () => {
    const { status, output } = verify(() => undefined);
    assert.equal(status, 0, output);
    assert.match(output, /^Good "skerry-release" signature/m);
    for (const file of files.filter((name) => !name.startsWith('SHA256SUMS')))
      assert.ok(output.includes(`${file}: OK`), file);
  });

  it('is refused if any of its files was changed', () => {
    for (const file of files.filter((name) => name !== 'SHA256SUMS.sig')) {
      const { status, output } = verify((folder) => changeByte(join(folder, file)));
      assert.notEqual(status, 0, `${file}: ${output}`);
    }
  });

  it('is refused if its archive and checksums were replaced, also with a signature by another key', () => {
    const replace = (folder: string) => {
      changeByte(join(folder, archive()));
      const names = files.filter((name) => !name.startsWith('SHA256SUMS'));
      const lines = hashes(folder).filter((line) => names.some((name) => line.endsWith(`  ${name}`)));
      writeFileSync(join(folder, 'SHA256SUMS'), `${lines.join('\n')}\n`);
    };
    assert.notEqual(verify(replace).status, 0);
    const signed = verify((folder) => {
      replace(folder);
      rmSync(join(folder, 'SHA256SUMS.sig'));
      const sign = ['-Y', 'sign', '-q', '-f', releaser.otherKey, '-n', 'skerry-release', 'SHA256SUMS'];
      execFileSync('ssh-keygen', sign, { cwd: folder, stdio: 'ignore' });
    });
    assert.notEqual(signed.status, 0);
    assert.doesNotMatch(signed.output, /: OK$/m);
  });

  it('is not signed by a key that is not among the signers', () => {
    rmSync(releaser.output(1), { recursive: true });
    const { status, stderr } = releaser.build(1, releaser.otherKey);
    assert.notEqual(status, 0);
    assert.match(stderr, /is not among the keys in deploy\/release-signers/);
  });

  it('has a provenance that names the commit, the lock file, and each file', () => {
    const name = files.find((file) => file.endsWith('.provenance.json')) ?? assert.fail();
    const text = readFileSync(join(releaser.output(0), name), 'utf8');
    const { subject, predicateType, predicate } = JSON.parse(text);
    assert.equal(predicateType, 'https://slsa.dev/provenance/v1');
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: releaser.clone(0), encoding: 'utf8' });
    const [source, lock] = predicate.buildDefinition.resolvedDependencies;
    assert.equal(source.digest.gitCommit, commit.trim());
    const lockFile = readFileSync(join(releaser.clone(0), 'package-lock.json'));
    assert.equal(lock.digest.sha256, createHash('sha256').update(lockFile).digest('hex'));
    const lines = subject.map(
      (file: { name: string; digest: { sha256: string } }) => `${file.digest.sha256}  ${file.name}`,
    );
    const others = hashes(releaser.output(0)).filter((line) => !/provenance|SHA256SUMS/.test(line));
    assert.deepEqual(lines, others);
    assert.ok(!text.includes(releaser.folder), 'the provenance names a folder of the machine');
  });

  it('has an archive from which the service starts, without the tests', async () => {
    const folder = join(releaser.folder, 'installed');
    mkdirSync(folder);
    const path = join(releaser.output(0), archive());
    execFileSync('tar', ['-xzf', path, '-C', folder, '--strip-components=1']);
    assert.deepEqual(readLock(folder), readLock(ROOT));
    assert.ok(readdirSync(folder).includes('deploy') && !readdirSync(folder).includes('test'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const env = { SKERRY_DATA_DIR: join(releaser.folder, 'data') };
    const service = await startSkerryd(env, [], join(folder, 'bin/skerryd'));
    assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
    assert.equal((await service.stop()).code, 0);
  });

  it('has a collection that Ansible installs', () => {
    const name = files.find((file) => file.startsWith('skerry-cloud-')) ?? assert.fail();
    const args = [
      'collection',
      'install',
      join(releaser.output(0), name),
      '--collections-path',
      releaser.folder,
    ];
    const { status, stdout, stderr } = spawnSync('ansible-galaxy', args, { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });
});
