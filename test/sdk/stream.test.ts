/** The event stream, connection by connection, against scripted responses. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Skerry } from '@skerry/sdk';
import { withFakeTimers } from './stubbed-client.ts';

const REFUSED = '{"error":{"code":"conflict_state","message":"too many","request_id":"req_1","errors":[]}}';

const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

/** One connection: its response, and whether it then ends, breaks, or goes silent. */
interface Connection {
  readonly status?: number;
  readonly type?: string;
  readonly parts: readonly string[];
  readonly last?: 'breaks' | 'is silent';
}

function stubStreams(connections: readonly Connection[]) {
  const places: (string | null)[] = [];
  let cancelled = 0;
  const fetch = async (request: Request) => {
    const { status = 200, parts, last, type } = connections[places.length] ?? { parts: [] };
    const { searchParams } = new URL(request.url);
    places.push(request.headers.get('last-event-id') ?? searchParams.get('after'));
    const left = [...parts];
    const body = new ReadableStream<Uint8Array>({
      start: (controller) =>
        request.signal.addEventListener('abort', () => controller.error(new Error('aborted'))),
      pull: (controller) => {
        const part = left.shift();
        if (part !== undefined) return controller.enqueue(new TextEncoder().encode(part));
        if (last === 'breaks') controller.error(new TypeError('terminated'));
        else if (last !== 'is silent') controller.close();
      },
      cancel: () => {
        cancelled += 1;
      },
    });
    return new Response(body, { status, headers: type ? { 'content-type': type } : STREAM });
  };
  const skerry = new Skerry({ baseUrl: 'http://127.0.0.1:9', token: 't', fetch });
  return { skerry, places, cancelled: () => cancelled };
}

const message = (seq: number) => `id: ${seq}\nevent: ping\ndata: {"seq":${seq},"type":"ping"}\n\n`;

async function readSeqs(skerry: Skerry, count: number, after?: number): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq } of skerry.events.stream(after === undefined ? {} : { after })) {
    seqs.push(seq);
    if (seqs.length === count) break;
  }
  return seqs;
}

it('a stream reconnects at the position that the service sent, even before the first event', async (t) => {
  const { skerry, places } = stubStreams([
    { parts: ['retry: 3000\nid: 41\n\n'], last: 'breaks' },
    { parts: [':\n\n', message(42)] },
    { parts: [message(43), 'id: 50\n\n'] },
    { parts: [message(51)] },
  ]);
  assert.deepEqual(await withFakeTimers(t, () => readSeqs(skerry, 3)), [42, 43, 51]);
  assert.deepEqual(places, [null, '41', '42', '50']);
});

it('a stream is parsed for any size of chunks', async () => {
  const text = `retry: 10\nid: 6\n\n:\n\n${message(7)}${message(8).replace('ping"', 'é✓"')}`;
  const bytes = [...new TextEncoder().encode(text)];
  for (const size of [1, 2, 3, 7, 1_000]) {
    const parts: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      parts.push(String.fromCharCode(...bytes.slice(at, at + size)));
    }
    const { skerry } = latin1(parts);
    assert.deepEqual(await readSeqs(skerry, 2), [7, 8]);
  }
});

/** A stream of parts whose characters are bytes. */
function latin1(parts: readonly string[]) {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const part of parts) controller.enqueue(Uint8Array.from(part, (char) => char.charCodeAt(0)));
      controller.close();
    },
  });
  const fetch = async () => new Response(body, { headers: STREAM });
  return { skerry: new Skerry({ baseUrl: 'http://127.0.0.1:9', token: 't', fetch }) };
}

it('a silent connection is given up after 45 seconds, and not earlier', async (t) => {
  const { skerry, places } = stubStreams([
    { parts: [message(1)], last: 'is silent' },
    { parts: [message(2)] },
  ]);
  let tookMs = 0;
  const call = async () => {
    const began = Date.now();
    const seqs = await readSeqs(skerry, 2, 0);
    tookMs = Date.now() - began;
    return seqs;
  };
  assert.deepEqual(await withFakeTimers(t, call), [1, 2]);
  assert.deepEqual(places, ['0', '1']);
  assert.ok(tookMs >= 48_000 && tookMs < 50_000, `${tookMs} ms`);
});

