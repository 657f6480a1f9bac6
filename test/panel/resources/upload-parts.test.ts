import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../../src/spec/limits.ts';
import { PART_UPLOADS_PATH } from '../../../src/spec/paths.ts';
import { waitUntil } from '../../http/v1/upload-world.ts';
import { isoFile } from '../../support/iso.ts';
import { PanelClient } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const FILE = Buffer.from(isoFile(100_000));
const PART_TYPE = 'application/offset+octet-stream';

describe('the endpoints of uploads in parts', () => {
  let world: World;
  let session: SessionClient;
  let other: SessionClient;
  before(async () => {
    world = await startWorld();
    session = await world.customer();
    other = await world.customer();
    await session.fetchCsrf();
    await other.fetchCsrf();
  });
  after(() => world?.close());

  interface Answer {
    readonly status: number;
    // biome-ignore lint/suspicious/noExplicitAny: a test reads any response.
    readonly body: any;
  }
  async function call(
    method: string,
    path: string,
    options: {
      readonly body?: URLSearchParams | Uint8Array<ArrayBuffer>;
      readonly headers?: Record<string, string>;
      readonly as?: SessionClient;
    } = {},
  ): Promise<Answer> {
    const { body, headers = {}, as = session } = options;
    const response = await fetch(`${world.url}${PART_UPLOADS_PATH}${path}`, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: { cookie: `PHPSESSID=${as.cookie}`, 'x-csrf-token': as.csrf ?? '', ...headers },
    });
    return { status: response.status, body: await response.json() };
  }
  const begin = (key: string, size = FILE.length, headers = {}) =>
    call('POST', '', { body: new URLSearchParams({ key, size: String(size) }), headers });
  const append = (id: string, offset: number, bytes: Buffer, more: Parameters<typeof call>[2] = {}) =>
    call('PATCH', `/${id}`, {
      ...{ as: more.as ?? session, body: new Uint8Array(bytes) },
      headers: { 'content-type': PART_TYPE, 'upload-offset': String(offset), ...more.headers },
    });
  const discard = async (id: string) => {
    const panel = PanelClient.forUrl(world.url, session);
    assert.equal((await panel.submit(await panel.open('/images'), 'discard', {}, { key: id })).status, 303);
  };

  it('a file arrives in parts, its form creates the image, and a repeated form finds it', async () => {
    const { body: upload } = await begin('a');
    assert.deepEqual(upload, {
      id: upload.id,
      received: 0,
      size: 100_000,
      part_max: LIMITS.imageUploadPartBytes,
    });
    assert.deepEqual((await append(upload.id, 0, FILE.subarray(0, 60_000))).body, { received: 60_000 });
    assert.equal((await call('GET', `/${upload.id}`)).body.received, 60_000);
    assert.equal((await begin('a')).body.received, 60_000);
    assert.deepEqual((await append(upload.id, 60_000, FILE.subarray(60_000))).body, { received: 100_000 });
    const panel = PanelClient.forUrl(world.url, session);
    const page = await panel.open('/images');
    const fields = [...page.text.matchAll(/name="(_token|_form|_once)" value="([^"]*)"/g)];
    const value = (name: string) => fields.find(([, each]) => each === name)?.[2] ?? '';
    const entries: [string, string][] = [
      ['_token', value('_token')],
      ['_form', 'upload'],
      ['_once', value('_once')],
      ['name', 'in parts'],
      ['arch.amd64', 'on'],
      ['upload', upload.id],
    ];
    const created = [await panel.post('/images', entries, true), await panel.post('/images', entries, true)];
    assert.deepEqual(
      created.map(({ status, location }) => [status, location]),
      created.map(() => [303, `/images/${upload.id}?done=image_uploaded`]),
    );
    const late = entries.map(([name, text]): [string, string] => [
      name,
      name === '_once' ? `${text}x` : text,
    ]);
    const ended = await panel.post('/images', late, true);
    assert.equal(ended.status, 422);
    assert.match(ended.text, /The upload has ended\. Choose the file again\./);
  });

  it('a part whose connection is cut counts as far as it arrived', async () => {
    const { body: upload } = await begin('cut');
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      `PATCH ${PART_UPLOADS_PATH}/${upload.id} HTTP/1.1\r\nHost: localhost\r\n` +
        `Cookie: PHPSESSID=${session.cookie}\r\nX-CSRF-Token: ${session.csrf}\r\n` +
        `Content-Type: ${PART_TYPE}\r\nUpload-Offset: 0\r\n` +
        `Content-Length: ${FILE.length}\r\n\r\n`,
    );
    const { db } = world.opened;
    await waitUntil(
      async () => (await db.row('select 1 from image_uploads where writer is not null')) !== undefined,
    );
    assert.equal((await append(upload.id, 0, FILE)).status, 409);
    await new Promise<void>((done) => socket.write(FILE.subarray(0, 70_000), () => done()));
    socket.end();
    await waitUntil(
      async () => (await db.row('select 1 from image_uploads where writer is not null')) === undefined,
    );
    const { received } = (await call('GET', `/${upload.id}`)).body;
    assert.ok(received <= 70_000, String(received));
    assert.deepEqual((await append(upload.id, received, FILE.subarray(received))).body, {
      received: 100_000,
    });
    await discard(upload.id);
    assert.equal((await call('GET', `/${upload.id}`)).status, 404);
  });

  it('a wrong offset, a malformed part, and a long part are refused', async () => {
    const { body: upload } = await begin('wrong');
    assert.equal((await append(upload.id, 1, FILE.subarray(1))).status, 409);
    assert.equal((await append(upload.id, 0, Buffer.concat([FILE, FILE]))).status, 400);
    assert.equal((await append(upload.id, 0, FILE, { headers: { 'upload-offset': '-1' } })).status, 400);
    assert.equal(
      (await append(upload.id, 0, FILE, { headers: { 'content-type': 'text/plain' } })).status,
      400,
    );
    assert.equal((await begin('not a key!')).status, 400);
    assert.equal((await begin('large', LIMITS.imageUploadMaxBytes + 1)).body.ok, false);
    assert.equal((await call('GET', `/${upload.id}`)).body.received, 0);
    await discard(upload.id);
  });

  it('another customer, a visitor, and a forged request get nowhere', async () => {
    const { body: upload } = await begin('mine');
    assert.equal((await call('GET', `/${upload.id}`, { as: other })).status, 404);
    assert.equal((await append(upload.id, 0, FILE, { as: other })).status, 404);
    const forged = { headers: { 'x-csrf-token': 'forged' } };
    assert.equal((await append(upload.id, 0, FILE, forged)).status, 403);
    assert.equal((await begin('x', 1, forged.headers)).status, 403);
    const visitor = { headers: { cookie: 'PHPSESSID=none', 'x-csrf-token': '' } };
    assert.equal((await append(upload.id, 0, FILE, visitor)).status, 401);
    assert.equal((await call('GET', `/${upload.id}`, visitor)).status, 401);
    assert.equal((await call('GET', `/${upload.id}`)).body.received, 0);
    await discard(upload.id);
  });
});
