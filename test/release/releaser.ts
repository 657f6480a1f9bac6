/** A project in folders of its own, with keys that may and may not sign its releases. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RELEASE_SIGNER, SIGNERS } from '../../scripts/release/sign.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMMIT = ['-c', 'user.name=Releaser', '-c', 'user.email=releaser@example.org', 'commit', '--quiet'];

interface Surroundings {
  readonly umask: string;
  readonly env: Readonly<Record<string, string>>;
  /** Settings of the user's git. */
  readonly git: string;
}

const SURROUNDINGS: readonly [Surroundings, Surroundings] = [
  { umask: '022', env: { TZ: 'UTC', LC_ALL: 'C' }, git: '' },
  {
    umask: '077',
    env: { TZ: 'Asia/Kathmandu', LC_ALL: 'C.UTF-8', LANGUAGE: 'de', SOURCE_DATE_EPOCH: '1' },
    git: '[core]\n\tautocrlf = true\n[tar]\n\tumask = 0\n[log]\n\tdate = relative\n',
  },
];

export class Releaser {
  readonly folder = mkdtempSync(join(tmpdir(), 'skerry-release-'));
  readonly key = this.#createKey('key');
  readonly otherKey = this.#createKey('other');
  readonly signers = join(this.folder, 'release-signers');

  /** Clones the project twice: the commit of both adds the key. */
  constructor() {
    const first = this.clone(0);
    execFileSync('git', ['clone', '--quiet', ROOT, first], { stdio: 'ignore' });
    const publicKey = readFileSync(`${this.key}.pub`, 'utf8');
    const line = `${RELEASE_SIGNER} namespaces="${RELEASE_SIGNER},git" ${publicKey}`;
    writeFileSync(this.signers, line);
    appendFileSync(join(first, SIGNERS), line);
    execFileSync('git', [...COMMIT, '--all', '--message', 'release: add a key'], { cwd: first });
    this.#inSurroundings(1, ['git', 'clone', '--quiet', first, this.clone(1)], this.folder);
    for (const clone of [first, this.clone(1)])
      symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    // A link is no folder, so .gitignore does not cover it.
    for (const clone of [first, this.clone(1)])
      appendFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
  }

  clone(index: 0 | 1): string {
    return join(this.folder, index === 0 ? 'one' : 'another folder/two');
  }

  output(index: 0 | 1): string {
    return join(this.folder, `files-${index}`);
  }

  /** Builds the release in a clone, each in its own surroundings. */
  build(index: 0 | 1, key = this.key): { readonly status: number | null; readonly stderr: string } {
    const script = ['scripts/release/build.ts', '--output', this.output(index), '--key', key];
    return this.#inSurroundings(index, [process.execPath, ...script], this.clone(index));
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #inSurroundings(index: 0 | 1, command: readonly string[], cwd: string) {
    const { umask, env, git } = SURROUNDINGS[index];
    const home = join(this.folder, `home-${index}`);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, '.gitconfig'), git);
    return spawnSync('sh', ['-c', `umask ${umask}; exec "$@"`, 'sh', ...command], {
      cwd,
      env: { PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`, HOME: home, ...env },
      encoding: 'utf8',
    });
  }

  #createKey(name: string): string {
    const path = join(this.folder, name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', path]);
    return path;
  }
}
