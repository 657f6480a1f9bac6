import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { listRegions } from '../../src/store/catalogue.ts';
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

test('nothing is loaded unless somebody says yes', async () => {
  const alone = await operator.run(['catalogue', 'load', file]);
  assert.equal(alone.code, 1);
  assert.match(alone.out, /\+ plan s1: category vps, .*price_usd_month 7\.35, regions buh par rkv zrh/);
  assert.equal(alone.err, 'skerryd: nothing was changed: say --yes to load it');
  const refused = await operator.run(['catalogue', 'load', file], false);
  assert.equal(refused.code, 0);
  assert.match(refused.out, /nothing was changed$/);
  assert.deepEqual(await listRegions(operator.backend.db), []);
});

test('a file is shown, loaded, and then no different', async () => {
  const loaded = await operator.run(['catalogue', 'load', file], true);
  assert.equal(loaded.code, 0, loaded.err);
  assert.match(loaded.out, /\+ region par.*\+ host par-1 .*\nloaded$/s);
  const again = await operator.run(['catalogue', 'load', file, '--yes']);
  assert.deepEqual(again, { code: 0, out: 'no difference: nothing to do', err: '' });
});

test('a change is loaded with --yes', async () => {
  writeFileSync(file, SEED.replace('"7.35"', '"7.99"'));
  const { code, out } = await operator.run(['catalogue', 'load', '--yes', file]);
  assert.deepEqual([code, out], [0, '~ plan s1: price_usd_month 7.35 → 7.99\nloaded']);
});

test('a file with a fault changes nothing and names the line', async () => {
  writeFileSync(file, SEED.replace('"7.35"', '7.99'));
  const { code, out, err } = await operator.run(['catalogue', 'load', '--yes', file]);
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^skerryd: catalogue, line \d+, plans\[0\]\.price_usd_month: expected [^\n]*$/);
});

test('a file that is not there is named', async () => {
  const { code, err } = await operator.run(['catalogue', 'load', '/nowhere.yaml']);
  assert.deepEqual([code, err], [1, 'skerryd: there is no file /nowhere.yaml']);
});

test('what is sold is printed', async () => {
  const { out } = await operator.run(['catalogue', 'show']);
  assert.match(out, /^region {2}session {2}name/);
  assert.match(out, /\nbuh {5}otp {6}Bucharest {2}RO\n/);
  assert.match(out, /\ns1 .* 7\.99 /);
  assert.match(out, /\ndebian {3}11 .*deprecated \d{4}-/);
});
