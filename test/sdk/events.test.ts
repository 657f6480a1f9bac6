/** What happens in an account, as a webhook that is verified and as a stream that is followed. */
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

  /** Something that an event tells of. */
  const happen = async (name: string) => {
    await skerry.tokens.create({ name, scope: 'read' });
  };
  const nameOf = ({ data }: StreamedEvent) => (data as { api_token?: { name: string } }).api_token?.name;

  it('a delivery of the service is verified, and found out when it is changed', async () => {
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

  it('the stream begins now, and the service is told when the loop is left', async () => {
    const way = await startTcpProxy(world.url);
    const through = new Skerry({ baseUrl: way.url, token });
    const onOpen = () => void happen('seen');
    for await (const event of through.events.stream({ onOpen })) {
      assert.equal(nameOf(event), 'seen');
      assert.equal(event.type, 'token.created');
      break;
    }
    await way.waitForDisconnects();
    await way.close();
  });

  it('a connection that breaks, before the first event or between two, loses none and doubles none', async () => {
    const way = await startTcpProxy(world.url);
    const through = new Skerry({ baseUrl: way.url, token });
    const seen: (string | undefined)[] = [];
    let opened = 0;
    const onOpen = () => {
      opened += 1;
      // The first words of the service have to arrive: where the stream stands.
      if (opened === 1) setImmediate(() => void happen('between').then(() => way.breakConnections()));
    };
    const seqs: number[] = [];
    for await (const event of through.events.stream({ onOpen })) {
      seen.push(nameOf(event));
      seqs.push(event.seq);
      if (seen.length === 5) break;
      if (seen.length === 2) {
        way.breakConnections();
        await way.waitForDisconnects();
        await happen('while away');
      }
      if (seen.length === 1) await happen('second');
      if (seen.length === 3) await Promise.all([happen('last'), happen('last')]);
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
    await way.close();
  });

  it('what was not handled comes once more', async () => {
    const stream = skerry.events.stream({ after: 0 });
    const first = await stream.next();
    await stream.return();
    const again = await skerry.events.stream({ after: 0 }).next();
    assert.deepEqual(again.value, first.value);
  });

  it('ends with its signal, whose reason is thrown', async () => {
    const way = await startTcpProxy(world.url);
    const through = new Skerry({ baseUrl: way.url, token });
    const ending = new AbortController();
    const reason = new Error('enough');
    const stream = through.events.stream({ signal: ending.signal, onOpen: () => ending.abort(reason) });
    await assert.rejects(stream.next(), reason);
    await way.waitForDisconnects();
    await way.close();
  });

  it('a refusal is thrown: a token that is none, a place that is not there', async () => {
    const stranger = new Skerry({ baseUrl: world.url, token: 'skerry_live_none' });
    await assert.rejects(stranger.events.stream().next(), { status: 401, code: 'unauthenticated' });
    await assert.rejects(skerry.events.stream({ after: 999_999 }).next(), { status: 400 });
  });
});
