import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { certificateFindings } from '../../../src/domain/health/host-certificates.ts';
import { readStatus } from '../../../src/domain/health/status.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import {
  insertBackend,
  recordRenewalFailure,
  setBackendState,
} from '../../../src/store/inventory/backends.ts';
import { insertServiceRow } from '../../../src/store/service/service.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const NOW = new Date();

let world: TestService;
before(async () => {
  world = await startTestService();
  await world.fixtures.addPlans(['par']);
  await insertServiceRow(world.db, { mode: 'sandbox', key_check: 'x' });
});
after(() => world.close());

test('status warns of failing renewals, and fails when a certificate in use has ended', async () => {
  const { db } = world;
  for (const [index, name] of ['fine', 'failing', 'ended', 'revoked'].entries()) {
    const until = new Date(NOW.getTime() + (index < 2 ? 9 : -1) * DAY_MS);
    await insertBackend(db, {
      ...({ name, kind: 'host', address: '127.0.0.1:1', region_id: 'par', state: 'active' } as const),
      identity: `7b2c1f0e-3c53-4a0e-9a38-0d9f2f2f7c1${index}`,
      fingerprint: 'ab'.repeat(32),
      ...{ certificate_from: NOW, certificate_until: until, renew_at: NOW, created_at: NOW },
    });
  }
  await setBackendState(db, 'revoked', 'revoked');
  await recordRenewalFailure(db, 'fine', NOW);
  for (let failure = 0; failure < 3; failure++) await recordRenewalFailure(db, 'failing', NOW);
  const found = await certificateFindings(world.service, NOW);
  assert.deepEqual(
    found.map(({ level, message }) => [level, /certificate of (\w+)/.exec(message)?.[1]]),
    [
      ['fail', 'ended'],
      ['warn', 'failing'],
    ],
  );
  const all = await readStatus(world.service);
  for (const each of found) assert.ok(all.some(({ message }) => message === each.message));
  assert.doesNotMatch(JSON.stringify(found), /127\.0\.0/);
});
