/** The CLI handles lost responses, unknown error codes, and an unavailable event stream. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { ApiError, ConnectionError, TimeoutError, WaitTimeoutError } from '@skerry/sdk';
import { exitFor } from '../../packages/cli/src/exit-codes.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { type Cli, createCli } from './support/run-cli.ts';

const ID = 'srv_aaaqk3m7qzb5x2l6v4t7n8wyja';
const ACTION = 'act_aaaqk3m7qzb5x2l6v4t7n8wyja';
const SERVER = { id: ID, object: 'server', name: 'web-1', status: 'running' };
const refusal = (code: string, errors: readonly object[] = []) => ({
  error: { code, message: `refused: ${code}`, request_id: 'req_1', errors },
});

function apiError(status: number, code: string): ApiError {
  return new ApiError(new Response(null, { status }), refusal(code));
}

it('an unknown error code maps to an exit code by its HTTP status, and no response to unavailable', () => {
  for (const [error, exit] of [
    [apiError(418, 'teapot'), 'refused'],
    [apiError(404, 'constructor'), 'not_found'],
    [apiError(401, 'expired'), 'signed_out'],
    [apiError(507, 'full'), 'unavailable'],
    [apiError(409, 'conflict_state'), 'conflict'],
    [new TimeoutError('a call'), 'unavailable'],
    [new ConnectionError('a call'), 'unavailable'],
    [new WaitTimeoutError('a wait', null), 'timeout'],
  ] as const) {
    assert.equal(exitFor(error), exit, error.message);
  }
});

describe('skerry with unusual responses', () => {
  let cli: Cli;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const server = createServer((request, response) => answer(request, response));
  const json = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    cli = createCli({ url: `http://127.0.0.1:${port}`, token: 't' });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('events --after 0 continues at the oldest stored event; any other old number is refused', async () => {
    const places: (string | null)[] = [];
    answer = ({ url = '' }, response) => {
      const place = new URL(url, 'http://a').searchParams.get('after');
      places.push(place);
      if (place === null) return json(response, 401, refusal('unauthenticated'));
      if (place !== '56') {
        const min = { field: 'after', issue: 'min', min: 56 };
        return json(response, 400, refusal('invalid_request', [min]));
      }
      const event = { seq: 57, id: 'evt_1', type: 'server.running', created_at: '2026-01-31T12:00:00Z' };
      const data = JSON.stringify({ ...event, data: { server: SERVER } });
      const text = `retry: 10\nid: 56\n\nid: 57\ndata: ${data}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
    };
    const { code, stdout } = await cli('events', '--after', '0', '-o', 'json');
    assert.deepEqual([code, JSON.parse(stdout).seq], [3, 57]);
    assert.deepEqual(places, ['0', '56', null]);
    const noted = await cli('events', '--after', '7');
    assert.equal(noted.code, 7);
    assert.match(noted.stderr, /after: min 56/);
  });

  it('server delete succeeds if the server is gone after a lost response', async () => {
    let deletions = 0;
    answer = (request, response) => {
      if (request.method !== 'DELETE') {
        const isOne = request.url?.includes(ID);
        return json(response, 200, isOne ? SERVER : { object: 'list', data: [SERVER], has_more: false });
      }
      deletions += 1;
      if (deletions === 1) return request.socket.destroy();
      return json(response, 404, refusal('not_found'));
    };
    const { code, stderr } = await cli('server', 'delete', ID, '--yes');
    assert.deepEqual([code, stderr, deletions], [0, '', 2]);
  });

  it('server delete waits for a slow deletion, with and without a lost response', FULL_ONLY, async () => {
    for (const isLost of [false, true]) {
      let deletions = 0;
      let polls = 0;
      const action = { id: ACTION, command: 'server.delete', status: 'running', progress: 0 };
      const deleting = { ...SERVER, status: 'destroying', action };
      answer = (request, response) => {
        if (request.method === 'DELETE') {
          deletions += 1;
          if (!isLost) return json(response, 202, deleting);
          return deletions === 1 ? request.socket.destroy() : json(response, 409, refusal('conflict_state'));
        }
        if (request.url?.includes('/events')) return json(response, 404, refusal('not_found'));
        if (request.url?.includes(ACTION)) {
          polls += 1;
          return json(response, 200, { ...action, steps: [], status: polls < 3 ? 'running' : 'success' });
        }
        if (!request.url?.includes(ID)) {
          return json(response, 200, { object: 'list', data: [SERVER], has_more: false });
        }
        if (deletions === 0) return json(response, 200, SERVER);
        return json(response, polls < 3 ? 200 : 404, polls < 3 ? deleting : refusal('not_found'));
      };
      const { code, stderr } = await cli('server', 'delete', ID, '--yes');
      assert.deepEqual([code, stderr, polls], [0, '', 3]);
    }
  });
});
