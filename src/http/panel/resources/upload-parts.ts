/**
 * The endpoints with which the panel's script sends an image in parts: begin, append at an offset, and read
 * the offset. The page's form then creates the image. They answer in JSON and take the CSRF token as header.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  appendPart,
  beginPartUpload,
  getUnfinishedUpload,
  type PartUpload,
} from '../../../domain/images/parts.ts';
import { fail } from '../../../kernel/fail.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { PART_UPLOADS_PATH } from '../../../spec/paths.ts';
import { buildVisit, type Call, handleForm, type Operation } from '../../admission/forms.ts';
import { field } from '../../form.ts';
import type { Edge } from '../../settings.ts';
import { identifyRequest } from '../visitor.ts';
import { rethrowTooLarge } from './images.ts';

const PART_TYPE = 'application/offset+octet-stream';
const NO_STORE = { 'cache-control': 'no-store' };
const PART_PATH = `${PART_UPLOADS_PATH}/:id`;

interface PartRequest {
  readonly Params: { readonly id: string };
}

export function registerUploadParts(scope: FastifyInstance, edge: Edge): void {
  // The handler reads the body, once the sender is admitted.
  scope.addContentTypeParser(PART_TYPE, async () => undefined);
  scope.post(PART_UPLOADS_PATH, async (request, reply) => {
    const run = async ({ form, customer }: Call) => {
      const begun = { fileKey: readFileKey(field(form, 'key')), sizeBytes: readCount(field(form, 'size')) };
      return describe(await beginPartUpload(edge.service, customer(), begun).catch(rethrowTooLarge));
    };
    const identity = await identifyRequest(edge, request);
    const answer = await handleForm(edge, endpoint(run), { request, reply, identity });
    return await reply.headers(NO_STORE).send(answer);
  });
  scope.patch<PartRequest>(PART_PATH, { config: { slowBody: true } }, async (request, reply) => {
    const run = async ({ customer }: Call) => {
      const part = readPart(request);
      return { received: await appendPart(edge.service, customer(), part, readChunks(request.raw)) };
    };
    const identity = await identifyRequest(edge, request);
    const answer = await handleForm(edge, endpoint(run), { request, reply, identity });
    return await reply.headers(NO_STORE).send(answer);
  });
  scope.get<PartRequest>(PART_PATH, async (request, reply) => {
    const { actor } = buildVisit(edge, await identifyRequest(edge, request), request);
    const customerId = actor.customerId ?? fail('auth_required');
    const upload = await getUnfinishedUpload(edge.service, { ...actor, customerId }, request.params.id);
    return await reply.headers(NO_STORE).send(describe(upload));
  });
}

function endpoint<Answer extends object>(run: Operation<Answer>['run']) {
  const operations: Operation<Answer> = { audit: 'image.create', rest: 'images.create', run };
  return { path: PART_UPLOADS_PATH, protected: true, operations };
}

function describe({ id, receivedBytes, sizeBytes }: PartUpload): object {
  return { id, received: receivedBytes, size: sizeBytes, part_max: LIMITS.imageUploadPartBytes };
}

function readFileKey(text: string): string {
  return /^[\w-]{1,64}$/.test(text) ? text : fail('bad_request', { field: 'key' });
}

function readCount(text: string | undefined): number {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : fail('bad_request');
}

/** A length that is known in advance lets the HTTP parser bound the body. */
function readPart({ headers, params }: FastifyRequest<PartRequest>) {
  if (headers['content-type'] !== PART_TYPE) fail('bad_request', {}, `Set the Content-Type to ${PART_TYPE}.`);
  const offset = readCount(headers['upload-offset'] as string | undefined);
  return { id: params.id, offset, sizeBytes: readCount(headers['content-length']) };
}

/** Closes the connection if no data arrives for some time. */
async function* readChunks(raw: IncomingMessage): AsyncIterable<Uint8Array> {
  const idle = setTimeout(() => raw.destroy(), LIMITS.imageUploadPartIdleS * SECOND_MS);
  try {
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      idle.refresh();
      yield chunk as Buffer;
    }
  } catch {
    fail('bad_request', {}, 'The connection closed before the part was complete.');
  } finally {
    clearTimeout(idle);
  }
}
