import assert from 'node:assert/strict';
import { it } from 'node:test';
import { problemOf, textOf } from '../../support/panel-client.ts';
import { pathOf, type ResourceFixture } from './fixture.ts';

export function volumePages(at: () => ResourceFixture): void {
  it('a volume is created, attached, resized, detached, and deleted', async () => {
    const { done, web, world, panel } = at();
    const page = await done('/volumes', 'create', {
      name: 'data <b>',
      size_gb: '20',
      region: 'par',
      filesystem: 'ext4',
      encrypted: 'on',
    });
    const path = pathOf(page);
    assert.match(
      textOf(page.text),
      /data <b> detached 20 GiB Paris Size 20 GiB Region Paris Attached to detached .* File system ext4/,
    );
    const attached = await done(path, 'attach', { server: web });
    assert.match(textOf(attached.text), /Attached to web Device \/dev\/vdb/);
    assert.doesNotMatch(attached.text, /name="_form" value="delete"/);
    const larger = await done(path, 'change', { name: 'data', size_gb: '30' });
    assert.match(textOf(larger.text), /Saved\. data attached 30 GiB Paris .* Size 30 GiB/);
    await world.settle();
    const list = await panel.open(`/volumes?attached_to=${web}`);
    assert.match(textOf(list.text), /data 30 GiB Paris web/);
    assert.match(textOf((await panel.open('/volumes?name=nothing')).text), /No matching volumes/);
    await done(path, 'detach');
    await world.settle();
    assert.match(
      textOf((await done(path, 'protect', { protect_delete: 'on' })).text),
      /This volume is protected from deletion/,
    );
    await done(path, 'protect', { protect_delete: null });
    const gone = await done(path, 'delete');
    assert.match(textOf(gone.text), /Volume deleted.* No volumes yet\./);
    assert.equal((await panel.open(path)).status, 404);
  });

  it('labels of a volume are set, shown, changed, and filtered by, also on later pages', async () => {
    const { done, refused, panel, world } = at();
    const fields = { name: 'labeled', size_gb: '10', region: 'par' };
    const created = await done('/volumes', 'create', { ...fields, labels: 'env=prod\r\nnote=' });
    const path = pathOf(created);
    assert.match(textOf(created.text), /Labels env=prod note= Created/);
    const link = /href="(\/volumes\?label=[^"]+)">env=prod</.exec(created.text)?.[1] ?? '';
    assert.equal(link, `/volumes?label=${encodeURIComponent('env:prod')}`);
    assert.match(textOf((await panel.open(link)).text), /labeled 10 GiB/);
    const renamed = await done(path, 'change', { name: 'renamed' });
    assert.match(textOf(renamed.text), /Labels env=prod note= Created/);
    const changed = await done(path, 'change', { labels: 'env=test' });
    assert.match(textOf(changed.text), /Labels env=test Created/);
    assert.match(textOf((await panel.open(link)).text), /No matching volumes/);
    const wrong = await refused(path, 'change', { labels: 'A=b' });
    assert.match(problemOf(wrong.text, 'labels', 'change') ?? '', /at most 63 lowercase letters/);
    await world.opened.db.run(
      `insert into volumes (id, customer_id, name, size_gb, region_id, encrypted, labels, created_at)
       select gen_random_uuid(), customer_id, 'many-' || n, 10, region_id, false, labels, created_at
         from volumes, generate_series(1, 30) n where name = 'renamed'`,
    );
    const first = await panel.open('/volumes?label=env=test&region=par');
    const next = /<a href="([^"]*)" rel="next">/.exec(first.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
    assert.ok(next.includes(`label=${encodeURIComponent('env:test')}`), next);
    assert.equal((await panel.open(next)).text.match(/<tr><th scope="row">/g)?.length, 6);
    await world.opened.db.run(`delete from volumes where name like 'many-%'`);
    await done(path, 'delete');
  });

  it('an invalid volume is rejected on its field and keeps the input', async () => {
    const { refused, done, panel, other } = at();
    const small = await refused('/volumes', 'create', { name: '', size_gb: '5', region: 'par' });
    assert.equal(problemOf(small.text, 'name', 'create'), 'Required.');
    assert.equal(problemOf(small.text, 'size_gb', 'create'), 'Must be at least 10 GiB.');
    assert.match(small.text, /name="size_gb" type="number" value="5"/);
    const path = pathOf(await done('/volumes', 'create', { name: 'v', size_gb: '20', region: 'zrh' }));
    const shrunk = await refused(path, 'change', { size_gb: '10' });
    assert.match(problemOf(shrunk.text, 'size_gb', 'change') ?? '', /20 GiB\. Volumes can only grow/);
    assert.match(textOf(shrunk.text), /You have no servers in Zurich/);
    assert.equal((await other.open(path)).status, 404);
    const foreign = await other.submit(await panel.open(path), 'delete');
    assert.equal(foreign.status, 403);
    await done(path, 'delete');
  });

  it('a server page lists its volumes even if the account has many', async () => {
    const { done, panel, web, world } = at();
    const path = pathOf(await done('/volumes', 'create', { name: 'first', size_gb: '10', region: 'par' }));
    await done(path, 'attach', { server: web });
    await world.settle();
    const { db } = world.opened;
    await db.run(
      `insert into volumes (id, customer_id, name, size_gb, region_id, encrypted, created_at)
       select gen_random_uuid(), customer_id, 'many-' || n, 10, region_id, false,
              created_at + n * interval '1 second'
         from volumes, generate_series(1, 120) n where name = 'first'`,
    );
    const { text } = await panel.open(`/servers/${web}/storage`);
    assert.match(text, new RegExp(`href="${path}">first</a>`));
    assert.equal(text.match(/<option value="vol_\w+">many-/g)?.length, 120);
    await db.run(`delete from volumes where name like 'many-%'`);
    await done(path, 'detach');
    await world.settle();
    await done(path, 'delete');
  });

  it('a double click creates one volume', async () => {
    const { panel, world } = at();
    const page = await panel.open('/volumes');
    const fields = { name: 'twice', size_gb: '10', region: 'par' };
    const both = await Promise.all([
      panel.submit(page, 'create', fields),
      panel.submit(page, 'create', fields),
    ]);
    assert.deepEqual(both[0].location, both[1].location);
    const rows = await world.opened.db.rows(`select 1 from volumes where name = 'twice'`);
    assert.equal(rows.length, 1);
  });
}

