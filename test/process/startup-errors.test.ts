/** Errors with which `skerryd serve` refuses to start, each in one line that names the setting. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { killLeftovers, runSkerryd, startSkerryd } from '../support/skerryd-process.ts';

const ONE_LINE = /^[^\n]+\n$/;
const LIVE = {
  SKERRY_MODE: 'live',
  DATABASE_URL: 'postgres://hunter2@127.0.0.1:1/x',
  SKERRY_COMPUTE: 'qemu',
};

describe('skerryd serve refuses to start', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-refusals-'));
    // When root runs the tests, the database runs as another user, who must be able to enter this folder.
    await chmod(folder, 0o755);
  });
  after(async () => {
    killLeftovers();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });
  const quiet = (name: string) => ({ SKERRY_DATA_DIR: join(folder, name), SKERRY_LOG_LEVEL: 'warn' });

  const invalid: [string, Record<string, string>, RegExp][] = [
    ['an invalid port', { SKERRY_PORT: 'eighty' }, /SKERRY_PORT/],
    ['a misspelled setting', { SKERRY_PROT: '8080' }, /SKERRY_PROT.*SKERRY_PORT/],
    ['a public address for a sandbox', { SKERRY_HOST: '0.0.0.0' }, /SKERRY_HOST.*SKERRY_SANDBOX_PUBLIC/],
    ['an invalid key', { SKERRY_SECRET_KEY: 'hunter2' }, /SKERRY_SECRET_KEY/],
    ['an invalid crash place', { SKERRY_CRASH_AT: 'lunch' }, /SKERRY_CRASH_AT/],
    ['a quota for an unknown resource', { SKERRY_QUOTAS: 'cats=9' }, /SKERRY_QUOTAS.*servers/],
    ['live mode without a database', { SKERRY_MODE: 'live' }, /DATABASE_URL/],
    [
      'live mode with simulated machines',
      { SKERRY_MODE: 'live', DATABASE_URL: 'postgres://localhost/x' },
      /SKERRY_COMPUTE/,
    ],
    ['a live service without a limit', { ...LIVE, SKERRY_SIGNUPS_PER_HOUR: '0' }, /SKERRY_SIGNUPS_PER_HOUR/],
    [
      'a private key for a coin',
      {
        ...LIVE,
        SKERRY_LTC_URL: 'http://user:hunter2@127.0.0.1:1/wallet/w',
        SKERRY_LTC_XPUB:
          'xprv9z4pot5VBttmtdRTWfWQmoH1taj2axGVzFqSb8C9xaxKymcFzXBDptWmT7FwuEzG3' +
          'ryjH4ktypQSAewRiNMjANTtpgP4mLTj34bhnZX7UiM',
      },
      /SKERRY_LTC_XPUB: this is a private key/,
    ],
    ['a real coin in a sandbox', { SKERRY_SOL_URL: 'http://127.0.0.1:8899' }, /SKERRY_SOL_URL: a sandbox/],
    [
      'a node without an extended public key',
      { ...LIVE, SKERRY_BTC_URL: 'http://user:hunter2@127.0.0.1:1' },
      /SKERRY_BTC_XPUB: .*SKERRY_BTC_URL/,
    ],
    ['an unreachable database', { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x' }, /DATABASE_URL/],
  ];
  for (const [index, [name, env, message]] of invalid.entries()) {
    // Each case starts a process.
    it(`refuses ${name} with one line that names the setting`, index < 2 ? {} : FULL_ONLY, async () => {
      const end = await runSkerryd(['serve'], { ...quiet('wrong'), SKERRY_PORT: '0', ...env });
      assert.equal(end.code, 1);
      assert.match(end.stderr, ONE_LINE);
      assert.match(end.stderr, message);
      assert.doesNotMatch(end.stderr, /hunter2|xprv9z4/);
    });
  }

  it('refuses a secret key that does not match the database', FULL_ONLY, async () => {
    await (await startSkerryd(quiet('keyed'))).stop();
    const key = `k9:${Buffer.alloc(32, 9).toString('base64')}`;
    const end = await runSkerryd(['serve'], { ...quiet('keyed'), SKERRY_PORT: '0', SKERRY_SECRET_KEY: key });
    assert.equal(end.code, 1);
    assert.match(end.stderr, /key/);
    assert.match(end.stderr, ONE_LINE);
  });
});
