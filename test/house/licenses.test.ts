/** No package comes in whose license does not allow its use in Apache-2.0 software, or is unknown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Lock, readLock } from '../../scripts/lock-file.ts';
import { ALLOWED_LICENSES, findForeignLicenses, LICENSE_EXCEPTIONS } from '../../scripts/release/licenses.ts';
import { readTree } from '../support/project-files.ts';

const LOCK = readLock(fileURLToPath(new URL('../..', import.meta.url)));
const ARCHITECTURE = readTree(['ARCHITECTURE.md'], /./).get('ARCHITECTURE.md') ?? '';

test('every package that is used at run time has a license from the list', () => {
  assert.ok(Object.keys(LOCK).length > 300);
  assert.deepEqual(findForeignLicenses(LOCK), []);
});

test('every exception is in ARCHITECTURE.md and in the lock file, and every license is used', () => {
  const unknown = Object.entries(LICENSE_EXCEPTIONS).filter(
    ([name, { declared }]) => LOCK[`node_modules/${name}`]?.license !== declared,
  );
  assert.deepEqual(unknown, []);
  const missing = Object.keys(LICENSE_EXCEPTIONS).filter(
    (name) => !ARCHITECTURE.includes(`\`${name.replace(/linux-.*$/, 'linux-*')}\``),
  );
  assert.deepEqual(missing, []);
  const used = new Set(Object.values(LOCK).map(({ license }) => license));
  assert.deepEqual(
    ALLOWED_LICENSES.filter((license) => !used.has(license)),
    [],
  );
});

test('every package comes from the registry with its hash', () => {
  const others = Object.entries(LOCK).filter(
    ([place, { integrity = '', link = false, resolved }]) =>
      place.includes('node_modules/') &&
      !link &&
      (!integrity.startsWith('sha512-') || resolved !== undefined),
  );
  assert.deepEqual(others, []);
});

test('a copyleft license, an unknown license, and none are reported, except in tools of developers', () => {
  const found = (license: string | undefined, more: Lock[string] = {}) =>
    findForeignLicenses({ 'node_modules/a/node_modules/@b/c': { ...(license && { license }), ...more } });
  for (const license of ['GPL-3.0-only', 'AGPL-3.0-or-later', 'GPL-2.0', 'UNLICENSED', 'MIT AND GPL-2.0'])
    assert.deepEqual(found(license), [`@b/c: ${license}`]);
  assert.deepEqual(found(undefined), ['@b/c: none']);
  assert.deepEqual(found('LGPL-3.0+'), ['@b/c: LGPL-3.0+']);
  assert.deepEqual(found('MIT'), []);
  assert.deepEqual(found('GPL-3.0-only', { dev: true }), []);
});
