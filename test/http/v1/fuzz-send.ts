/** Sends a generated request and checks the guarantees that hold for every response. */
import assert from 'node:assert/strict';
import { type Agent, request as httpRequest } from 'node:http';
import type { InjectOptions } from 'fastify';
import { assertContract } from '../../support/contract.ts';
import { inject, isEventStream } from '../../support/inject.ts';
import { byLevel } from '../../support/runs.ts';
import type { World } from '../../support/world.ts';
import type { Estate } from './fuzz-estate.ts';
import type { FuzzRequest } from './fuzz-requests.ts';
import { MARK } from './fuzz-values.ts';

/** A busy machine gets more time. A soak run has a machine of its own. */
const RESPONSE_MAX_MS = byLevel({ sample: 10_000, full: 10_000, soak: 2_000 });

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
}
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends the request with this estate’s ids, checks the response, and remembers its ids. */
export async function sendAndCheck(
  world: World,
  agent: Agent,
  estate: Estate,
  fuzzRequest: FuzzRequest,
): Promise<number> {
  const sent = fillPlaceholders(estate, fuzzRequest);
  const begun = performance.now();
  const answer = fuzzRequest.network
    ? await overNetwork(world, agent, sent)
    : await injectRequest(world, sent);
  const tookMs = performance.now() - begun;
  const content = `${JSON.stringify(fuzzRequest.headers)} ${sent.body?.toString().slice(0, 500)}`;
  const asked = `${sent.method} ${sent.path} ${content}`;
  const where = `${asked.slice(0, 2_000)} → ${answer.status} ${answer.text.slice(0, 500)}`;
  assert.ok(answer.status < 500, where);
  assert.ok(tookMs <= RESPONSE_MAX_MS, `${Math.round(tookMs)} ms: ${where}`);
  assert.match(answer.headers.get('x-request-id') ?? '', /^req_[a-z2-7]{26}$/, where);
  if (fuzzRequest.method === 'HEAD' || answer.status === 204) assert.equal(answer.text, '', where);
  else assertContract(sent.method, sent.path, answer);
  const type = answer.headers.get('content-type') ?? '';
  if (answer.text !== '') assert.match(type, /^(?:application\/json|text\/event-stream)/, where);
  if (answer.status >= 400) assert.ok(!answer.text.includes(MARK), `repeats the input: ${where}`);
  if (fuzzRequest.method !== 'OPTIONS') assertAuthorized(fuzzRequest, answer, where);
  if (answer.status < 300 && !isEventStream(answer.headers)) rememberIds(estate, fuzzRequest, sent, answer);
  return answer.status;
}

function fillPlaceholders(estate: Estate, fuzzRequest: FuzzRequest): Sent {
  const token = estate.tokens[fuzzRequest.token];
  const basic = fuzzRequest.token === 'basic' ? [['authorization', 'Basic YTpi'] as const] : [];
  const bearer = token === null ? basic : [['authorization', `Bearer ${token}`] as const];
  const body =
    fuzzRequest.body === undefined
      ? undefined
      : Buffer.from(estate.fill(fuzzRequest.body), fuzzRequest.bytes ? 'latin1' : 'utf8');
  return {
    method: fuzzRequest.method,
    path: `/v1${estate.fill(fuzzRequest.path)}`,
    headers: [...bearer, ...fuzzRequest.headers],
    body,
  };
}

/** Rejects success without a token, with too narrow a scope, or for another customer’s resource. */
function assertAuthorized(fuzzRequest: FuzzRequest, { status }: Answer, where: string): void {
  if (['none', 'nonsense', 'basic'].includes(fuzzRequest.token))
    assert.ok([400, 401].includes(status), where);
  const reads = ['GET', 'HEAD'].includes(fuzzRequest.method) || fuzzRequest.path.startsWith('/quotes');
  if (fuzzRequest.token === 'read' && !reads) assert.ok(status >= 400, where);
  const path = fuzzRequest.path.split('?')[0] ?? '';
  if (/@@foreign_(?!image|plan|region)/.test(path) && fuzzRequest.token !== 'foreign')
    assert.ok(status >= 400, where);
}

function rememberIds(estate: Estate, fuzzRequest: FuzzRequest, { path }: Sent, { text }: Answer): void {
  if (fuzzRequest.token === 'foreign') return;
  if (fuzzRequest.method === 'DELETE') estate.forget(path.split('?')[0]?.split('/').at(-1) ?? '');
  else if (text !== '') estate.learn(JSON.parse(text));
}

async function injectRequest(world: World, { method, path, headers, body }: Sent): Promise<Answer> {
  const payload = body === undefined ? {} : { payload: body };
  const options = { method, url: path, headers: Object.fromEntries(headers), ...payload } as InjectOptions;
  return await inject(world.http, options);
}

async function overNetwork(
  world: World,
  agent: Agent,
  { method, path, headers, body }: Sent,
): Promise<Answer> {
  const { port } = new URL(world.url);
  const length = body === undefined ? [] : [['content-length', String(body.length)] as const];
  const all = [['host', 'localhost'] as const, ...length, ...headers];
  return await new Promise((resolve, reject) => {
    const request = httpRequest({ port, method, path, agent, headers: all.flat() });
    request.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      const headers = new Headers(pairsOf(response.rawHeaders));
      const done = () =>
        resolve({
          status: response.statusCode ?? 0,
          headers,
          text: Buffer.concat(chunks).toString('utf8'),
        });
      response
        .on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          if (isEventStream(headers)) request.destroy();
        })
        .on('error', (error) => (isEventStream(headers) ? done() : reject(error)))
        .on('end', done);
    });
    request.end(body);
  });
}

function pairsOf(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n] ?? '', flat[2 * n + 1] ?? '']);
}
