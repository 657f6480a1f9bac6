import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { databaseFindings } from '../../../src/domain/health/database.ts';
import { HOUR_MS } from '../../../src/kernel/time.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

let world: TestService;
before(async () => {
  world = await startTestService();
  await world.db.run(`insert into service (mode, key_check) values ('sandbox', 'of a test')`);
});
after(() => world.close());

const clockFinding = async () =>
  (await databaseFindings(world.service)).find(({ message }) => message.startsWith('clock'));

it('doctor compares the clock of this machine with that of the database', async (t) => {
  assert.equal((await clockFinding())?.level, 'ok');
  const rightTime = Date.now.bind(Date);
  for (const [byMs, direction] of [
    [HOUR_MS, 'ahead'],
    [-HOUR_MS, 'behind'],
  ] as const) {
    const { mock } = t.mock.method(Date, 'now', () => rightTime() + byMs);
    const found = await clockFinding();
    mock.restore();
    assert.equal(found?.level, 'warn');
    assert.match(
      found.message,
      new RegExp(`^clock 3(600|599)\\.\\d s ${direction} on this machine, .* chrony$`),
    );
  }
});
