/**
 * A process that is killed with SIGKILL at any place of a server's move to another host, or while a host is
 * emptied. After the restart everything is on one host, and nothing of it is on any other.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { runSkerryd } from '../support/skerryd-process.ts';
import { runningServer, type ScenarioContext, useCustomerWorld } from './crash-customer.ts';
import { callSandbox } from './crash-world.ts';
import { type KillScenario, scenariosOfRun, testKillPlaces } from './kill-places.ts';

/** Longer than the wait after a failed move. */
const RETRY_S = 30;

const SCENARIOS: readonly KillScenario<ScenarioContext>[] = [
  {
    name: 'a move to another host',
    run: async (context) => {
      const id = await serverWithVolume(context);
      await move(context, id);
      await callSandbox(context.url, 'clock', { advance_s: RETRY_S });
    },
    finish: assertMoves,
  },
  {
    name: 'a move that fails',
    run: async (context) => {
      const id = await serverWithVolume(context);
      // The copy to the first target breaks.
      await callSandbox(context.url, 'faults', { driver: 'compute', operation: 'moves.send', times: 1 });
      await move(context, id);
      await callSandbox(context.url, 'clock', { advance_s: RETRY_S });
    },
    finish: assertMoves,
  },
  {
    name: 'a host that is emptied',
    run: async (context) => {
      const id = await serverWithVolume(context);
      await leaveDisks(context, id);
      await drain(context);
      await callSandbox(context.url, 'clock', { advance_s: RETRY_S });
    },
    finish: assertEmptied,
  },
];

describe('a process killed with SIGKILL while a server moves', FULL_ONLY, () => {
  const world = useCustomerWorld();
  for (const scenario of scenariosOfRun(SCENARIOS)) {
    it(`completes ${scenario.name} once`, (t) => testKillPlaces(t, world, scenario));
  }
});

/** Returns the id of the only server, which has a volume. */
async function serverWithVolume(context: ScenarioContext): Promise<string> {
  const { api, path } = await runningServer(context);
  const id = path.slice('/servers/'.length);
  const fields = { name: 'data', size_gb: 10, region: 'par' };
  const volume = await api.post('/volumes', fields, { key: 'volume' });
  assert.equal(volume.status, 201, volume.text);
  const attached = await api.post(`/volumes/${volume.body.id}/attach`, { server: id }, { key: 'attach' });
  assert.equal(attached.status, 200, attached.text);
  await callSandbox(context.url, 'settle');
  return id;
}

/** Moves the server to another host, unless it has moved or moves already. */
async function move(context: ScenarioContext, id: string): Promise<void> {
  const moved = await runSkerryd(['servers', 'move', id], context.settings);
  assert.ok(moved.code === 0 || /already has a move|last move/.test(moved.stderr), moved.stderr);
}

/** Detaches the volume and takes a snapshot, unless that was done. */
async function leaveDisks({ api, url }: ScenarioContext, id: string): Promise<void> {
  const [volume] = (await api.get('/volumes')).body.data;
  const detached = await api.post(`/volumes/${volume.id}/detach`, {}, { key: 'detach' });
  assert.equal(detached.status, 200, detached.text);
  const taken = await api.post(`/servers/${id}/snapshots`, { name: 'last' }, { key: 'snapshot' });
  assert.equal(taken.status, 201, taken.text);
  await callSandbox(url, 'settle');
}

/** Empties the first host that has had a server. */
async function drain(context: ScenarioContext): Promise<void> {
  const { stdout } = await runSkerryd(['hosts', 'list'], context.settings);
  const drained = /^(\S+) +par +drained/m.exec(stdout)?.[1];
  const id = (await context.api.get('/servers')).body.data[0].id;
  const name = drained ?? (await hostOf(context, id));
  const queued = await runSkerryd(['hosts', 'drain', name, '--move', '--no-wait'], context.settings);
  assert.equal(queued.code, 0, queued.stderr);
}

async function assertEmptied(context: ScenarioContext): Promise<void> {
  const id = await serverWithVolume(context);
  await leaveDisks(context, id);
  await drain(context);
  for (let round = 0; round < 4; round++) await callSandbox(context.url, 'clock', { advance_s: RETRY_S });
  const moves = await runSkerryd(['hosts', 'moves'], context.settings);
  assert.equal(moves.stdout.trim().split('\n').length, 1, moves.stdout);
  const { stdout } = await runSkerryd(['hosts', 'list'], context.settings);
  const [, name = ''] = /^(\S+) +par +drained/m.exec(stdout) ?? assert.fail(stdout);
  const shown = await runSkerryd(['hosts', 'show', name], context.settings);
  assert.match(shown.stdout, /^contents +nothing$/m);
  const { api } = context;
  assert.equal((await api.get('/volumes')).body.data.length, 1);
  assert.equal((await api.get('/snapshots')).body.data[0].status, 'ready');
  assert.equal((await api.get(`/servers/${id}`)).body.status, 'running');
}

async function assertMoves(context: ScenarioContext): Promise<void> {
  await callSandbox(context.url, 'faults', { driver: 'compute', operation: 'moves.send', times: 0 });
  const id = await serverWithVolume(context);
  await callSandbox(context.url, 'clock', { advance_s: RETRY_S });
  const before = await hostOf(context, id);
  await move(context, id);
  await callSandbox(context.url, 'clock', { advance_s: RETRY_S });
  const listed = await runSkerryd(['hosts', 'moves'], context.settings);
  assert.equal(listed.stdout.trim().split('\n').length, 1, listed.stdout);
  assert.notEqual(await hostOf(context, id), before);
  const { api } = context;
  assert.equal((await api.get(`/servers/${id}`)).body.status, 'running');
  const [volume] = (await api.get('/volumes')).body.data;
  assert.equal(volume.attached_to, id);
  // A machine that is left over, or lost, is reported.
  const status = await runSkerryd(['status'], context.settings);
  assert.doesNotMatch(status.stdout, /machines/);
}

async function hostOf({ settings }: ScenarioContext, id: string): Promise<string> {
  const { stdout } = await runSkerryd(['servers', 'show', id], settings);
  return /^host +(\S+)$/m.exec(stdout)?.[1] ?? assert.fail(stdout);
}
