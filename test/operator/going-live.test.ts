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

test('in a sandbox all that stands before a live service is a note, step by step', () => {
  const notes = says({}, 'note');
  assert.deepEqual(says({}, 'look'), []);
  assert.match(notes[0] ?? '', /^a sandbox/);
  for (const step of [
    /^DATABASE_URL/,
    /^SKERRY_COMPUTE=qemu/,
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

test('what was done is not said again', () => {
  assert.ok(!says({ SKERRY_COMPUTE: 'qemu' }, 'note').some((note) => note.startsWith('SKERRY_COMPUTE')));
});

test('a live service must have a coin and https, and no coins without worth; the rest is its operator’s choice', () => {
  const looks = says({ ...LIVE, SKERRY_WORTHLESS_COINS: 'true' }, 'look');
  assert.equal(looks.length, 3, looks.join('\n'));
  assert.ok(says(LIVE, 'note').some((note) => note.startsWith('SKERRY_SMTP_URL')));
});

test('one that has everything is told so', () => {
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