export function snapshotPages(at: () => ResourceFixture): void {
  it('a snapshot is created, restored to another server, and deleted', async () => {
    const { done, web, db, world, panel } = at();
    const begun = await done('/snapshots', 'create', { server: web, name: 'before', labels: 'kind=x' });
    const path = pathOf(begun);
    await world.settle();
    const page = await panel.open(path);
    assert.match(
      textOf(page.text),
      /before ready web [\d.]+ GiB 20\d\d-\d\d-\d\d .* Server web Size [\d.]+ GiB/,
    );
    assert.match(
      page.text,
      /<select[^>]* name="server" required[^>]*>\s*<option value="" selected>Choose a server/,
    );
    const { api } = at();
    const id = path.split('/').at(-1) ?? '';
    const { expires_at } = (await api.patch(`/snapshots/${id}`, { expires_at: '2099-01-31T12:00:45Z' })).body;
    await done(path, 'change', { name: 'before' });
    assert.equal((await api.get(`/snapshots/${id}`)).body.expires_at, expires_at);
    const slips = [{}, { server: db }, { server: db, name_typed: 'web' }];
    for (const slip of slips) assert.equal((await panel.submit(page, 'restore', slip)).status, 400);
    const onto = await panel.submit(page, 'restore', { server: db, name_typed: 'db' });
    assert.equal(onto.location, `/servers/${db}?done=restore_begun`);
    await world.settle();
    const elsewhere = `update servers set region_id = $1 where name = 'web'`;
    await world.opened.db.run(elsewhere, ['zrh']);
    const onlyDb = await panel.open(path);
    await world.opened.db.run(elsewhere, ['par']);
    assert.deepEqual(
      [...onlyDb.text.matchAll(/<option value="(srv_\w+)"/g)].map(([, server]) => server),
      [db],
    );
    for (const filter of ['status=ready', 'label=kind%3Dx']) {
      assert.match(textOf((await panel.open(`/snapshots?${filter}`)).text), /before ready web/);
    }
    assert.match(page.text, /href="\/snapshots\?label=kind%3Ax">kind=x</);
    assert.match(textOf((await panel.open('/snapshots?label=kind%3Dy')).text), /No matching snapshots/);
    assert.match(textOf((await done(path, 'delete')).text), /Snapshot deleted\./);
    assert.equal((await panel.open(path)).status, 404);
  });

  it('an invalid snapshot is rejected on its field', async () => {
    const { refused, web, other, panel } = at();
    const past = await refused('/snapshots', 'create', { server: web, expires_at: '2001-01-01T00:00' });
    assert.equal(problemOf(past.text, 'expires_at', 'create'), 'Enter a valid time in the future, in UTC.');
    const odd = await refused('/snapshots', 'create', { server: web, expires_at: 'soon' });
    assert.doesNotMatch(textOf(odd.text), /RFC 3339|Invalid format/);
    assert.match(past.text, /value="2001-01-01T00:00"/);
    const foreign = await other.post('/snapshots', [
      ...(await tokenOf(other)),
      ...([
        ['_form', 'create'],
        ['server', web],
      ] as const),
    ]);
    assert.equal(foreign.status, 404);
    assert.equal((await panel.open('/snapshots/snap_nothing')).status, 404);
  });
}

/** Returns the CSRF field of the visitor. */
export async function tokenOf(
  panel: ResourceFixture['panel'],
): Promise<readonly (readonly [string, string])[]> {
  const page = await panel.open('/keys');
  return [['_token', /name="_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '']];
}

export function protectedServer(at: () => ResourceFixture): void {
  it('a protected server offers neither its deletion nor a rebuild until the protection is off', async () => {
    const { panel, done, web } = at();
    const [settings, rebuild] = [`/servers/${web}/settings`, `/servers/${web}/rebuild`];
    // Pages that are opened before.
    const [toDestroy, toRebuild] = [await panel.open(settings), await panel.open(rebuild)];
    const on = await done(settings, 'protect', { protect_delete: 'on', protect_rebuild: 'on' });
    assert.match(textOf(on.text), /protected from deletion\. Turn the protection off above first/);
    assert.doesNotMatch(on.text, /value="destroy"/);
    assert.match(textOf((await panel.open(rebuild)).text), /protected from rebuild.*its settings/);
    assert.equal((await panel.submit(toDestroy, 'destroy', { name_typed: 'web' })).status, 409);
    assert.equal((await panel.submit(toRebuild, 'rebuild', {})).status, 409);
    const off = await done(settings, 'protect', { protect_delete: null, protect_rebuild: null });
    assert.match(off.text, /value="destroy"/);
  });
}
