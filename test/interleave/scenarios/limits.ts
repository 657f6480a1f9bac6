/** Limits: requests at the same time get no more than one after the other. */
import assert from 'node:assert/strict';
import type { Service } from '../../../src/domain/context.ts';
import { createVolume } from '../../../src/domain/volumes/change.ts';
import type { Scenario } from '../core/explore.ts';
import { isDone } from '../core/outcomes.ts';
import type { InterleaveWorld } from '../core/world.ts';

const VOLUMES_MAX = 2;

function limitedService(world: InterleaveWorld): Service {
  const service = world.service();
  const quotas = { ...service.settings.quotas, volumes: VOLUMES_MAX };
  return { ...service, settings: { ...service.settings, quotas } };
}

/** Three volumes are wanted, and two are allowed. */
const volumesAtQuota: Scenario = {
  name: 'volumes-at-quota',
  prepare: async (world) => {
    const actor = await world.fixtures.addCustomer();
    const create = (name: string) => async () =>
      void (await createVolume(limitedService(world), actor, { name, size_gb: 10, region: 'par' }));
    return {
      tasks: { 'creates-1': create('a'), 'creates-2': create('b'), 'creates-3': create('c') },
      check: async (tasks, db) => {
        const rows = await db.rows('select from volumes where customer_id = $1', [actor.customerId]);
        assert.deepEqual([tasks.filter(isDone).length, rows.length], [VOLUMES_MAX, VOLUMES_MAX]);
      },
    };
  },
};

export const LIMITS: readonly Scenario[] = [volumesAtQuota];
