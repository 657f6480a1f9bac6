/** Events of an account: as verified webhooks, and as a stream. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { deliveryId, Skerry, type StreamedEvent, verifyWebhook } from '@skerry/sdk';
import { NO_RATES } from '../http/v1/contract/estate.ts';
import { createAuthority } from '../support/certificates.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { startWorld, type World } from '../support/world.ts';
import { startTcpProxy } from './tcp-proxy.ts';

const folder = mkdtempSync(join(tmpdir(), 'skerry-ca-'));

describe('events', FULL_ONLY, () => {
  let world: World;
  let receiver: WebhookReceiver;
  let skerry: Skerry;
  let token: string;

  before(async () => {
    const authority = createAuthority();
    writeFileSync(join(folder, 'ca.pem'), authority.cert);
    receiver = await WebhookReceiver.start(authority);
    world = await startWorld({
      ...NO_RATES,
      SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true',
      SKERRY_WEBHOOK_CA_FILE: join(folder, 'ca.pem'),
    });
    token = await createApiToken(await world.customer());
    skerry = new Skerry({ baseUrl: world.url, token });
    await world.settle();
  });
  after(async () => {
    await world.close();
    await receiver.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Creates a token, which causes an event. */
  const causeEvent = async (name: string) => {
    await skerry.tokens.create({ name, scope: 'read' });
  };
  const nameOf = ({ data }: StreamedEvent) => (data as { api_token?: { name: string } }).api_token?.name;

  it('a genuine delivery is verified, and a changed one is rejected', async () => {
    const { id, secret } = await skerry.webhooks.create({ url: receiver.url('/hook'), events: ['*'] });
    const { id: delivery } = await skerry.webhooks.test(id);
    await receiver.waitForCount('/hook', 1);
    const [received] = receiver.requestsTo('/hook');
    assert.ok(received);
    const { body, headers } = received;
    const event = await verifyWebhook(body, headers, secret);
    assert.equal(event.type, 'ping');
    assert.equal(deliveryId(headers), delivery);
    const { type } = await verifyWebhook(
      Buffer.from(body),
      new Headers(headers as Record<string, string>),
      secret,
    );
    assert.equal(type, 'ping');
    for (const [wrongBody, wrongSecret] of [
      [body.replace('ping', 'pong'), secret],
      [`${body} `, secret],
      [body, `${secret}x`],
    ] as const) {
      await assert.rejects(verifyWebhook(wrongBody, headers, wrongSecret), {
        name: 'WebhookVerificationError',
      });
    }
    await skerry.webhooks.delete(id);
  });

  it('a stream starts with new events and disconnects when the loop ends', async () => {
    const proxy = await startTcpProxy(world.url);
    const through = new Skerry({ baseUrl: proxy.url, token });
    const onOpen = () => void causeEvent('seen');
    for await (const event of through.events.stream({ onOpen })) {
      assert.equal(nameOf(event), 'seen');
      assert.equal(event.type, 'token.created');
      break;
    }
    await proxy.waitForDisconnects();
    await proxy.close();
  });

  it('a stream whose connection breaks loses and repeats no event', async () => {
    const proxy = await startTcpProxy(world.url);
    const through = new Skerry({ baseUrl: proxy.url, token });
    const seen: (string | undefined)[] = [];
    let opened = 0;
    const onOpen = () => {
      opened += 1;
      // The first message of the service, the stream position, must arrive first.
      if (opened === 1) setImmediate(() => void causeEvent('between').then(() => proxy.breakConnections()));
    };
    const seqs: number[] = [];
    for await (const event of through.events.stream({ onOpen })) {
      seen.push(nameOf(event));
      seqs.push(event.seq);
      if (seen.length === 5) break;
      if (seen.length === 2) {
        proxy.breakConnections();
        await proxy.waitForDisconnects();
        await causeEvent('while away');
      }
      if (seen.length === 1) await causeEvent('second');
      if (seen.length === 3) await Promise.all([causeEvent('last'), causeEvent('last')]);
    }
    assert.deepEqual(seen, ['between', 'second', 'while away', 'last', 'last']);
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => (seqs[0] ?? 0) + index),
    );
    assert.ok(opened >= 3, String(opened));
    const missed = [];
    for await (const event of through.events.stream({ after: seqs[0] ?? 0 })) {
      missed.push(nameOf(event));
      if (missed.length === 4) break;
    }
    assert.deepEqual(missed, seen.slice(1));
    await proxy.close();
  });

  it('an event that was not handled is sent again', async () => {
    const stream = skerry.events.stream({ after: 0 });
    const first = await stream.next();
    await stream.return();
    const again = await skerry.events.stream({ after: 0 }).next();
    assert.deepEqual(again.value, first.value);
  });

  it('a stream ends with its signal and throws its reason', async () => {
    const proxy = await startTcpProxy(world.url);
    const through = new Skerry({ baseUrl: proxy.url, token });
    const ending = new AbortController();
    const reason = new Error('enough');
    const stream = through.events.stream({ signal: ending.signal, onOpen: () => ending.abort(reason) });
    await assert.rejects(stream.next(), reason);
    await proxy.waitForDisconnects();
    await proxy.close();
  });

  it('a stream throws a refusal of its token or its position', async () => {
    const stranger = new Skerry({ baseUrl: world.url, token: 'skerry_live_none' });
    await assert.rejects(stranger.events.stream().next(), { status: 401, code: 'unauthenticated' });
    await assert.rejects(skerry.events.stream({ after: 999_999 }).next(), { status: 400 });
  });
});
