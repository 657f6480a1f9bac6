import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HttpWorld, startHttpWorld } from '../http/http-world.ts';
import { PanelClient } from '../support/panel-client.ts';
import { textOf } from '../support/panel-html.ts';

const ALL_SECTIONS = 15;

describe('the frame of a page', () => {
  let world: HttpWorld;
  let panel: PanelClient;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    panel = PanelClient.forApp(world.app, { cookie: (await world.customer()).cookie });
  });
  after(() => world?.close());

  it('the navigation is grouped, marks the current section, and names it in the closed menu', async () => {
    const { text } = await panel.get('/volumes');
    const [nav = ''] = /<nav class="sections".*?<\/nav>/s.exec(text) ?? [];
    assert.match(
      textOf(nav),
      /^Menu: Volumes Compute Servers Volumes Snapshots Images Network Firewall Manage SSH keys .* Help /,
    );
    assert.deepEqual(nav.match(/<a [^>]* aria-current="page">\w+/g), [
      '<a class="to-volumes" href="/volumes" aria-current="page">Volumes',
    ]);
    assert.equal(nav.match(/<a class="to-/g)?.length, ALL_SECTIONS);
  });

  it('every section has an icon', async () => {
    const { text } = await panel.get('/servers');
    const [, path = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(text) ?? [];
    const css = (await panel.get(path)).text;
    for (const [, name = ''] of text.matchAll(/<a class="(to-\w+)"/g)) {
      assert.ok(css.includes(`.${name}::before`), name);
    }
  });

  it('breadcrumbs end with the current page', async () => {
    const { text } = await panel.get('/account/limits');
    const [trail = ''] = /<nav class="trail".*?<\/nav>/s.exec(text) ?? [];
    assert.match(
      trail,
      /<li><a href="\/account">Account<\/a><\/li>\n<li aria-current="page">[^<]+<\/li><\/ol>/,
    );
  });

  it('an empty list offers its next step as a button that leads to the form', async () => {
    for (const path of ['/volumes', '/snapshots', '/firewall', '/keys', '/webhooks', '/alerts']) {
      const { text } = await panel.get(path);
      const [empty = ''] = /<div class="empty">.*?<\/div>/s.exec(text) ?? [];
      const [, anchor = ''] = /<a class="button" href="#([\w-]+)"/.exec(empty) ?? [];
      assert.ok(text.includes(`<h2 id="${anchor}">`), path);
    }
  });

  it('each cell of a table names its column for narrow screens', async () => {
    const { text } = await panel.get('/account/limits');
    const [row = ''] = /<tr><th scope="row">Servers.*?<\/tr>/s.exec(text) ?? [];
    const [head = ''] = /<thead>.*?<\/thead>/s.exec(text) ?? [];
    const names = [...row.matchAll(/<td[^>]* data-label="([^"]+)"/g)].map(([, name]) => name);
    assert.ok(names.length > 0);
    assert.deepEqual(
      names,
      [...head.matchAll(/<th[^>]*>([^<]+)/g)].slice(1).map(([, name]) => name),
    );
  });

  it('the style guide of a sandbox shows every component', async () => {
    const { status, text } = await PanelClient.forApp(world.app).get('/styleguide');
    assert.equal(status, 200);
    const parts = [
      'state good',
      'banner fault',
      'scroll stack',
      'tabs',
      'empty',
      'facts',
      'pager',
      'page-head',
    ];
    for (const part of parts) assert.ok(text.includes(`class="${part}"`), part);
    assert.match(text, /<progress /);
  });
});
