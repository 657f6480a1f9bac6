import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConfig } from '../../src/config.ts';
import { checkSettings } from '../../src/operator/going-live.ts';

const LIVE = {
  SKERRY_MODE: 'live',
  SKERRY_COMPUTE: 'qemu',
  DATABASE_URL: 'postgres://u:p@db.example/skerry',
};

const says = (env: Record<string, string>, level: string) =>
  checkSettings(describeConfig(env))
    .filter((finding) => finding.level === level)
    .map((finding) => finding.message);

test('in a sandbox, every missing step toward a live service is a note', () => {
  const notes = says({}, 'note');
  assert.deepEqual(says({}, 'fail'), []);
  assert.match(notes[0] ?? '', /^sandbox/);
  for (const step of [
    /^DATABASE_URL/,
    /^SKERRY_COMPUTE=qemu or hosts/,
    /^SKERRY_BASE_URL/,
    /^no coin/,
    /^SKERRY_MODE=live/,
  ]) {
    assert.ok(
      notes.some((note) => step.test(note)),
      String(step),
    );
  }
});

test('a completed step is not listed', () => {
  assert.ok(!says({ SKERRY_COMPUTE: 'qemu' }, 'note').some((note) => note.startsWith('SKERRY_COMPUTE')));
});

test('a live service needs a coin, https, and no worthless coins; the other settings are optional', () => {
  const failures = says({ ...LIVE, SKERRY_WORTHLESS_COINS: 'true' }, 'fail');
  assert.equal(failures.length, 3, failures.join('\n'));
  assert.ok(says(LIVE, 'note').some((note) => note.startsWith('SKERRY_SMTP_URL')));
});

test('a live service with every setting has one finding: OK', () => {
  const whole = {
    ...LIVE,
    SKERRY_BASE_URL: 'https://panel.example',
    SKERRY_LTC_URL: 'http://127.0.0.1:9332',
    SKERRY_LTC_XPUB: 'zpub',
    SKERRY_TRUSTED_PROXIES: '127.0.0.1',
    SKERRY_SMTP_URL: 'smtp://mail.example',
    SKERRY_CONTACT: 'ann@example.org',
    SKERRY_TERMS_FILE: 'terms.md',
  };
  assert.deepEqual(
    checkSettings(describeConfig(whole)).map(({ level }) => level),
    ['ok'],
  );
});
