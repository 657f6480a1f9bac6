/**
 * A process that is killed with SIGKILL while a snapshot is copied to a real S3 server, deleted there, or
 * fetched from it. After the restart, the store has what the database says.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { NO_RADOSGW, Radosgw } from '../support/radosgw.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { runSkerryd } from '../support/skerryd-process.ts';
import { runningServer, type ScenarioContext, useCustomerWorld } from './crash-customer.ts';
import { callSandbox } from './crash-world.ts';
import { type KillScenario, scenariosOfRun, testKillPlaces } from './kill-places.ts';

const WAIT_MS = 90_000;

describe('a process killed with SIGKILL while a snapshot is copied', {
  skip: FULL_ONLY.skip || NO_RADOSGW,
}, () => {
  const world = useCustomerWorld();
  let store: Radosgw;
  before(async () => {
    store = await Radosgw.start();
  });
  after(() => store?.close());

  const SCENARIOS: readonly KillScenario<ScenarioContext>[] = [
    {
      name: 'a snapshot that is copied to the store, and deleted',
      run: async (context) => {
        await store.empty();
        await copied(context);
        await remove(context);
      },
      finish: async (context) => {
        await callSandbox(context.url, 'settle');
        // A snapshot that was created is copied after any kill.
        if ((await snapshots(context)).length > 0) await eventually(() => hasCopies(1));
        await remove(context);
        await copied(context);
        await remove(context);
      },
    },
    {
      name: 'a snapshot that is fetched from the store',
      run: async (context) => {
        await store.empty();
        await copied(context);
        await lose(context);
        await restore(context);
      },
      finish: async (context) => {
        await settled(context);
        await copied(context);
        await lose(context);
        await restore(context);
        const [snapshot] = await snapshots(context);
        assert.equal(snapshot?.status, 'ready');
        await remove(context);
      },
    },
  ];

  for (const scenario of scenariosOfRun(SCENARIOS)) {
    it(`completes ${scenario.name} once`, async (t) => {
      const settings = (name: string) => ({
        ...{ ...world.settings(name), ...store.env, SKERRY_S3_SNAPSHOTS: 'true' },
      });
      const createContext: typeof world.createContext = (serving, name) => ({
        ...world.createContext(serving, name),
        settings: settings(name),
      });
      await testKillPlaces(t, { folder: world.folder, settings, createContext }, scenario);
    });
  }

  async function hasCopies(count: number): Promise<boolean> {
    const names = await store.list();
    return names.length === count && names.every((name) => !name.startsWith('unfinished'));
  }

  async function snapshots({ api }: ScenarioContext): Promise<{ id: string; status: string }[]> {
    return (await api.get('/snapshots')).body.data;
  }

  /** The only snapshot of the only server. */
  async function copied(context: ScenarioContext): Promise<void> {
    const { api, path } = await runningServer(context);
    if ((await snapshots(context)).length === 0) await api.post(`${path}/snapshots`, {}, { key: 'snapshot' });
    if ((await snapshots(context)).length === 0) await api.post(`${path}/snapshots`, {});
    await callSandbox(context.url, 'settle');
    await eventually(() => hasCopies(1));
  }

  async function remove(context: ScenarioContext): Promise<void> {
    for (const { id } of await snapshots(context))
      assert.equal((await context.api.delete(`/snapshots/${id}`)).status, 204);
    await callSandbox(context.url, 'settle');
    await eventually(() => hasCopies(0));
  }

  /** Gives up the host of the server, unless one was given up. */
  async function lose(context: ScenarioContext): Promise<void> {
    const { settings } = context;
    const { path } = await runningServer(context);
    const { stdout } = await runSkerryd(['hosts', 'list'], settings);
    const shown = await runSkerryd(['servers', 'show', path.slice('/servers/'.length)], settings);
    const name = /^(\S+) +par +lost/m.exec(stdout)?.[1] ?? /^host +(\S+)$/m.exec(shown.stdout)?.[1] ?? '';
    const { code, stderr } = await runSkerryd(['hosts', 'lost', name, '--rebuild', '--yes'], settings);
    assert.equal(code, 0, stderr);
    await settled(context);
  }

  /** The server runs, and nothing of it is left to do. */
  async function settled({ api, url }: ScenarioContext): Promise<void> {
    await eventually(async () => {
      await callSandbox(url, 'clock', { advance_s: 1 });
      const servers: { status: string; action: unknown }[] = (await api.get('/servers')).body.data;
      return servers.every(({ status, action }) => status === 'running' && (action ?? null) === null);
    });
  }

  async function restore(context: ScenarioContext): Promise<void> {
    const { api, path } = await runningServer(context);
    const [snapshot] = await snapshots(context);
    const { status, text } = await api.post(`${path}/restore`, { snapshot: snapshot?.id });
    assert.equal(status, 202, text);
    await settled(context);
  }
});

async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + WAIT_MS;
  while (!(await isTrue())) {
    assert.ok(performance.now() < until, 'it did not happen');
    await pause(100);
  }
}
