/** The multipart reader on its own, with bodies that arrive in pieces or are malformed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import type { CustomerActor } from '../../../src/domain/context.ts';
import type { ReceivedUpload } from '../../../src/domain/images/upload.ts';
import { receiveUpload } from '../../../src/http/v1/multipart.ts';
import { InvalidRequest } from '../../../src/kernel/fail.ts';
import { isoFile } from '../../support/iso.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';
import { MULTIPART, multipart } from './upload-world.ts';

let world: TestService;
let actor: CustomerActor;
before(async () => {
  world = await startTestService();
  actor = await world.fixtures.addCustomer(0n);
});
after(() => world.close());

/** A request whose body arrives in these pieces. The connection ends after them if they are all of it. */
function requestOf(
  pieces: readonly Buffer[],
  { cut = false, ends = true } = {},
): { request: FastifyRequest } {
  const raw = Object.assign(new PassThrough(), { complete: false });
  raw.on('error', () => undefined);
  (async () => {
    for (const piece of pieces) {
      if (raw.destroyed) return;
      if (!raw.write(piece)) await new Promise((done) => raw.once('drain', done).once('close', done));
    }
    if (cut) return void raw.destroy();
    if (!ends) return;
    raw.complete = true;
    raw.end();
  })();
  const request = { headers: { ...MULTIPART }, raw: raw as unknown as IncomingMessage };
  return { request: request as unknown as FastifyRequest };
}

function cutAt(body: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % body.length))].sort((a, b) => a - b);
  return [0, ...at].map((from, n) => body.subarray(from, at[n] ?? body.length));
}

/** Removing a delimiter can form a new one. */
function withoutDelimiter(text: string): string {
  const less = text.replaceAll(/(^|\r\n)------a1b2c3/g, '');
  return less === text ? text : withoutDelimiter(less);
}

async function leftovers(): Promise<number> {
  return (await world.db.rows('select id from image_uploads')).length;
}

const SEED = { numRuns: PROPERTY_RUNS, verbose: true };
const pieces = fc.array(fc.nat(), { maxLength: 30 });

describe('a multipart body', () => {
  it('a multipart body is read identically however it is split, and for any file content', async () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 5_000 }).map((bytes) => Buffer.from(bytes)),
      // Looks like the end of the file, but is not.
      fc
        .array(fc.constantFrom('\r\n', '--', '----a1b2c3', '----a1b2c', '\r\n--', 'x', '\r'), {
          maxLength: 60,
        })
        .map((words) => Buffer.from(withoutDelimiter(words.join('')))),
      fc.nat({ max: 300_000 }).map((size) => isoFile(40_000 + size, 13)),
    );
    await fc.assert(
      fc.asyncProperty(content, pieces, fc.string({ maxLength: 60 }), async (file, places, text) => {
        const version = text.replaceAll('\r', '').replaceAll('\n', '');
        const body = multipart([
          { name: 'version', content: version },
          { name: 'file', filename: 'x', content: file },
          { name: 'variant', content: 'v' },
        ]);
        const upload = await receiveUpload(requestOf(cutAt(body, places)).request, world.service, actor);
        try {
          assert.deepEqual(upload.fields, [
            { name: 'version', value: Buffer.from(version).toString() },
            { name: 'variant', value: 'v' },
          ]);
          assert.deepEqual(
            [upload.file?.sha256, upload.file?.sizeBytes, upload.files],
            [createHash('sha256').update(file).digest('hex'), file.length, 1],
          );
        } finally {
          await upload.discard();
        }
      }),
      SEED,
    );
    assert.equal(await leftovers(), 0);
  });

  it('a damaged or truncated multipart body is received or rejected, and leaves nothing behind', async () => {
    const whole = multipart([
      { name: 'name', content: 'a' },
      { name: 'file', filename: 'x', content: isoFile(70_000, 1) },
      { name: 'arch', content: 'amd64' },
    ]);
    const edges = [...Array(200).keys(), ...Array.from({ length: 300 }, (_, n) => whole.length - 300 + n)];
    const damage = fc.record({
      at: fc.constantFrom(...edges),
      insert: fc.constantFrom('', '\r', '\n', '\r\n', '\r\n\r\n', '--', '------a1b2c3', '"', '\0', ':', ';'),
      drop: fc.nat({ max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(damage, { maxLength: 4 }),
        pieces,
        fc.boolean(),
        async (damages, places, cut) => {
          let body = whole;
          for (const { at, insert, drop } of damages) {
            body = Buffer.concat([body.subarray(0, at), Buffer.from(insert), body.subarray(at + drop)]);
          }
          let upload: ReceivedUpload | undefined;
          try {
            upload = await receiveUpload(
              requestOf(cutAt(body, places), { cut }).request,
              world.service,
              actor,
            );
            assert.ok(upload.file === null || upload.file.sizeBytes <= body.length);
          } catch (error) {
            assert.ok(error instanceof InvalidRequest, String(error));
          } finally {
            await upload?.discard();
          }
          assert.equal(await leftovers(), 0);
        },
      ),
      { ...SEED, numRuns: PROPERTY_RUNS * 5 },
    );
  });

  it('a multipart body with a nameless part is rejected soon, for a part of any size', async () => {
    const whole = multipart([{ name: 'file', filename: 'x', content: isoFile(70_000, 1) }]);
    const nameless = Buffer.from(
      whole.toString('latin1').replace('Content-Disposition', 'Disposition'),
      'latin1',
    );
    await assert.rejects(
      receiveUpload(requestOf([nameless]).request, world.service, actor),
      /A part has no readable name/,
    );
    assert.equal(await leftovers(), 0);
  });

  it('a multipart body that stalls for too long is rejected', async () => {
    const begun = multipart([{ name: 'file', content: isoFile() }], '');
    const { request } = requestOf([begun], { ends: false });
    await assert.rejects(receiveUpload(request, world.service, actor, { idleMs: 50 }), InvalidRequest);
    assert.equal(await leftovers(), 0);
  });
});
