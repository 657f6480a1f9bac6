/**
 * A process that is killed with SIGKILL at any place of a resize. After the restart the server has its new
 * plan, or the previous one, and the ledger says the same.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { runSkerryd } from '../support/skerryd-process.ts';
import { BALANCE, balance, runningServer, type ScenarioContext, useCustomerWorld } from './crash-customer.ts';
import { callSandbox } from './crash-world.ts';
import { type KillScenario, scenariosOfRun, testKillPlaces } from './kill-places.ts';

const BETA = { 'x-service-beta': 'true' };
/** Longer than a copy takes. */
const COPY_S = 30;
/** All memory of a simulated host. */
const HOST_RAM_MB = '524288';

const SCENARIOS: readonly KillScenario<ScenarioContext>[] = [
  {
    name: 'a resize',
    run: resizeBothWays,
    finish: async (context) => {
      await resizeBothWays(context);
      // A cycle of s1, and the rounding of two steps.
      await assertPaid(context, 0.02);
    },
  },
  {
    name: 'a resize that fails',
    run: async (context) => {
      await runningServer(context);
      await callSandbox(context.url, 'faults', { driver: 'compute', operation: 'resize', times: 1 });
      await resize(context, 's2', 'up');
    },
    finish: async (context) => {
      await callSandbox(context.url, 'settle');
      await callSandbox(context.url, 'faults', { driver: 'compute', operation: 'resize', times: 0 });
      const { api, path } = await runningServer(context);
      // The fault may have been used up before the kill, or not at all.
      const { plan } = (await api.get(path)).body;
      if (plan === 's2') await resize(context, 's1', 'back');
      await assertPaid(context, 0.02);
    },
  },
  {
    name: 'a resize to another host',
    run: async (context) => {
      await runningServer(context);
      await fillHost(context);
      await resize(context, 's2', 'up');
      await callSandbox(context.url, 'clock', { advance_s: COPY_S });
    },
    finish: async (context) => {
      const { api, path } = await runningServer(context);
      await fillHost(context);
      await resize(context, 's2', 'up');
      for (let round = 0; round < 4; round++) await callSandbox(context.url, 'clock', { advance_s: COPY_S });
      const { body } = await api.get(path);
      assert.deepEqual([body.plan, body.status], ['s2', 'running']);
      const moves = await runSkerryd(['hosts', 'moves'], context.settings);
      assert.equal(moves.stdout.trim().split('\n').length, 1, moves.stdout);
    },
  },
];

describe('a process killed with SIGKILL while a server is resized', FULL_ONLY, () => {
  const world = useCustomerWorld();
  for (const scenario of scenariosOfRun(SCENARIOS)) {
    it(`completes ${scenario.name} once`, (t) => testKillPlaces(t, world, scenario));
  }
});

/** Resizes the running server, once for each key. */
async function resize(context: ScenarioContext, plan: string, key: string): Promise<void> {
  const { api, path } = await runningServer(context);
  const resized = await api.post(`${path}/resize`, { plan, restart: true }, { key, headers: BETA });
  assert.equal(resized.status, 202, resized.text);
  await callSandbox(context.url, 'settle');
}

async function resizeBothWays(context: ScenarioContext): Promise<void> {
  await resize(context, 's2', 'up');
  await resize(context, 's1', 'down');
}

async function assertPaid(context: ScenarioContext, roundingUsd: number): Promise<void> {
  const { api, path } = await runningServer(context);
  const { body } = await api.get(path);
  assert.deepEqual([body.plan, body.status], ['s1', 'running']);
  const paid = BALANCE - (await balance(context.customer)) - body.price_usd_cycle;
  // A second of the virtual clock between two steps is worth less than a cent.
  assert.ok(paid >= -0.001 && paid <= roundingUsd + 0.001, `paid ${paid}`);
}

/** Leaves no room on the host of the server for a larger plan. */
async function fillHost(context: ScenarioContext): Promise<void> {
  const { api } = await runningServer(context);
  const id = (await api.get('/servers')).body.data[0].id;
  const shown = await runSkerryd(['servers', 'show', id], context.settings);
  const [, name = ''] = /^host +(\S+)/m.exec(shown.stdout) ?? assert.fail(shown.stdout);
  const set = await runSkerryd(['hosts', 'set', name, '--reserve-ram-mb', HOST_RAM_MB], context.settings);
  assert.equal(set.code, 0, set.stderr);
}
