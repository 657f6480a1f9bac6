/**
 * A process that is killed with SIGKILL while a customer inserts, boots, and ejects an ISO image. After the
 * restart the server shows what is in its drive.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MULTIPART, multipart } from '../http/v1/upload-world.ts';
import { isoFile } from '../support/iso.ts';
import { FULL_ONLY } from '../support/runs.ts';
import type { V1Client } from '../support/v1-client.ts';
import { runningServer, type ScenarioContext, useCustomerWorld } from './crash-customer.ts';
import { callSandbox } from './crash-world.ts';
import { type KillScenario, scenariosOfRun, testKillPlaces } from './kill-places.ts';

const UPLOAD = multipart([{ name: 'file', filename: 'a.iso', content: isoFile() }]).toString('latin1');

const SCENARIOS: readonly KillScenario<ScenarioContext>[] = [
  {
    name: 'an ISO image that is inserted, booted, and ejected',
    run: insertBootEject,
    finish: async (context) => {
      await callSandbox(context.url, 'settle');
      await assertIdle(context);
      await insertBootEject(context);
      const { iso, boot } = await assertIdle(context);
      assert.deepEqual([iso, boot], [null, 'disk']);
      assert.equal((await context.api.delete(`/images/${await upload(context)}`)).status, 204);
    },
  },
  {
    name: 'an ISO image that cannot be inserted',
    run: async (context) => {
      await runningServer(context);
      await callSandbox(context.url, 'faults', { driver: 'compute', operation: 'setIso', times: 1 });
      await insert(context);
    },
    finish: async (context) => {
      await callSandbox(context.url, 'settle');
      await callSandbox(context.url, 'faults', { driver: 'compute', operation: 'setIso', times: 0 });
      await runningServer(context);
      await assertIdle(context);
      const image = await insert(context);
      assert.equal((await assertIdle(context)).iso, image);
      // The server has the image that it shows.
      assert.equal((await context.api.delete(`/images/${image}`)).status, 409);
    },
  },
];

describe('a process killed with SIGKILL while an ISO image is inserted', FULL_ONLY, () => {
  const world = useCustomerWorld();
  for (const scenario of scenariosOfRun(SCENARIOS)) {
    it(`completes ${scenario.name} once`, (t) => testKillPlaces(t, world, scenario));
  }
});

/** Uploads the image once, and returns its id. */
async function upload({ api }: ScenarioContext): Promise<string> {
  const uploaded = await api.raw('POST', '/images', UPLOAD, { headers: MULTIPART, key: 'iso' });
  assert.equal(uploaded.status, 201, uploaded.text);
  return uploaded.body.id;
}

async function insert(context: ScenarioContext): Promise<string> {
  const { api, path } = await runningServer(context);
  const image = await upload(context);
  await done(context, api.put(`${path}/iso`, { image }));
  return image;
}

async function insertBootEject(context: ScenarioContext): Promise<void> {
  await insert(context);
  const { api, path } = await runningServer(context);
  await done(context, api.patch(path, { boot: 'iso' }));
  assert.equal((await assertIdle(context)).boot, 'iso');
  await done(context, api.delete(`${path}/iso`));
}

async function done({ url }: ScenarioContext, request: ReturnType<V1Client['get']>): Promise<void> {
  const { status, text } = await request;
  assert.ok(status < 300, text);
  await callSandbox(url, 'settle');
}

/** Asserts that the server has no action left, and returns it. */
async function assertIdle(context: ScenarioContext) {
  const { api } = context;
  const [server] = (await api.get('/servers')).body.data;
  assert.deepEqual([server?.status ?? 'running', server?.action ?? null], ['running', null]);
  return server ?? {};
}
