import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { listRegions } from '../../src/store/catalogue/catalogue.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

const SEED = readFileSync(new URL('../../catalogue/sandbox.yaml', import.meta.url), 'utf8');

let operator: OperatorFixture;
let file: string;
before(async () => {
  operator = await openOperatorFixture();
  file = join(mkdtempSync(join(tmpdir(), 'skerry-catalogue-')), 'catalogue.yaml');
  writeFileSync(file, SEED);
});
after(async () => {
  await operator.backend.close();
  rmSync(join(file, '..'), { recursive: true });
});

test('catalogue load changes nothing without a confirmation', async () => {
  const alone = await operator.run(['catalogue', 'load', file]);
  assert.equal(alone.code, 1);
  assert.match(
    alone.out,
    /\+ plan s1: .*price_usd_month 7\.35, backup_percent 0, host_tags none, regions buh par rkv zrh/,
  );
  assert.equal(alone.err, 'skerryd: nothing was changed: pass --yes to load the file');
  const refused = await operator.run(['catalogue', 'load', file], false);
  assert.equal(refused.code, 0);
  assert.match(refused.out, /nothing was changed$/);
  assert.deepEqual(await listRegions(operator.backend.db), []);
});

test('catalogue load shows the changes, loads them, and finds none the next time', async () => {
  const loaded = await operator.run(['catalogue', 'load', file], true);
  assert.equal(loaded.code, 0, loaded.err);
  assert.match(loaded.out, /\+ region par.*\+ host par-1 .*\nloaded$/s);
  const again = await operator.run(['catalogue', 'load', file, '--yes']);
  assert.deepEqual(again, { code: 0, out: 'no changes', err: '' });
});

test('catalogue load --yes loads a change without asking', async () => {
  writeFileSync(file, SEED.replace('"7.35"', '"7.99"'));
  const { code, out } = await operator.run(['catalogue', 'load', '--yes', file]);
  assert.deepEqual([code, out], [0, '~ plan s1: price_usd_month 7.35 → 7.99\nloaded']);
});

test('an invalid catalog file changes nothing, and the error names the line', async () => {
  writeFileSync(file, SEED.replace('"7.35"', '7.99'));
  const { code, out, err } = await operator.run(['catalogue', 'load', '--yes', file]);
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^skerryd: catalog, line \d+, plans\[0\]\.price_usd_month: expected [^\n]*$/);
});

test('catalogue load names a file that does not exist', async () => {
  const { code, err } = await operator.run(['catalogue', 'load', '/nowhere.yaml']);
  assert.deepEqual([code, err], [1, 'skerryd: file not found: /nowhere.yaml']);
});

test('catalogue show prints the current catalog', async () => {
  const { out } = await operator.run(['catalogue', 'show']);
  assert.match(out, /^region {2}session {2}name/);
  assert.match(out, /\nbuh {5}otp {6}Bucharest {2}RO\n/);
  assert.match(out, /\ns1 .* 7\.99 /);
  assert.match(out, /\ndebian {3}11 .*deprecated \d{4}-/);
});

test('catalogue export prints a file that changes nothing', async () => {
  const { out } = await operator.run(['catalogue', 'export']);
  writeFileSync(file, `${out}\n`);
  const again = await operator.run(['catalogue', 'load', file]);
  assert.deepEqual([again.code, again.out], [0, 'no changes'], again.err);
  const changed = await operator.run(['plans', 'set-price', 's1', '--usd-month', '9.25', '--yes']);
  assert.match(changed.out, /new orders of s1 cost 9\.25 USD/, changed.err);
  const differs = await operator.run(['catalogue', 'load', file]);
  assert.match(differs.out, /plan s1: price_usd_month 9\.25 → /);
});
