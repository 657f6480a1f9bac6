import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { removeImageBlob } from '../../../src/domain/images/remove.ts';
import { formatId, newId, parseId } from '../../../src/kernel/ids.ts';
import { LIMITS, QUOTAS } from '../../../src/spec/limits.ts';
import { isoFile } from '../../support/iso.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { assertApiError, type V1Client } from '../../support/v1-client.ts';
import { exchangeRaw } from '../socket.ts';
import {
  BOUNDARY,
  MULTIPART,
  multipart,
  type Part,
  startUploadWorld,
  type UploadWorld,
  waitUntil,
} from './upload-world.ts';

const ISO: Part = { name: 'file', filename: 'a.iso', content: isoFile(64 * 1024) };
const named = (name: string, content: string): Part => ({ name, content });

let world: UploadWorld;
let token: string;
let customerId: string;
let api: V1Client;
before(async () => {
  world = await startUploadWorld();
});
after(() => world.close());
afterEach(async () => {
  assert.deepEqual(await world.leftovers(), [], 'files or rows were left behind');
});

async function newCustomer(): Promise<void> {
  ({ token, customerId, api } = await world.token());
}

/** `field issue` of each item. */
async function itemsOf(parts: readonly Part[], status = 400): Promise<string[]> {
  const answer = await world.post(token, multipart(parts));
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer.body.error.errors.map(
    (item: { field: string; issue: string }) => `${item.field} ${item.issue}`,
  );
}

async function images(): Promise<number> {
  const row = await world.db.row<{ count: bigint }>(
    'select count(*) from images where customer_id = $1 and deleted_at is null',
    [customerId],
  );
  return Number(row?.count);
}

