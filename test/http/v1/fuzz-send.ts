/** Sends a generated request, into the application or over a connection, and holds the answer against what is promised of all. */
import assert from 'node:assert/strict';
import { type Agent, request as httpRequest } from 'node:http';
import type { InjectOptions } from 'fastify';
import { assertContract } from '../../support/contract.ts';
import { inject, isStream } from '../../support/inject.ts';
import type { World } from '../../support/world.ts';
import type { Estate } from './fuzz-estate.ts';
import type { Wish } from './fuzz-requests.ts';
import { MARK } from './fuzz-words.ts';

const LONGEST_MS = 10_000;

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

/** Sends it with this estate's ids; fails the test where the answer breaks a promise, and learns from it. */
export async function trial(world: World, agent: Agent, estate: Estate, wish: Wish): Promise<number> {
  const sent = filled(estate, wish);
  const begun = performance.now();
  const answer = wish.network ? await overNetwork(world, agent, sent) : await into(world, sent);
  const tookMs = performance.now() - begun;
  const asked = `${sent.method} ${sent.path} ${JSON.stringify(wish.headers)} ${sent.body?.toString().slice(0, 500)}`;
  const where = `${asked.slice(0, 2_000)} → ${answer.status} ${answer.text.slice(0, 500)}`;
  assert.ok(answer.status < 500, where);
  assert.ok(tookMs <= LONGEST_MS, `${Math.round(tookMs)} ms: ${where}`);
  assert.match(answer.headers.get('x-request-id') ?? '', /^req_[a-z2-7]{26}$/, where);
  if (wish.method === 'HEAD' || answer.status === 204) assert.equal(answer.text, '', where);
  else assertContract(sent.method, sent.path, answer);
  const type = answer.headers.get('content-type') ?? '';
  if (answer.text !== '') assert.match(type, /^(?:application\/json|text\/event-stream)/, where);
  if (answer.status >= 400) assert.ok(!answer.text.includes(MARK), `says back what was sent: ${where}`);
  if (wish.method !== 'OPTIONS') assertLetIn(wish, answer, where);
  if (answer.status < 300 && !isStream(answer.headers)) remember(estate, wish, sent, answer);
  return answer.status;
}

function filled(estate: Estate, wish: Wish): Sent {
  const token = estate.tokens[wish.token];
  const basic = wish.token === 'basic' ? [['authorization', 'Basic YTpi'] as const] : [];
  const bearer = token === null ? basic : [['authorization', `Bearer ${token}`] as const];
  const body =
    wish.body === undefined ? undefined : Buffer.from(estate.fill(wish.body), wish.bytes ? 'latin1' : 'utf8');
  return {
    method: wish.method,
    path: `/v1${estate.fill(wish.path)}`,
    headers: [...bearer, ...wish.headers],
    body,
  };
}

/** Nobody without a token, and nobody whose scope is too narrow, and nobody at what is another's. */
function assertLetIn(wish: Wish, { status }: Answer, where: string): void {
  if (['none', 'nonsense', 'basic'].includes(wish.token)) assert.ok([400, 401].includes(status), where);
  const reads = wish.method === 'GET' || wish.method === 'HEAD';
  if (wish.token === 'read' && !reads) assert.ok(status >= 400, where);
  const path = wish.path.split('?')[0] ?? '';
  if (/@@foreign_(?!image|plan|region)/.test(path) && wish.token !== 'foreign')
    assert.ok(status >= 400, where);
}

function remember(estate: Estate, wish: Wish, { path }: Sent, { text }: Answer): void {
  if (wish.token === 'foreign') return;
  if (wish.method === 'DELETE') estate.forget(path.split('?')[0]?.split('/').at(-1) ?? '');
  else if (text !== '') estate.learn(JSON.parse(text));
}

async function into(world: World, { method, path, headers, body }: Sent): Promise<Answer> {
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
          if (isStream(headers)) request.destroy();
        })
        .on('error', (error) => (isStream(headers) ? done() : reject(error)))
        .on('end', done);
    });
    request.end(body);
  });
}

function pairsOf(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n] ?? '', flat[2 * n + 1] ?? '']);
}
