import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  createIncident,
  type NewIncident,
  resolveIncident,
  updateIncident,
} from '../../../src/domain/health/incidents.ts';
import { HOUR_MS } from '../../../src/kernel/time.ts';
import { type HttpWorld, startHttpWorld } from '../../http/http-world.ts';

const HOSTILE = '<script>alert(1)</script> & "quotes"';

describe('incidents on the status page', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
  });
  after(() => world?.close());

  const read = async (url: string) =>
    await world.app.inject({ url, headers: { host: 'skerry.test', accept: 'text/html' } });
  const textOf = async (url: string): Promise<string> => (await read(url)).body;
  const publish = async (wanted: Partial<NewIncident>): Promise<string> =>
    await createIncident(world.service, {
      title: 'Slow disks',
      text: 'We look into it.',
      components: [],
      state: 'investigating',
      planned: null,
      ...wanted,
    });

  it('an open incident is on the status page with its updates, newest first', async () => {
    const id = await publish({ components: ['region:par', 'payments'] });
    await updateIncident(world.service, id, { state: 'identified', text: 'A switch.\nReplaced soon.' });
    const text = await textOf('/status');
    assert.match(text, /Some systems are affected/);
    assert.match(text, /Slow disks<\/a> <span class="state busy">identified/);
    assert.match(text, /Affects: Paris, Payments/);
    assert.match(text, /A switch\.\nReplaced soon\.[\s\S]*We look into it\./);
    await resolveIncident(world.service, id, 'Fixed.');
    assert.doesNotMatch(await textOf('/status'), /Slow disks/);
    assert.match(await textOf('/status'), /All systems operational/);
    assert.match(
      await textOf(`/status/incidents/${id}`),
      /<h1>Slow disks<\/h1>\s*<span class="state good">resolved/,
    );
  });

  it('the status page reloads without scripts, until the visitor stops that', async () => {
    const text = await textOf('/status');
    assert.match(text, /<noscript><meta http-equiv="refresh" content="60; url=\/status"><\/noscript>/);
    const [, stop = ''] = /<noscript>.*<a href="([^"]+)">Stop updates<\/a>/.exec(text) ?? [];
    const stopped = await textOf(stop);
    assert.doesNotMatch(stopped, /http-equiv="refresh"|Stop updates/);
  });

  it('planned maintenance is announced, and does not count as an incident before it begins', async () => {
    const at = world.clock.now().getTime();
    const planned = { from: new Date(at + HOUR_MS), until: new Date(at + 2 * HOUR_MS) };
    const id = await publish({ title: 'New disks', planned });
    assert.match(
      await textOf('/status'),
      /All systems operational[\s\S]*New disks<\/a> <span class="state off">/,
    );
    assert.doesNotMatch(await textOf('/status'), /No maintenance in progress or scheduled/);
    world.clock.offsetMs += HOUR_MS;
    assert.match(await textOf('/status'), /Some systems are affected[\s\S]*in progress/);
    world.clock.offsetMs += HOUR_MS;
    assert.doesNotMatch(await textOf('/status'), /New disks/);
    assert.match(await textOf(`/status/incidents/${id}`), /completed/);
  });

  it('the history has pages, newest first', async () => {
    for (let n = 1; n <= 21; n++) {
      world.clock.offsetMs += 1_000;
      await resolveIncident(world.service, await publish({ title: `Number ${n}.` }), 'Fixed.');
    }
    const first = await textOf('/status/history');
    assert.ok(first.indexOf('Number 21.') < first.indexOf('Number 2.'));
    assert.ok(!first.includes('Number 1.'));
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(first) ?? [];
    assert.match(await textOf(next.replaceAll('&#38;', '&')), /Number 1\.[\s\S]*Slow disks/);
    assert.equal((await read('/status/history?after=nonsense')).statusCode, 200);
  });

  it('the feed has an entry for each incident, and escapes texts twice', async () => {
    const id = await publish({ title: HOSTILE, text: HOSTILE });
    const { headers, body } = await read('/status/feed.atom');
    assert.match(String(headers['content-type']), /^application\/atom\+xml/);
    assert.match(
      body,
      /^<\?xml version="1\.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom">/,
    );
    assert.ok(body.includes(`<id>http://skerry.test/status/incidents/${id}</id>`));
    assert.match(body, /<updated>\d{4}-\d\d-\d\dT[\d:]+Z<\/updated>/);
    assert.ok(!body.includes('<script'));
    const [content = ''] = /<content type="html">.*?<\/content>/s.exec(body) ?? [];
    assert.ok(content.includes('&#38;#60;script&#38;#62;'));
    for (const path of ['/status', '/status/history', `/status/incidents/${id}`])
      assert.ok(!(await textOf(path)).includes('<script>alert'), path);
    assert.match(await textOf('/status'), /<link rel="alternate" type="application\/atom\+xml"/);
    await resolveIncident(world.service, id, 'Fixed.');
  });

  it('an unknown incident is not found', async () => {
    for (const id of ['nonsense', `inc_${'a'.repeat(26)}`])
      assert.equal((await read(`/status/incidents/${id}`)).statusCode, 404);
  });
});