describe('uploading an image', () => {
  before(newCustomer);

  it('an uploaded image is stored unchanged and private to its customer', async () => {
    const content = isoFile(3 * 1024 ** 2, 7);
    const { status, body } = await world.post(
      token,
      multipart([
        named('name', 'Rettungssystem'),
        { name: 'file', filename: '../../../etc/passwd', content },
        named('version', '2026.1'),
        named('variant', 'minimal'),
        named('arch', 'arm64, amd64'),
      ]),
    );
    assert.equal(status, 201, JSON.stringify(body));
    const { action, ...shown } = body;
    const { id } = shown;
    assert.match(id, /^custom_[a-z2-7]{26}$/);
    assert.equal(`${action.command} ${action.status}`, 'image.create success');
    const today = world.clock.now().toISOString().slice(0, 10);
    assert.deepEqual(shown, {
      ...{ id, object: 'image', type: 'custom', name: 'Rettungssystem', family: 'custom', version: '2026.1' },
      ...{ variant: 'minimal', arch: ['amd64', 'arm64'], size_gb: 0.01, cloud_init: false },
      ...{ released_at: today, deprecated_at: null },
    });
    const path = world.service.blobs.path(parseId('customImage', id) ?? '') ?? '';
    assert.deepEqual(await readFile(path), content);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal((await stat(dirname(path))).mode & 0o777, 0o700);
    const row = await world.db.row<{ sha256: string; size_bytes: bigint }>(
      'select sha256, size_bytes from images where id = $1',
      [parseId('customImage', id)],
    );
    const sha256 = createHash('sha256').update(content).digest('hex');
    assert.deepEqual(row, { sha256, size_bytes: BigInt(content.length) });
    const audit = await world.db.row('select action, result from audit_events where resource = $1', [id]);
    assert.deepEqual(audit, { action: 'image.create', result: 'ok' });
  });

  it('an upload needs only its file, and accepts arch in several parts', async () => {
    const plain = await world.post(token, multipart([ISO]));
    assert.deepEqual(
      [plain.status, plain.body.arch, plain.body.name, plain.body.variant],
      [201, ['amd64'], null, null],
    );
    const both = await world.post(token, multipart([named('arch', 'arm64'), named('arch', 'amd64'), ISO]));
    assert.deepEqual([both.status, both.body.arch], [201, ['amd64', 'arm64']]);
  });

  it('an upload is replayed by its key, and another file under that key is rejected', async () => {
    const before = await images();
    const headers = { ...MULTIPART, 'idempotency-key': 'once' };
    const first = await world.post(token, multipart([ISO]), headers);
    const again = await world.post(token, multipart([ISO]), headers);
    assert.deepEqual([first.status, again.status, again.body], [201, 201, first.body]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    const other = await world.post(token, multipart([{ ...ISO, content: isoFile(99_999) }]), headers);
    assert.equal(other.status, 409);
    assert.equal(await images(), before + 1);
  });
});

describe('rejected uploads', () => {
  before(newCustomer);

  it('an upload with a missing, repeated, oversized, or invalid part is rejected with the part', async () => {
    assert.deepEqual(await itemsOf([]), ['file required']);
    const long = 'x'.repeat(LIMITS.nameMaxChars + 1);
    assert.deepEqual(
      await itemsOf([
        ISO,
        ...[named('name', long), named('version', 'a'), named('version', 'b'), named('variant', ' ')],
        named('arch', 'amd64,riscv'),
      ]),
      ['name max_length', 'version max_items', 'variant min_length', 'arch invalid_value'],
    );
    assert.deepEqual(await itemsOf([ISO, ISO]), ['file max_items']);
    assert.deepEqual(await itemsOf([ISO, named('name', 'a\u0000b')]), ['name invalid_format']);
    assert.deepEqual(await itemsOf([ISO, named('name', 'y'.repeat(100_000))]), ['name max_length']);
    assert.equal(await images(), 0);
  });

  it('an upload that is not ISO 9660 gets 422', async () => {
    const shifted = Buffer.concat([Buffer.alloc(1), isoFile()]);
    for (const content of ['', 'hello', isoFile().subarray(0, -1), shifted, Buffer.alloc(100_000)]) {
      assert.deepEqual(await itemsOf([{ ...ISO, content }], 422), ['file invalid_value']);
    }
  });

  it('an upload with an unreadable body gets 400', async () => {
    const bodies: [Buffer, Record<string, string>][] = [
      [multipart([ISO]), { 'content-type': 'multipart/form-data' }],
      [multipart([ISO]), { 'content-type': 'application/octet-stream' }],
      [Buffer.from('{}'), { 'content-type': 'application/json' }],
      [multipart([ISO], ''), MULTIPART],
      [multipart([ISO]).subarray(0, 40_000), MULTIPART],
      [multipart([ISO]), { 'content-type': 'multipart/form-data; boundary=other' }],
      [Buffer.from('not multipart'), MULTIPART],
      [Buffer.alloc(0), MULTIPART],
      [multipart([named('name', 'x').name === 'name' ? { name: null, content: 'x' } : ISO, ISO]), MULTIPART],
      [multipart([...Array.from({ length: 20 }, () => named('arch', 'amd64')), ISO]), MULTIPART],
    ];
    for (const [body, headers] of bodies) {
      const answer = await world.post(token, body, headers);
      assert.equal(
        answer.status,
        400,
        `${headers['content-type']} ${body.length} ${JSON.stringify(answer.body)}`,
      );
      assert.equal(answer.body.error.code, 'invalid_request');
    }
  });

  it('an upload is rejected at the first unknown part, before that part is received', FULL_ONLY, async () => {
    for (const name of ['iso', 'File', 'family', '__proto__', '']) {
      assert.deepEqual(await itemsOf([named('name', ' '), ISO, named(name, 'x')]), [`${name} unknown_key`]);
    }
    const [iso, nameless] = await Promise.all(
      ['iso', null].map((name) =>
        world.beginAndReadRejection(token, multipart([{ ...ISO, name }], ''), 1024 ** 3),
      ),
    );
    assert.match(iso ?? '', /^HTTP\/1\.1 400 .*"errors":\[\{"field":"iso","issue":"unknown_key"\}\]/s);
    assert.match(nameless ?? '', /^HTTP\/1\.1 400 .*A part has no name/s);
  });

  it('an upload with an invalid Idempotency-Key is rejected before it is received', FULL_ONLY, async () => {
    const heads = ['two words', 'k'.repeat(256)].map((key) => [`Idempotency-Key: ${key}`]);
    const received = await Promise.all(
      heads.map((head) => world.beginAndReadRejection(token, Buffer.alloc(0), 1024 ** 3, head)),
    );
    for (const each of received) assert.match(each, /^HTTP\/1\.1 400 .*"field":"Idempotency-Key"/s);
  });

  it('an upload announced as larger than 4 GiB is rejected before it is received', FULL_ONLY, async () => {
    const length = LIMITS.imageUploadMaxBytes + 1024 ** 2;
    const received = await world.beginAndReadRejection(token, multipart([ISO], ''), length);
    assert.match(received, /^HTTP\/1\.1 400 /);
    assert.match(received, new RegExp(`"field":"file","issue":"max","max":${LIMITS.imageUploadMaxBytes}`));
  });

  it('an upload whose client disconnects is rejected and its file is deleted', async () => {
    const socket = await world.startUpload(token, multipart([ISO], ''), 10 * 1024 ** 2);
    await waitUntil(async () => (await world.leftovers()).length > 1);
    socket.destroy();
    await waitUntil(async () => (await world.leftovers()).length === 0);
    assert.equal(await images(), 0);
  });

  it('an upload next to two concurrent ones is rejected, and accepted after one of them', async () => {
    const sockets = [
      await world.startUpload(token, multipart([ISO], ''), 10 * 1024 ** 2),
      await world.startUpload(token, multipart([ISO], ''), 10 * 1024 ** 2),
    ];
    await waitUntil(async () => (await world.leftovers()).length === 4);
    const third = await world.post(token, multipart([ISO]));
    assert.deepEqual([third.status, third.body.error?.code], [409, 'conflict_state']);
    for (const socket of sockets) socket.destroy();
    await waitUntil(async () => (await world.leftovers()).length === 0);
    assert.equal((await world.post(token, multipart([ISO]))).status, 201);
  });

  it('an upload at the quota is rejected with the limit, unless it is a replay', async () => {
    await newCustomer();
    const headers = { ...MULTIPART, 'idempotency-key': 'the-last' };
    const first = await world.post(token, multipart([ISO]), headers);
    assert.equal(first.status, 201);
    await world.db.run(
      `insert into images (id, type, customer_id, family, version, arch, size_gb, cloud_init, released_at)
       select gen_random_uuid(), 'custom', $1, 'custom', '1', '{amd64}', 1, false, now()
         from generate_series(2, $2::int)`,
      [customerId, QUOTAS.customImages],
    );
    const full = await world.post(token, multipart([ISO]));
    assert.equal(full.status, 422);
    assert.deepEqual(full.body.error.errors, [
      { field: 'file', issue: 'limit_reached', limit: QUOTAS.customImages, used: QUOTAS.customImages },
    ]);
    const again = await world.post(token, multipart([ISO]), headers);
    assert.deepEqual([again.status, again.body], [201, first.body]);
  });

  it('an upload with endless part headers is rejected', async () => {
    const disposition = `Content-Disposition: form-data; name="${'n'.repeat(50_000)}"`;
    const body = `--${BOUNDARY}\r\n${disposition}\r\n\r\nx\r\n--${BOUNDARY}--\r\n`;
    const head = [
      'POST /v1/images HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${token}`,
      `Content-Type: ${MULTIPART['content-type']}`,
      `Content-Length: ${body.length}`,
    ].join('\r\n');
    const received = await exchangeRaw(world.port, `${head}\r\n\r\n${body}`);
    assert.match(received, /^HTTP\/1\.1 4\d\d /);
  });
});

describe('deleting an image', () => {
  before(newCustomer);

  it('deleting an image hides it and removes its file', async () => {
    const { body } = await world.post(token, multipart([ISO]));
    const id = parseId('customImage', body.id) ?? '';
    const path = world.service.blobs.path(id) ?? '';
    const gone = await api.delete(`/images/${body.id}`);
    assert.equal(gone.status, 204, gone.text);
    assertApiError(await api.delete(`/images/${body.id}`), 404, 'not_found');
    const [task] = await world.db.rows<{ subject: string }>(
      `select subject from tasks where kind = 'image_remove' and subject = $1`,
      [id],
    );
    assert.ok(task);
    assert.equal(await removeImageBlob(world.service, id), 'done');
    await assert.rejects(stat(path), { code: 'ENOENT' });
    assert.equal(await images(), 0);
  });

  it('deleting an official, foreign, or unknown image is rejected', async () => {
    const official = newId(new Date());
    await world.db.run(
      `insert into images (id, type, family, version, arch, size_gb, cloud_init, released_at)
       values ($1, 'official', 'debian', '13', '{amd64}', 1, true, now())`,
      [official],
    );
    const shown = formatId('image', official);
    assertApiError(await api.delete(`/images/${shown}`), 409, 'conflict_state');
    const other = await world.token();
    const { body } = await world.post(other.token, multipart([ISO]));
    const foreign = await api.delete(`/images/${body.id}`);
    const missing = await api.delete(`/images/${formatId('customImage', newId(new Date()))}`);
    assertApiError(foreign, 404, 'not_found');
    assert.deepEqual(withoutId(foreign.body), withoutId(missing.body));
    for (const id of ['x', 'custom_', formatId('image', newId(new Date()))]) {
      assertApiError(await api.delete(`/images/${id}`), 404, 'not_found');
    }
  });
});

function withoutId(body: { error: object }): object {
  return { ...body.error, request_id: null };
}
