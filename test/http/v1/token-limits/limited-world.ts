/** A customer whose API makes limited tokens. */
import assert from 'node:assert/strict';
import type { V1Client, V1Response } from '../../../support/v1-client.ts';

export interface LimitedToken {
  readonly id: string;
  readonly api: V1Client;
  readonly plaintext: string;
}

/** Creates a token with these limits. */
export async function limited(api: V1Client, limits: object, scope = 'billing'): Promise<LimitedToken> {
  const { status, body, text } = await api.post('/account/tokens', { name: 'limited', scope, limits });
  assert.equal(status, 201, text);
  return { id: body.id, api: api.withToken(body.token), plaintext: body.token };
}

/** The parts of a response that depend neither on its request's id nor on the time. */
export function comparable({ status, headers, text }: V1Response, requestId: string): object {
  const varying = new Set(['date', 'x-request-id']);
  const kept = [...headers].filter(([name]) => !varying.has(name) && !name.startsWith('x-ratelimit-'));
  return { status, headers: kept, text: text.replaceAll(requestId, 'REQUEST') };
}

export function assertSame(one: V1Response, other: V1Response, message: string): void {
  const shown = (answer: V1Response) => comparable(answer, answer.headers.get('x-request-id') ?? '');
  assert.deepEqual(shown(one), shown(other), message);
}
