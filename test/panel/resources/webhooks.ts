import assert from 'node:assert/strict';
import { it } from 'node:test';
import { problemOf, textOf } from '../../support/panel-client.ts';
import type { ResourceFixture } from './fixture.ts';

/** A URL where no server listens. */
const NOWHERE = 'https://127.0.0.1:1/hooks';

export function webhookPages(at: () => ResourceFixture): void {
  it('a webhook shows its secret once, and again to a second click', async () => {
    const { panel } = at();
    const page = await panel.open('/webhooks');
    const fields = { url: NOWHERE, 'events.server.running': 'on', 'events.volume.attached': 'on' };
    const made = await panel.submit(page, 'create', fields);
    const again = await panel.submit(page, 'create', fields);
    const secretIn = (text: string) => /whsec_[a-z2-7]{52}/.exec(text)?.[0];
    assert.equal(made.status, 200);
    assert.match(made.text, /\/docs\/guides\/webhooks/);
    assert.ok(secretIn(made.text));
    assert.equal(secretIn(again.text), secretIn(made.text));
    const later = await panel.open('/webhooks');
    assert.equal(secretIn(later.text), undefined);
    assert.match(textOf(later.text), /https:\/\/127\.0\.0\.1:1\/hooks 2 of \d+ active/);
    assert.equal(later.text.match(/href="\/webhooks\/whk_/g)?.length, 1);
  });

  it('a webhook subscribes to a whole group of events with one box', async () => {
    const { panel, done } = at();
    const page = await panel.open('/webhooks');
    const groups = [...page.text.matchAll(/<details class="events"><summary>(\S+).*?(\d+) of (\d+)/gs)];
    assert.ok(groups.length > 5);
    assert.ok(groups.every(([, , selected]) => selected === '0'));
    const fields = { url: `${NOWHERE}/volumes`, 'all_events.volume': 'on', 'events.alert.fired': 'on' };
    const made = await panel.submit(page, 'create', fields);
    assert.equal(made.status, 200, textOf(made.text));
    const path = /href="(\/webhooks\/whk_\w+)">Open the webhook/.exec(made.text)?.[1] ?? '';
    const shown = await panel.open(path);
    const count = groups.find(([, name]) => name === 'Volumes')?.[3];
    assert.match(textOf(shown.text), new RegExp(`Volumes ${count} of ${count} selected`));
    assert.match(textOf(shown.text), /Alerts 1 of \d+ selected/);
    const fewer = await done(path, 'change', { 'events.volume.attached': null });
    assert.match(textOf(fewer.text), new RegExp(`Volumes ${Number(count) - 1} of ${count} selected`));
    await done(path, 'delete');
  });

  it('a test event is delivered, logged, and sent again', async () => {
    const { panel, world, done } = at();
    const path = /href="(\/webhooks\/whk_\w+)"/.exec((await panel.open('/webhooks')).text)?.[1] ?? '';
    const queued = await done(path, 'ping');
    assert.match(textOf(queued.text), /Test event queued/);
    await world.settle();
    const logged = await panel.open(path);
    assert.match(textOf(logged.text), /ping failed 1 connection refused \d+ ms/);
    const [, delivery = ''] = /name="delivery" value="(del_\w+)"/.exec(logged.text) ?? [];
    const replayed = await panel.submit(logged, 'replay', {}, { button: ['delivery', delivery] });
    assert.equal(replayed.location, `${path}?done=replay_queued`);
    await world.settle();
    assert.equal((await panel.open(path)).text.match(/<code>ping<\/code>/g)?.length, 2);
    assert.match(textOf((await panel.open(`${path}?status=delivered`)).text), /No matching deliveries/);
  });

  it('the secret of a webhook is rotated on its page', async () => {
    const { panel } = at();
    const path = /href="(\/webhooks\/whk_\w+)"/.exec((await panel.open('/webhooks')).text)?.[1] ?? '';
    const rotated = await panel.submit(await panel.open(path), 'rotate', {});
    assert.equal(rotated.status, 200);
    const [secret = ''] = /whsec_[a-z2-7]{52}/.exec(rotated.text) ?? [];
    assert.match(textOf(rotated.text), /Rotation started.*X-Service-Signature-Next/s);
    const later = await panel.open(path);
    assert.ok(!later.text.includes(secret));
    assert.match(textOf(later.text), new RegExp(`next: whsec_…${secret.slice(-4)}`));
    const canceled = await panel.submit(later, 'end_rotation', {}, { button: ['keep', 'current'] });
    assert.equal(canceled.location, `${path}?done=rotation_canceled`);
    await panel.submit(await panel.open(path), 'rotate', {});
    const again = await panel.open(path);
    const ended = await panel.submit(again, 'end_rotation', {}, { button: ['keep', 'next'] });
    assert.equal(ended.location, `${path}?done=rotation_ended`);
    assert.doesNotMatch(textOf((await panel.open(path)).text), /next: whsec_/);
  });

  it('a webhook is changed, paused, and deleted, and an invalid change is rejected', async () => {
    const { panel, other, done, refused } = at();
    const path = /href="(\/webhooks\/whk_\w+)"/.exec((await panel.open('/webhooks')).text)?.[1] ?? '';
    const wrong = await refused(path, 'change', {
      url: 'http://example.com',
      'events.server.running': null,
      'events.volume.attached': null,
    });
    assert.equal(problemOf(wrong.text, 'events', 'change'), 'Choose at least one event.');
    const plain = await refused(path, 'change', { url: 'http://example.com' });
    assert.match(problemOf(plain.text, 'url', 'change') ?? '', /./);
    const paused = await done(path, 'change', { 'events.*': 'on', active: null });
    assert.match(textOf(paused.text), /Saved\. .*Events All Status paused .*no events are sent/);
    assert.equal((await other.open(path)).status, 404);
    assert.match(textOf((await done(path, 'delete')).text), /Webhook deleted.*No webhooks yet/);
  });
}
