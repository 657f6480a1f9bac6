import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findGrowingPlans } from '../support/growth-plans.ts';
import { fillLargeDatabase } from '../support/large-database.ts';
import { startTestService } from '../support/test-service.ts';

const SIZE = { servers: 1_000, rows: 20_000 };

test('no list and no background job reads a large table from end to end, or sorts much', async () => {
  const world = await startTestService();
  try {
    await fillLargeDatabase(world.db, world.clock.now(), SIZE);
    const { statements, faults } = await findGrowingPlans(world.service, {
      tableRows: SIZE.rows / 5,
      sortedRows: 600,
    });
    assert.deepEqual(faults, []);
    assert.ok(statements > 300, `${statements} statements`);
  } finally {
    await world.close();
  }
});
