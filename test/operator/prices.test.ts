import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedSandbox } from '../../src/domain/catalogue/load.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let operator: OperatorFixture;
before(async () => {
  operator = await openOperatorFixture();
  await seedSandbox(operator.backend.service, operator.backend.register);
});
after(() => operator.backend.close());

test('a price is announced 30 days ahead, listed with the catalog price, and canceled', async () => {
  const announced = await operator.run(['prices', 'announce', '--plan', 's1', '--usd-month', '12.50']);
  assert.equal(announced.code, 0, announced.err);
  assert.match(
    announced.out,
    /^prc_\w+: s1 renews at 12\.50 USD per month from \d{4}-\d\d-\d\d [\d:]{8} UTC\nnew orders still cost/,
  );
  const id = announced.out.split(':')[0] ?? '';
  const late = await operator.run([
    'prices',
    'announce',
    '--plan',
    's1',
    '--usd-month',
    '9',
    '--at',
    '2020-01-01',
  ]);
  assert.deepEqual([late.code, late.out], [1, '']);
  assert.match(late.err, /^skerryd: a price must be announced at least 30 days ahead: the earliest is \S+Z$/);
  assert.match(
    (await operator.run(['prices', 'list'])).out,
    new RegExp(`${id}  s1    12\\.50 .* announced$`, 'm'),
  );
  assert.equal((await operator.run(['prices', 'cancel', id])).out, `${id} is canceled`);
  assert.match((await operator.run(['prices', 'list'])).out, /cancelled$/m);
  assert.match((await operator.run(['prices', 'cancel', 'prc_x'])).err, /announcement not found/);
  assert.deepEqual((await operator.backend.auditedActions()).slice(-2), ['price.announce', 'price.cancel']);
});
