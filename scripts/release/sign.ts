/** Signs the checksums of a release with an SSH key: a file, or the public half of one in an agent. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The keys that may sign. It is in each release, so that operators verify the next one with it. */
export const SIGNERS = 'deploy/release-signers';
/** The name of the signers in that file, and the namespace of the signature. */
export const RELEASE_SIGNER = 'skerry-release';

/** Writes `FILE.sig`. Fails if the key is not among the signers. */
export function signFile(file: string, key: string, signers: string): void {
  rmSync(`${file}.sig`, { force: true });
  keygen(['-Y', 'sign', '-q', '-f', key, '-n', RELEASE_SIGNER, file]);
  const verify = ['-Y', 'verify', '-f', signers, '-I', RELEASE_SIGNER, '-n', RELEASE_SIGNER];
  keygen([...verify, '-s', `${file}.sig`], readFileSync(file), `${key} is not among the keys in ${SIGNERS}`);
}

/** Fails now, and not after the version is tagged, if the key cannot sign a release. */
export function requireSigner(key: string, signers: string): void {
  const scratch = mkdtempSync(join(tmpdir(), 'skerry-sign-'));
  try {
    const file = join(scratch, 'file');
    writeFileSync(file, '');
    signFile(file, key, signers);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function keygen(args: readonly string[], input?: Buffer, failure = 'ssh-keygen cannot sign'): void {
  // Without input, ssh-keygen may ask for the passphrase of the key.
  const stdin = input === undefined ? 'inherit' : 'pipe';
  const { status, error } = spawnSync('ssh-keygen', args, { input, stdio: [stdin, 'ignore', 'inherit'] });
  if (error !== undefined || status !== 0) throw new Error(error?.message ?? failure);
}
