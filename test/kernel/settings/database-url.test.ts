import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDatabaseUrl } from '../../../src/kernel/settings/database-url.ts';

test('a URL of one host is taken as it is', () => {
  const url = 'postgres://skerry:p%40ss@db.example:5432/skerry?sslmode=require';
  assert.deepEqual(parseDatabaseUrl(url), { urls: [url], isWritable: false });
  const socket = 'postgresql:///skerry?host=/run/postgresql';
  assert.deepEqual(parseDatabaseUrl(socket), { urls: [socket], isWritable: false });
});

test('a URL of several hosts becomes one for each, and a standby will not do', () => {
  const url =
    'postgres://u:p@a.example:5432,[2001:db8::1]:5433,c/skerry?target_session_attrs=read-write&ssl=true';
  assert.deepEqual(parseDatabaseUrl(url), {
    urls: [
      'postgres://u:p@a.example:5432/skerry?ssl=true',
      'postgres://u:p@[2001:db8::1]:5433/skerry?ssl=true',
      'postgres://u:p@c/skerry?ssl=true',
    ],
    isWritable: true,
  });
  assert.equal(
    parseDatabaseUrl('postgres://a/s?x=1&target_session_attrs=primary')?.urls[0],
    'postgres://a/s?x=1',
  );
});

test('other texts are none', () => {
  for (const text of [
    'mysql://a/b',
    'a.example',
    'postgres://a,/b',
    'postgres://a:5432x,b/c',
    'postgres://a/b?target_session_attrs=any',
  ]) {
    assert.equal(parseDatabaseUrl(text), undefined, text);
  }
});