it('a stream reconnects after the delay that the service sets, and after temporary refusals', async (t) => {
  const { skerry, places } = stubStreams([
    { parts: ['id: 1\n\n'] },
    { status: 409, parts: [REFUSED] },
    { status: 520, parts: ['<html>'] },
    { parts: ['retry: 200\nid: 1\n\n'] },
    { parts: [message(2)] },
  ]);
  let tookMs = 0;
  const call = async () => {
    const began = Date.now();
    const seqs = await readSeqs(skerry, 1);
    tookMs = Date.now() - began;
    return seqs;
  };
  assert.deepEqual(await withFakeTimers(t, call), [2]);
  assert.equal(places.length, 5);
  assert.ok(tookMs >= 9_200 && tookMs < 10_000, `${tookMs} ms`);
});

it('leaving the loop cancels the response', async () => {
  const { skerry, cancelled } = stubStreams([{ parts: [message(1)], last: 'is silent' }]);
  assert.deepEqual(await readSeqs(skerry, 1), [1]);
  assert.equal(cancelled(), 1);
});

// Node forgets the signal of a request that is no longer referenced; a silent connection could not be aborted
// then.
it('a stream ends with its signal even after a garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const server = createServer((_, response) => {
    response.writeHead(200, STREAM).write(message(1));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const skerry = new Skerry({ baseUrl: `http://127.0.0.1:${port}`, token: 't' });
  const ending = new AbortController();
  const stream = skerry.events.stream({ signal: ending.signal });
  try {
    await stream.next();
    const waiting = stream.next();
    for (let round = 0; round < 20; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
    const reason = new Error('enough');
    ending.abort(reason);
    await assert.rejects(waiting, reason);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

for (const [failure, connection, count] of [
  ['an unavailable service', { status: 503, parts: ['<html>'] }, 4],
  ['too many streams', { status: 409, parts: [REFUSED] }, 1],
  ['an HTML page', { parts: ['<html>'], type: 'text/html' }, 4],
] as const) {
  it(`the first connection of a stream fails like a call: ${failure}`, async (t) => {
    const { skerry, places } = stubStreams(Array(9).fill(connection));
    await assert.rejects(
      withFakeTimers(t, () => readSeqs(skerry, 1)),
      { name: 'type' in connection ? 'ConnectionError' : 'ApiError' },
    );
    assert.equal(places.length, count);
  });
}

it('a stream to an unreachable host fails, and a broken stream reconnects without a limit', async (t) => {
  const nowhere = new Skerry({ baseUrl: 'http://127.0.0.1:9', token: 't', maxRetries: 0 });
  await assert.rejects(nowhere.events.stream().next(), {
    name: 'ConnectionError',
    message: /^Could not reach /,
  });
  const down = Array(20).fill({ status: 502, parts: ['<html>'] });
  const { skerry, places } = stubStreams([
    { parts: [message(1)], last: 'breaks' },
    ...down,
    { parts: [message(2)] },
  ]);
  const breaks: string[] = [];
  const call = async () => {
    for await (const { seq } of skerry.events.stream({ onBreak: ({ name }) => breaks.push(name) })) {
      if (seq === 2) break;
    }
  };
  await withFakeTimers(t, call);
  assert.equal(places.length, 22);
  assert.deepEqual([breaks.length, breaks[0], breaks[1]], [21, 'ConnectionError', 'ApiError']);
});

it('a message without an end is not kept in memory', async () => {
  const { skerry, places } = stubStreams([{ parts: [message(1), ...Array(5).fill('x'.repeat(1024 ** 2))] }]);
  const expected = { name: 'ConnectionError', message: /^Received an event of more than/ };
  await assert.rejects(readSeqs(skerry, 2), expected);
  assert.equal(places.length, 1);
});
