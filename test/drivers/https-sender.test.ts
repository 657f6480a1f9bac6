import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { HttpsSender, type HttpsSenderOptions } from '../../src/drivers/webhooks/https.ts';
import { LOOPBACK_URLS, PRIVATE_URLS } from '../support/hostile-urls.ts';
import { hang, WebhookReceiver } from '../support/webhook-receiver.ts';

const TIMEOUT_MS = 2_000;

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
/** The receiver's URL of this path, by a name that only a resolver of the test knows. */
const named = (path: string) => receiver.url(path).replace('127.0.0.1', 'hooks.test');

describe('the sender', () => {
  it('goes to no address but those of the public internet, however it is written', async () => {
    const asked: string[] = [];
    const sender = senderWith({
      allowLoopback: false,
      resolve: async (name) => {
        asked.push(name);
        return ['127.0.0.1'];
      },
    });
    const urls = [...LOOPBACK_URLS, ...PRIVATE_URLS];
    assert.ok(urls.length >= 60);
    for (const url of urls) assert.deepEqual(await post(sender, url), { fault: 'forbidden address' }, url);
    // Only names are asked about; addresses never are.
    assert.deepEqual(
      asked.filter((name) => !/localhost|loopback/.test(name)),
      [],
    );
  });

  it('refuses a name that has a forbidden address among others', async () => {
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

  it('connects to the address that it checked, whatever the name means a moment later', async () => {
    let asked = 0;
    const sender = senderWith({ resolve: async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']) });
    const url = named('/rebound');
    assert.deepEqual(await post(sender, url), { status: 200 });
    assert.equal(asked, 1);
    // The connection is kept, from the next turn on. Once it is gone the name is asked about, and checked, again.
    await turn();
    receiver.url('/rebound', (response) => {
      response.shouldKeepAlive = false;
      response.end();
    });
    assert.deepEqual(await post(sender, url), { status: 200 });
    assert.equal(asked, 1);
    await turn();
    assert.deepEqual(await post(sender, url), { fault: 'forbidden address' });
    assert.equal(asked, 2);
  });

  it('wants a certificate that is valid for the name, and one of its authorities', async () => {
    const { authority } = receiver;
    const resolve = async () => ['127.0.0.1'];
    const faults = [];
    faults.push(await post(senderWith({ resolve }), named('/tls').replace('hooks.test', 'other.test')));
    const stranger = new HttpsSender({ timeoutMs: TIMEOUT_MS, allowLoopback: true });
    senders.push(stranger);
    faults.push(await post(stranger, receiver.url('/tls')));
    const expired = await WebhookReceiver.start(authority, ['127.0.0.1'], { expired: true });
    faults.push(await post(senderWith(), expired.url('/tls')));
    await expired.stop();
    assert.deepEqual(
      faults,
      faults.map(() => ({ fault: 'tls' })),
    );
    assert.equal(receiver.requestsTo('/tls').length, 0);
  });

  it('tries once more, at once, where a connection that was kept is dead, and not where a new one is', async () => {
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
    // The third connection was not kept: this is a new one, and its end is an answer.
    assert.deepEqual(await post(sender, url), { fault: 'connection reset' });
    assert.equal(hits, 4);
    // Nor is it tried a third time.
    receiver.url('/others');
    assert.deepEqual(await post(sender, receiver.url('/others')), { status: 200 });
    await turn();
    assert.deepEqual(await post(sender, url), { fault: 'connection reset' });
    assert.equal(hits, 6);
  });

  it('reads little of an answer and cuts the rest', async () => {
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

  it('ends what is under way, without an answer, when it is closed', async () => {
    const sender = senderWith();
    const url = receiver.url('/open', hang);
    const sent = post(sender, url);
    await receiver.waitForCount('/open', 1);
    await Promise.all([assert.rejects(sent), sender.close()]);
    await assert.rejects(post(sender, url));
  });
});
