import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedSandbox } from '../../src/domain/catalogue/load.ts';
import { DAY_MS, formatRfc3339, HOUR_MS } from '../../src/kernel/time.ts';
import { insertServiceRow } from '../../src/store/service/service.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let operator: OperatorFixture;
before(async () => {
  operator = await openOperatorFixture();
  await insertServiceRow(operator.backend.db, { mode: 'sandbox', key_check: 'none' });
  await seedSandbox(operator.backend.service, operator.backend.register);
});
after(() => operator.backend.close());

async function ok(...argv: string[]): Promise<string> {
  const result = await operator.run(['incidents', ...argv]);
  assert.deepEqual([result.code, result.err], [0, '']);
  return result.out;
}

async function fails(code: 1 | 2, ...argv: string[]): Promise<string> {
  const result = await operator.run(['incidents', ...argv]);
  assert.equal(result.code, code, result.err);
  assert.match(result.err, /^skerryd: [^\n]+$/);
  return result.err;
}

const idIn = (said: string): string => /inc_[a-z2-7]{26}/.exec(said)?.[0] ?? assert.fail(said);
const create = async (...argv: string[]) => idIn(await ok('create', ...argv));
const shown = async (id: string) => JSON.parse(await ok('show', id, '-o', 'json'));
const inHours = (hours: number) =>
  formatRfc3339(new Date(operator.backend.clock.now().getTime() + hours * HOUR_MS));

test('an incident is created, updated, and resolved, with an audit entry for each act', async () => {
  const audited = (await operator.backend.auditedActions()).length;
  const id = await create('--title', 'Slow disks', '--text', 'We look into it.', '--component', 'region:par');
  assert.match(await ok('list'), new RegExp(`${id} +investigating .* region:par +Slow disks$`));
  const update = ['--state', 'identified', '--text', 'A switch is broken.\nWe replace it.'];
  assert.equal(await ok('update', id, ...update), `${id} is identified`);
  assert.equal(await ok('resolve', id), `${id} is resolved`);
  const { updates, ...incident } = await shown(id);
  assert.deepEqual(
    updates.map(({ state, text }: { state: string; text: string }) => [state, text]),
    [
      ['resolved', 'This is resolved.'],
      ['identified', 'A switch is broken.\nWe replace it.'],
      ['investigating', 'We look into it.'],
    ],
  );
  assert.equal(incident.state, 'resolved');
  assert.ok(incident.resolved_at);
  assert.doesNotMatch(await ok('list'), new RegExp(id));
  assert.match(await ok('list', '--all'), new RegExp(id));
  assert.match(await ok('show', id), /identified\n {2}A switch is broken\.\n {2}We replace it\./);
  assert.deepEqual((await operator.backend.auditedActions()).slice(audited), [
    'incident.create',
    'incident.update',
    'incident.resolve',
  ]);
});

test('an update of a resolved incident opens it again, and resolving it twice is refused', async () => {
  const id = await create('--title', 'a', '--text', 'b');
  await ok('update', id, '--text', 'done', '--state', 'resolved');
  assert.match(await fails(1, 'resolve', id), /it is resolved already/);
  assert.equal(await ok('update', id, '--text', 'back'), `${id} is identified`);
  assert.equal((await shown(id)).resolved_at, null);
  await ok('resolve', id, '--text', 'gone');
});

test('planned maintenance follows the clock, can be extended, and is canceled before it begins', async () => {
  const plan = ['--title', 'New disks', '--text', 'Planned.', '--from', inHours(1), '--until', inHours(3)];
  const [id, other] = [await create(...plan), await create(...plan)];
  assert.equal((await shown(id)).state, 'scheduled');
  assert.equal(await ok('resolve', other, '--text', 'Not needed.'), `${other} is canceled`);
  operator.backend.clock.offsetMs += 2 * HOUR_MS;
  assert.equal(
    await ok('update', id, '--text', 'Takes longer.', '--until', inHours(4)),
    `${id} is in progress`,
  );
  operator.backend.clock.offsetMs += DAY_MS;
  assert.equal((await shown(id)).state, 'completed');
  assert.doesNotMatch(await ok('list'), new RegExp(id));
});

test('incorrect input is refused with the fix', async () => {
  const create = ['create', '--title', 'a', '--text', 'b'];
  assert.match(await fails(1, ...create, '--component', 'disk'), /one of panel, deploys, .*region:<code>/);
  assert.match(await fails(1, ...create, '--component', 'region:xxx'), /region xxx not found/);
  assert.match(await fails(2, ...create, '--state', 'resolve'), /Did you mean resolved\?/);
  assert.match(await fails(1, ...create, '--state', 'resolved'), /create it, then resolve it/);
  assert.match(await fails(1, ...create, '--from', inHours(1)), /needs --from and --until/);
  assert.match(await fails(2, ...create, '--from', 'tomorrow'), /RFC 3339/);
  assert.match(await fails(1, ...create, '--from', inHours(2), '--until', inHours(1)), /end after it begins/);
  assert.match(await fails(1, 'create', '--title', 'a\nb', '--text', 'b'), /title must be one line/);
  assert.match(await fails(1, 'create', '--title', 'a', '--text', ' '), /text must be 1 to 5000/);
  const id = await create2();
  assert.match(
    await fails(1, 'update', id, '--text', 'b', '--until', inHours(1)),
    /only planned maintenance/,
  );
  assert.match(await fails(1, 'update', 'nonsense', '--text', 'b'), /Incident not found/);
  assert.match(await fails(1, 'show', 'nonsense'), /not/i);
});

const create2 = () => create('--title', 'a', '--text', 'b');
