/** A client of the REST API, over the network (`V1Client.forUrl`) or directly on the app (`.forApp`). */
import assert from 'node:assert/strict';
import type { FastifyInstance, InjectOptions } from 'fastify';
import type { Scope } from '../../src/spec/scopes.ts';
import { assertContract } from './contract.ts';
import { inject, isEventStream } from './inject.ts';
import { PASSWORD, type SessionClient } from './session-client.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of the body and fail if it is missing.
export type JsonBody = any;

export interface V1Response {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The response's JSON; null for an empty body and for an event stream. */
  readonly body: JsonBody;
}

interface V1Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}
type SendRequest = (request: V1Request) => Promise<Pick<V1Response, 'status' | 'headers' | 'text'>>;

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The Idempotency-Key. */
  readonly key?: string;
}

export class V1Client {
  /** null: requests have no token. */
  readonly token: string | null;
  readonly #send: SendRequest;

  constructor(send: SendRequest, token: string | null) {
    this.#send = send;
    this.token = token;
  }

  static forUrl(baseUrl: string, token: string | null): V1Client {
    return new V1Client(async ({ method, path, headers, body }) => {
      const init = { method, headers, ...(body === undefined ? {} : { body }) };
      const response = await fetch(new URL(path, baseUrl), init);
      const { status, headers: responseHeaders } = response;
      return {
        status,
        headers: responseHeaders,
        text: isEventStream(responseHeaders) ? await readFirstChunk(response) : await response.text(),
      };
    }, token);
  }

  static forApp(app: FastifyInstance, token: string | null): V1Client {
    return new V1Client(async ({ method, path, headers, body }) => {
      const payload = body === undefined ? {} : { payload: body };
      return await inject(app, { method, url: path, headers, ...payload } as InjectOptions);
    }, token);
  }

  /** Returns the same client with another token, or none. */
  withToken(token: string | null): V1Client {
    return new V1Client(this.#send, token);
  }

  async get(path: string, extra: CallOptions = {}): Promise<V1Response> {
    return await this.call('GET', path, undefined, extra);
  }
  async post(path: string, body?: unknown, extra: CallOptions = {}): Promise<V1Response> {
    return await this.call('POST', path, body, extra);
  }
  async patch(path: string, body: unknown, extra: CallOptions = {}): Promise<V1Response> {
    return await this.call('PATCH', path, body, extra);
  }
  async put(path: string, body: unknown, extra: CallOptions = {}): Promise<V1Response> {
    return await this.call('PUT', path, body, extra);
  }
  async delete(path: string, extra: CallOptions = {}): Promise<V1Response> {
    return await this.call('DELETE', path, undefined, extra);
  }

  /** `path` is relative to /v1. An undefined `body` sends none. */
  async call(method: string, path: string, body?: unknown, extra: CallOptions = {}): Promise<V1Response> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const text = body === undefined ? undefined : JSON.stringify(body);
    return await this.raw(method, path, text, { ...extra, headers: { ...type, ...extra.headers } });
  }

  /** Sends a body that is already encoded. */
  async raw(
    method: string,
    path: string,
    body: string | undefined,
    extra: CallOptions = {},
  ): Promise<V1Response> {
    const headers = {
      ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
      ...(extra.key === undefined ? {} : { 'idempotency-key': extra.key }),
      ...extra.headers,
    };
    const response = await this.#send({ method, path: `/v1${path}`, headers, body });
    assertContract(method, `/v1${path}`, response);
    const isJson = response.text !== '' && !isEventStream(response.headers);
    return { ...response, body: isJson ? JSON.parse(response.text) : null };
  }
}

/** Reads the first chunk of an event stream and closes it. */
async function readFirstChunk(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? []).toString('utf8');
}

/** Creates a token with this scope through the session API; returns its plaintext. */
export async function createApiToken(customer: SessionClient, scope: Scope = 'billing'): Promise<string> {
  const fields = { action: 'create_token', name: `a ${scope} token`, scope, current_password: PASSWORD };
  const { body } = await customer.post('/account-api.php', fields);
  assert.equal(body.ok, true, JSON.stringify(body));
  return String(body.token);
}

/** Fails the test unless the response is this error; returns its `errors` items. */
export function assertApiError(response: V1Response, status: number, code: string): JsonBody[] {
  assert.deepEqual([response.status, response.body?.error?.code], [status, code], response.text);
  return response.body.error.errors;
}
