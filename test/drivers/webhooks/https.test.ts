import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { loadConfig } from '../../../src/config.ts';
import { HttpsSender, type HttpsSenderOptions } from '../../../src/drivers/webhooks/https.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { withTimeout } from '../../cli/support/with-timeout.ts';
import { LOOPBACK_URLS, PRIVATE_URLS } from '../../support/hostile-urls.ts';
import { drip, hang, WebhookReceiver } from '../../support/webhook-receiver.ts';

const TIMEOUT_MS = 2_000;
/** A busy machine included. */
const CUT_TIMEOUT_MS = 10_000;

let receiver: WebhookReceiver;
const senders: HttpsSender[] = [];
before(async () => {
  receiver = await WebhookReceiver.start(undefined, ['127.0.0.1', 'hooks.test']);
});
after(async () => {
  for (const sender of senders) await sender.close();
  await receiver.stop();
});

function senderWith(options: Partial<HttpsSenderOptions> = {}): HttpsSender {
  const ca = receiver.authority.cert;
  const sender = new HttpsSender({ timeoutMs: TIMEOUT_MS, allowLoopback: true, ca, ...options });
  senders.push(sender);
  return sender;
}

const post = (sender: HttpsSender, url: string) => sender.send({ url, headers: {}, body: '{}' });
/** Returns the receiver's URL for this path, under a name that only the test's resolver knows. */
const named = (path: string) => receiver.url(path).replace('127.0.0.1', 'hooks.test');

describe('webhook sender', () => {
  it('the sender connects only to public addresses, in any notation', async () => {
    const resolved: string[] = [];
    const sender = senderWith({
      allowLoopback: false,
      resolve: async (name) => {
        resolved.push(name);
        return ['127.0.0.1'];
      },
    });
    const urls = [...LOOPBACK_URLS, ...PRIVATE_URLS];
    assert.ok(urls.length >= 60);
    for (const url of urls) assert.deepEqual(await post(sender, url), { fault: 'forbidden address' }, url);
    // Only names are resolved, never addresses.
    assert.deepEqual(
      resolved.filter((name) => !/localhost|loopback/.test(name)),
      [],
    );
  });

  it('a name with one forbidden address among others is refused', async () => {
    for (const addresses of [
      ['10.0.0.1'],
      ['8.8.8.8', '10.0.0.1'],
      ['2606:4700::1111', '::ffff:10.0.0.1'],
      [],
    ]) {
      const sender = senderWith({ resolve: async () => addresses });
      assert.deepEqual(await post(sender, 'https://hooks.test/'), { fault: 'forbidden address' });
    }
  });

  it('the sender connects to the checked address even if the name changes a moment later', async () => {
    let lookups = 0;
    const sender = senderWith({ resolve: async () => (lookups++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']) });
    const url = named('/rebound');
    assert.deepEqual(await post(sender, url), { status: 200 });
    assert.equal(lookups, 1);
    // The connection is kept alive from the next event loop turn. After it closes, the name is checked again.
    await turn();
    receiver.url('/rebound', (response) => {
      response.shouldKeepAlive = false;
      response.end();
    });
    assert.deepEqual(await post(sender, url), { status: 200 });
    assert.equal(lookups, 1);
    await turn();
    assert.deepEqual(await post(sender, url), { fault: 'forbidden address' });
    assert.equal(lookups, 2);
  });

  it('the sender requires a valid certificate for the name from a trusted authority', async () => {
    const { authority } = receiver;
    const resolve = async () => ['127.0.0.1'];
    const faults = [];
    faults.push(await post(senderWith({ resolve }), named('/tls').replace('hooks.test', 'other.test')));
    const withoutCa = new HttpsSender({ timeoutMs: TIMEOUT_MS, allowLoopback: true });
    senders.push(withoutCa);
    faults.push(await post(withoutCa, receiver.url('/tls')));
    const expired = await WebhookReceiver.start(authority, ['127.0.0.1'], { expired: true });
    faults.push(await post(senderWith(), expired.url('/tls')));
    await expired.stop();
    assert.deepEqual(
      faults,
      faults.map(() => ({ fault: 'tls' })),
    );
    assert.equal(receiver.requestsTo('/tls').length, 0);
  });

  it('a request over a dead kept-alive connection is retried once, a new connection is not', async () => {
    const sender = senderWith();
    let hits = 0;
    const url = receiver.url('/kept', (response) => {
      hits += 1;
      if (hits === 2 || hits > 3) response.socket?.destroy();
      else response.end();
    });
    assert.deepEqual(await post(sender, url), { status: 200 });
    await turn();
    assert.deepEqual(await post(sender, url), { status: 200 });
    assert.equal(hits, 3);
    await turn();
    // The third connection was not kept alive: this is a new one, and its end is the result.
    assert.deepEqual(await post(sender, url), { fault: 'connection reset' });
    assert.equal(hits, 4);
    // A retry is not retried again.
    receiver.url('/others');
    assert.deepEqual(await post(sender, receiver.url('/others')), { status: 200 });
    await turn();
    assert.deepEqual(await post(sender, url), { fault: 'connection reset' });
    assert.equal(hits, 6);
  });

  it('the sender reads only a little of a response and aborts the rest', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      receiver.url('/bomb', (response) => {
        response.writeHead(200);
        response.once('close', resolve);
        const pour = () => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384;
          response.once('drain', pour);
        };
        pour();
      });
    });
    assert.deepEqual(await post(senderWith(), receiver.url('/bomb')), { status: 200 });
    await closed;
    assert.ok(written < 16 * 1024 ** 2, `${written} bytes were written`);
  });

  it('the sender reads up to 64 KiB of a response, and one byte more closes the connection', async () => {
    const sender = senderWith();
    const ports: (number | undefined)[] = [];
    const respond = async (bytes: number) => {
      const url = receiver.url('/sized', (response) => {
        ports.push(response.req.socket.remotePort);
        response.end(Buffer.alloc(bytes));
      });
      assert.deepEqual(await post(sender, url), { status: 200 });
      // The connection is kept alive from the next event loop turn.
      await turn();
    };
    for (const bytes of [64 * 1024, 64 * 1024 + 1, 0]) await respond(bytes);
    assert.equal(ports[1], ports[0]);
    assert.notEqual(ports[2], ports[1]);
  });

  it('the sender cuts a response that drips: a head at the time limit, a body after 1 s', async () => {
    const closed = Promise.withResolvers<void>();
    const url = receiver.url('/drip', (response, request) => {
      response.req.socket.once('close', closed.resolve);
      drip('body')(response, request);
    });
    const answer = withTimeout(post(senderWith(), url), 'an answer', CUT_TIMEOUT_MS);
    assert.deepEqual(await answer, { status: 200 });
    await withTimeout(closed.promise, 'a closed connection', CUT_TIMEOUT_MS);
    const head = receiver.url('/drip-head', drip('head'));
    assert.deepEqual(await post(senderWith({ timeoutMs: 200 }), head), { fault: 'timeout' });
    assert.equal(LIMITS.webhookTimeoutMs, 10_000);
    const longer = { SKERRY_WEBHOOK_TIMEOUT_MS: String(LIMITS.webhookTimeoutMs + 1) };
    assert.throws(() => loadConfig(longer), /SKERRY_WEBHOOK_TIMEOUT_MS/);
  });

  it('closing the sender aborts requests in flight without a result', async () => {
    const sender = senderWith();
    const url = receiver.url('/open', hang);
    const sent = post(sender, url);
    await receiver.waitForCount('/open', 1);
    await Promise.all([assert.rejects(sent), sender.close()]);
    await assert.rejects(post(sender, url));
  });
});
