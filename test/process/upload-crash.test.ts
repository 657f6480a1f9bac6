/**
 * A process that is killed with SIGKILL while a customer uploads or deletes an image: after the restart files
 * and images match exactly.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isoFile } from '../support/iso.ts';
import { NO_RADOSGW, Radosgw } from '../support/radosgw.ts';
import { FULL_ONLY, rotate } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { callSandbox } from './crash-world.ts';
import { type KillScenario, testKillPlaces } from './kill-places.ts';

let folder = '';
let token = '';
let session: SessionClient;
const PARTED = Buffer.from(isoFile(200_000));
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skerry-crash-'));
  // When root runs the tests, the database runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  if (FULL_ONLY.skip) return;
  const serving = await startSkerryd(environment('base'));
  const customer = SessionClient.forUrl(serving.url);
  await customer.signUp();
  await customer.fetchCsrf();
  session = customer;
  token = await createApiToken(customer, 'write');
  assert.equal((await serving.stop()).code, 0);
});
after(async () => {
  killLeftovers();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
});

const environment = (name: string) => ({ SKERRY_DATA_DIR: join(folder, name), SKERRY_LOG_LEVEL: 'warn' });

async function upload(url: string): Promise<Response> {
  const body = new FormData();
  body.set('file', new Blob([new Uint8Array(isoFile())]), 'a.iso');
  const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'crash-test' };
  return await fetch(`${url}/v1/images`, { method: 'POST', headers, body });
}

/** Returns the ids of the customer's images, as the API lists them. */
async function listImages(url: string): Promise<string[]> {
  const { data } = (await V1Client.forUrl(url, token).get('/images?type=custom')).body;
  return data.map(({ id }: { id: string }) => id);
}

interface UploadContext {
  readonly url: string;
  files(): Promise<string[]>;
}

const UPLOAD: KillScenario<UploadContext> = {
  name: 'an image upload',
  run: async ({ url }) => {
    await upload(url);
    await callSandbox(url, 'settle');
  },
  finish: async ({ url, files }) => {
    await callSandbox(url, 'settle');
    const committed = await listImages(url);
    assert.equal((await files()).length, committed.length);
    const again = await upload(url);
    assert.equal(again.status, 201);
    assert.equal(again.headers.get('idempotent-replayed') === 'true', committed.length === 1);
    await callSandbox(url, 'settle');
    assert.equal((await files()).length, 1);
    assert.equal((await listImages(url)).length, 1);
  },
};

/** Sends a file in two parts, from where the service says, and submits the form. */
async function uploadInParts(url: string): Promise<number> {
  const headers = { cookie: `PHPSESSID=${session.cookie}`, 'x-csrf-token': session.csrf ?? '' };
  const size = String(PARTED.length);
  const begun = await fetch(`${url}/images/uploads`, {
    ...{ method: 'POST', headers, body: new URLSearchParams({ key: 'crash', size }) },
  });
  const { id, received } = (await begun.json()) as { readonly id: string; readonly received: number };
  for (let at = received; at < PARTED.length; ) {
    const part = PARTED.subarray(at, at + PARTED.length / 2);
    const type = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(at) };
    const response = await fetch(`${url}/images/uploads/${id}`, {
      ...{ method: 'PATCH', headers: { ...headers, ...type }, body: new Uint8Array(part) },
    });
    assert.equal(response.status, 200, await response.text());
    at += part.length;
  }
  const body = new FormData();
  const once = 'the-submission-key-of-this-test';
  const fields = { _token: session.csrf ?? '', _form: 'upload', _once: once, 'arch.amd64': 'on', upload: id };
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const init = { method: 'POST', headers: { cookie: headers.cookie }, redirect: 'manual' as const, body };
  return (await fetch(`${url}/images`, init)).status;
}

const IN_PARTS: KillScenario<UploadContext> = {
  name: 'an upload in parts',
  run: async ({ url }) => {
    await uploadInParts(url);
    await callSandbox(url, 'settle');
  },
  finish: async ({ url, files }) => {
    await callSandbox(url, 'settle');
    // The script continues the unfinished upload; a finished one shows its image.
    if ((await listImages(url)).length === 0) assert.equal(await uploadInParts(url), 303);
    await callSandbox(url, 'settle');
    const [name = ''] = await files();
    assert.deepEqual([(await files()).length, (await listImages(url)).length], [1, 1]);
    assert.doesNotMatch(name, /part-|\/parts\/|unfinished/);
  },
};

const DELETION: KillScenario<UploadContext> = {
  name: 'the deletion of an image',
  run: async ({ url }) => {
    const uploaded = (await (await upload(url)).json()) as { readonly id: string };
    await V1Client.forUrl(url, token).delete(`/images/${uploaded.id}`);
    await callSandbox(url, 'settle');
  },
  finish: async ({ url, files }) => {
    await callSandbox(url, 'settle');
    const left = await listImages(url);
    assert.equal((await files()).length, left.length);
    for (const id of left) await V1Client.forUrl(url, token).delete(`/images/${id}`);
    await callSandbox(url, 'settle');
    assert.deepEqual([await files(), await listImages(url)], [[], []]);
  },
};

const SCENARIOS = [UPLOAD, IN_PARTS, DELETION];

describe('a process killed with SIGKILL while a customer uploads or deletes an image', FULL_ONLY, () => {
  for (const scenario of SCENARIOS) {
    it(`${scenario.name} keeps a file only for a committed image, and accepts a retry`, async (t) => {
      const files = (name: string) => readdir(join(folder, name, 'images')).catch(() => []);
      const createContext = ({ url }: SkerrydProcess, name: string) => ({ url, files: () => files(name) });
      await testKillPlaces(t, { folder, settings: environment, createContext }, scenario);
    });
  }
});

describe('the same with an S3 store', { skip: FULL_ONLY.skip || NO_RADOSGW }, () => {
  let store: Radosgw;
  before(async () => {
    store = await Radosgw.start();
  });
  after(() => store?.close());

  for (const { name, run, finish } of rotate(SCENARIOS, { sample: 1, full: 3, soak: 1 })) {
    it(`${name} keeps an object only for a committed image, and accepts a retry`, async (t) => {
      const settings = (copy: string) => ({ ...environment(copy), ...store.env });
      const createContext = ({ url }: SkerrydProcess) => ({ url, files: () => store.list() });
      const fromEmpty = async (context: UploadContext) => {
        // All copies of the database use the same names.
        await store.empty();
        await run(context);
      };
      await testKillPlaces(t, { folder, settings, createContext }, { name, run: fromEmpty, finish });
    });
  }
});
