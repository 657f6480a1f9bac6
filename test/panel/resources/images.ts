import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { it } from 'node:test';
import { imageRemovalDay } from '../../../src/domain/images/read.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { waitUntil } from '../../http/v1/upload-world.ts';
import { isoFile } from '../../support/iso.ts';
import { problemOf, textOf } from '../../support/panel-client.ts';
import { expectSuccess } from '../support/estate.ts';
import { pathOf, type ResourceFixture } from './fixture.ts';

export function imagePages(at: () => ResourceFixture): void {
  it('the image page says how many uploads can be in progress', async () => {
    const text = textOf((await at().panel.open('/images')).text);
    assert.ok(text.includes(`, and upload ${LIMITS.imageUploadsConcurrent} at a time.`), text);
  });

  /** Counts files and uploads that belong to no image. */
  async function leftovers(): Promise<number> {
    const { service, db } = at().world.opened;
    const files = await readdir(
      dirname(service.blobs.path('00000000-0000-0000-0000-000000000000') ?? ''),
    ).catch(() => []);
    const [kept, open] = [
      await db.rows('select 1 from images where blob_key is not null'),
      await db.rows('select 1 from image_uploads'),
    ];
    return files.length - kept.length + open.length;
  }
  const file = (content: Buffer | string) =>
    new Blob([typeof content === 'string' ? content : new Uint8Array(content)]);

  /** Sends a raw request with fields and less of the file than announced. Returns the response. */
  async function begin(
    fields: readonly (readonly [string, string])[],
    options: { readonly leave?: boolean; readonly length?: number } = {},
  ): Promise<string> {
    const { world, panel } = at();
    const part = (name: string, text: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
    const body = Buffer.concat([
      Buffer.from(fields.map(([name, text]) => part(name, text)).join('')),
      Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="x.iso"\r\n\r\n'),
      isoFile(40_000),
    ]);
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      `POST /images HTTP/1.1\r\nHost: localhost\r\nCookie: PHPSESSID=${panel.cookie}\r\n` +
        'Connection: close\r\nContent-Type: multipart/form-data; boundary=b\r\n' +
        `Content-Length: ${options.length ?? 1_000_000}\r\n\r\n`,
    );
    socket.write(body);
    if (options.leave) {
      await waitUntil(async () => (await leftovers()) > 0);
      socket.destroy();
      return '';
    }
    return await new Promise((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (text.includes('</html>')) socket.destroy();
      });
      socket.on('close', () => resolve(text));
    });
  }

  async function lead(): Promise<[string, string][]> {
    const { text } = await at().panel.open('/images');
    const [form = ''] = /<form[^>]*multipart.*?<\/form>/s.exec(text) ?? [];
    return ['_token', '_form', '_once'].map((name) => [
      name,
      new RegExp(`name="${name}" value="([^"]*)"`).exec(form)?.[1] ?? '',
    ]);
  }

  it('official and custom images are listed and filtered', async () => {
    const { panel, api } = at();
    assert.match(
      textOf((await panel.open('/images?family=debian&type=official')).text),
      /Debian 12 Official/,
    );
    assert.match(textOf((await panel.open('/images?type=custom')).text), /Upload your own image below/);
    const old = /<a href="([^"]+)">Debian 11</.exec((await panel.open('/images')).text)?.[1] ?? '';
    const since = expectSuccess(await api.get(`/images/${old.split('/')[2]}`)).deprecated_at as string;
    assert.match(
      textOf((await panel.open(old)).text),
      new RegExp(
        `Deprecated since ${since}.*unavailable for new servers.*removed on ${imageRemovalDay(since)}`,
      ),
    );
    assert.equal((await panel.open('/images/img_nothing')).status, 404);
  });

  it('a double click uploads an image once, and it is shown and deleted', async () => {
    const { panel, other, world, done } = at();
    const page = await panel.open('/images');
    const fields = { name: 'rescue é <i>', version: '', 'arch.arm64': 'on', file: file(isoFile()) };
    const responses = await Promise.all([
      panel.submit(page, 'upload', fields),
      panel.submit(page, 'upload', fields),
    ]);
    responses.push(await panel.submit(page, 'upload', fields));
    assert.deepEqual(
      responses.map(({ status }) => status),
      [303, 303, 303],
    );
    assert.equal(new Set(responses.map(({ location }) => location)).size, 1);
    const image = await panel.open(responses[0]?.location ?? '');
    assert.match(
      textOf(image.text),
      /rescue é <i> Custom amd64, arm64 Type Custom Family custom Version 20\d\d-.* Architecture amd64/,
    );
    assert.equal((await other.open(pathOf(image))).status, 404);
    await done(pathOf(image), 'delete');
    await world.settle();
    assert.equal(await leftovers(), 0);
  });

  it('an invalid upload is rejected on its field, keeps the input, and leaves no files', async () => {
    const { refused } = at();
    const noIso = await refused('/images', 'upload', { name: 'mine', file: file('no image') });
    assert.match(problemOf(noIso.text, 'file', 'upload') ?? '', /not an ISO 9660 image/);
    assert.match(noIso.text, /name="name" type="text" value="mine"/);
    const none = await refused('/images', 'upload', { file: file('') });
    assert.equal(problemOf(none.text, 'file', 'upload'), 'Choose a file.');
    const long = await refused('/images', 'upload', { variant: 'x'.repeat(64), file: file(isoFile()) });
    assert.equal(problemOf(long.text, 'variant', 'upload'), 'Must be at most 63 characters.');
    assert.equal(await leftovers(), 0);
  });

  it('an upload that is too large is rejected before its body is read', async () => {
    const text = await begin(await lead(), { length: LIMITS.imageUploadMaxBytes + 1_000_000 });
    assert.match(text, /^HTTP\/1\.1 422/);
    assert.match(problemOf(text, 'file', 'upload') ?? '', /at most 4 GiB/);
    assert.equal(await leftovers(), 0);
  });

  it('an upload with a forged form is rejected before its file is read', async () => {
    const [token = ['', ''], ...rest] = await lead();
    const foreign = await begin([['_token', 'wrong'], ...rest]);
    assert.match(foreign, /^HTTP\/1\.1 403/);
    for (const fields of [rest, [...rest, token], [['name', 'x'] as const, token, ...rest]])
      assert.match(await begin(fields), /^HTTP\/1\.1 403/);
    const none = await begin([]);
    assert.match(none, /^HTTP\/1\.1 40[13]/);
    const rows = await at().world.opened.db.rows('select 1 from image_uploads');
    assert.deepEqual([await leftovers(), rows.length], [0, 0]);
  });

  it('an interrupted upload leaves no files', async () => {
    await begin(await lead(), { leave: true });
    await waitUntil(async () => (await leftovers()) === 0);
  });
}
