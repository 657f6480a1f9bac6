import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isoFile } from '../../support/iso.ts';
import { refreshOf, textOf } from '../../support/panel-client.ts';
import { expectSuccess } from '../support/estate.ts';
import { pathOf, type ResourceFixture } from './fixture.ts';

export function activityParts(at: () => ResourceFixture): void {
  it('the page of a volume shows its five latest actions, and links to all of them', async () => {
    const { done, web, world, panel } = at();
    const path = pathOf(await done('/volumes', 'create', { name: 'busy', size_gb: '10', region: 'par' }));
    for (const _ of [1, 2, 3]) {
      await done(path, 'attach', { server: web });
      await world.settle();
      await done(path, 'detach');
      await world.settle();
    }
    const { text } = await panel.open(path);
    assert.equal(refreshOf(text), null);
    assert.equal(text.match(/<a href="\/actions\/act_\w+"/g)?.length, 5);
    assert.match(textOf(text), /Activity .* Volume detached succeeded – .* Volume attached succeeded – /);
    const id = path.split('/').at(-1);
    assert.ok(text.includes(`<a href="/actions?resource=${id}">All activity of this volume</a>`), text);
    const all = textOf((await panel.open(`/actions?resource=${id}`)).text);
    assert.match(all, new RegExp(`Volume created ${id} succeeded`));
  });

  it('the page of a snapshot shows the progress of its action, and why it failed', async () => {
    const { done, web, world, panel } = at();
    await world.sandbox('faults', { driver: 'compute', operation: 'snapshot', times: 1 });
    const begun = await done('/snapshots', 'create', { server: web, name: 'broken' });
    const path = pathOf(begun);
    assert.match(begun.text, /Creating snapshot<\/td>[\s\S]*<progress max="100" value="\d+"/);
    assert.ok(refreshOf(begun.text), 'the page refreshes without scripts');
    await world.settle();
    const { text } = await panel.open(path);
    assert.match(textOf(text), /Create snapshot failed The host could not complete it\. Nothing was charged/);
    await done(path, 'delete');
  });

  it('the page of an own image shows its upload, and an official image shows no activity', async () => {
    const { api, panel, done } = at();
    const file = new Blob([new Uint8Array(isoFile())]);
    const own = await done('/images', 'upload', { name: 'own', 'arch.amd64': 'on', file });
    assert.match(textOf(own.text), /Activity .* Image uploaded succeeded/);
    const official = expectSuccess(await api.get('/images?type=official')).data[0].id;
    assert.doesNotMatch(textOf((await panel.open(`/images/${official}`)).text), /Activity/);
    await done(pathOf(own), 'delete');
  });

  it('the settings of a firewall group show its latest changes', async () => {
    const { done, panel } = at();
    const created = await done('/firewall', 'create', { name: 'watched', default_action: 'drop' });
    const path = `${pathOf(created)}/settings`;
    for (const name of ['one', 'two']) await done(path, 'change', { name });
    const { text } = await panel.open(path);
    assert.match(
      textOf(text),
      /Activity .* Change servers, name, or policy succeeded Session .* Create group/,
    );
    const id = pathOf(created).split('/').at(-1);
    assert.ok(text.includes(`<a href="/account/audit?resource=${id}">All activity of this group</a>`), text);
    await done(path, 'delete');
  });
}
