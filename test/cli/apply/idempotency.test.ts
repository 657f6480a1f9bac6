/** `skerry apply` places each order once, despite the responses that the service stores per key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@skerry/sdk';
import {
  type CreateRequest,
  createIdempotently,
} from '../../../packages/cli/src/apply/execute/create-idempotently.ts';

type StoredResponse = { readonly id: string; readonly name: string } | ApiError;

/** A service that stores the first response to a key and marks it as replayed when it returns it again. */
function stubbedService() {
  const stored = new Map<
    string,
    { readonly response: StoredResponse; readonly status: number; readonly request: string }
  >();
  const things = new Map<string, { readonly id: string; readonly name: string }>();
  let calls = 0;
  return {
    things,
    isFull: false,
    create(key: string): Promise<{ id: string; name: string }> {
      calls += 1;
      const before = stored.get(key);
      if (before?.response instanceof ApiError) throw refusal(before.request, true);
      if (before) return Promise.resolve({ ...before.response } as { id: string; name: string });
      const request = `req_${calls}`;
      if (this.isFull) {
        stored.set(key, { response: refusal(request, false), status: 422, request });
        throw refusal(request, false);
      }
      const made = { id: `srv_${calls}`, name: 'web-1' };
      things.set(made.id, made);
      stored.set(key, { response: made, status: 201, request });
      return Promise.resolve(made);
    },
  };
}

function refusal(request: string, replayed: boolean): ApiError {
  const headers = replayed ? { 'idempotent-replayed': 'true' } : {};
  const error = { code: 'unprocessable', message: 'Full.', errors: [], request_id: request };
  return new ApiError(new Response(null, { status: 422, headers }), { error });
}

function createRequest(at: ReturnType<typeof stubbedService>): CreateRequest {
  return {
    keyParts: ['shop', 'server'],
    name: 'web-1',
    seen: [],
    signal: new AbortController().signal,
    create: async ({ idempotencyKey = '' }) => at.create(idempotencyKey),
    get: async (id) => {
      const found = at.things.get(id);
      if (found) return found;
      const error = { code: 'not_found', message: 'Gone.', errors: [], request_id: 'req_0' };
      throw new ApiError(new Response(null, { status: 404 }), { error });
    },
    list: async () => [...at.things.values()],
  };
}

test('two concurrent runs after a stored refusal place one order', async () => {
  const at = stubbedService();
  at.isFull = true;
  for (let tries = 0; tries < 3; tries += 1) {
    await assert.rejects(createIdempotently(createRequest(at)), /Full/);
  }
  at.isFull = false;
  const requests = [createRequest(at), createRequest(at)];
  const made = await Promise.all(requests.map((request) => createIdempotently(request)));
  assert.equal(new Set(made).size, 1);
  assert.equal(at.things.size, 1);
});

test('two concurrent runs recreate a deleted resource once', async () => {
  const at = stubbedService();
  const first = await createIdempotently(createRequest(at));
  at.things.delete(first);
  const requests = [createRequest(at), createRequest(at)];
  const made = await Promise.all(requests.map((request) => createIdempotently(request)));
  assert.equal(new Set(made).size, 1);
  assert.notEqual(made[0], first);
});
