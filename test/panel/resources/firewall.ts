import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PanelResponse } from '../../support/panel-client.ts';
import { problemOf, textOf } from '../../support/panel-client.ts';
import { controlsOf } from '../../support/panel-html.ts';
import { expectSuccess } from '../support/estate.ts';
import { pathOf, type ResourceFixture } from './fixture.ts';

/** Returns the ports of the rows in order, without trailing empty rows. */
function portsOn(page: PanelResponse): string {
  const cells = controlsOf(page.text).filter(({ name }) => /^o\d+$/.test(name));
  return cells
    .map(({ value }) => value || '-')
    .join(' ')
    .replace(/( -)+$/, '');
}

export function firewallPages(at: () => ResourceFixture): void {
  async function group(rules: readonly object[] = [], more: object = {}): Promise<string> {
    const body = { name: 'web', default_action: 'drop', rules, ...more };
    return `/firewall/${expectSuccess(await at().api.post('/firewall/groups', body)).id}`;
  }
  const rule = (port: string) => ({
    direction: 'in',
    proto: 'tcp',
    port,
    source: '0.0.0.0/0',
    action: 'accept',
  });

  it('a firewall group is created, changed, applied, removed from servers, and deleted', async () => {
    const { done, web, panel } = at();
    const page = await done('/firewall', 'create', { name: 'mail', default_action: 'drop' });
    const path = pathOf(page);
    await done(path, 'change', { name: 'mail hosts', default_action: 'accept' });
    const applied = await done(path, 'apply', { [`applied_to.${web}`]: 'on' });
    assert.match(
      textOf(applied.text),
      /mail hosts 0 rules 1 server Accepts other inbound traffic Applied to web/,
    );
    assert.match(textOf(applied.text), /Clear all servers above and save the selection before you delete it/);
    assert.match(textOf((await panel.open('/firewall?name=mail hosts')).text), /mail hosts 0 1 Accept/);
    await done(path, 'apply', { [`applied_to.${web}`]: null });
    await done(path, 'delete');
    assert.equal((await panel.open(path)).status, 404);
  });

  it('firewall groups with the same name are shown with their IDs', async () => {
    const { panel, api, web } = at();
    const create = async (name: string) => {
      const body = { name, default_action: 'drop', applied_to: [web] };
      return expectSuccess(await api.post('/firewall/groups', body));
    };
    const [one, other, single] = [await create('twin'), await create('twin'), await create('single')];
    for (const path of ['/firewall', `/servers/${web}/network`]) {
      const { text } = await panel.open(path);
      for (const { id } of [one, other]) assert.ok(text.includes(`>twin (${id})</a>`), path);
      assert.ok(text.includes('>single</a>'), path);
    }
    for (const { id } of [one, other, single]) {
      expectSuccess(await api.patch(`/firewall/groups/${id}`, { applied_to: [] }));
    }
  });

  it('renaming a firewall group keeps its servers, and a stale page cannot remove one', async () => {
    const { panel, api, web, db } = at();
    const path = await group();
    const id = path.split('/')[2];
    const old = await panel.open(path);
    expectSuccess(await api.patch(`/firewall/groups/${id}`, { applied_to: [db] }));
    assert.equal((await panel.submit(old, 'change', { name: ' web  hosts ' })).status, 303);
    const named = expectSuccess(await api.get(`/firewall/groups/${id}`));
    assert.deepEqual([named.name, named.applied_to], [' web  hosts ', [db]]);
    const stale = await panel.submit(old, 'apply', { [`applied_to.${web}`]: 'on' });
    assert.equal(stale.status, 409);
    assert.match(textOf(stale.text), /The group has changed since you opened it\. Review it and try again\./);
    const ticked = [...stale.text.matchAll(/name="applied_to\.(\w+)" checked/g)].map(([, server]) => server);
    assert.deepEqual(ticked, [db]);
    assert.equal((await panel.submit(stale, 'apply', { [`applied_to.${web}`]: 'on' })).status, 303);
    assert.deepEqual(expectSuccess(await api.get(`/firewall/groups/${id}`)).applied_to, [db, web]);
  });

  it('a stale rule editor cannot remove a newer rule, even after rows were moved', async () => {
    const { panel, api } = at();
    const path = await group([rule('1'), rule('2')]);
    const old = await panel.open(`${path}/rules`);
    const moved = await panel.submit(old, 'rules', {}, { button: ['go', '0:down'] });
    expectSuccess(await api.post(`/firewall/groups/${path.split('/')[2]}/rules`, rule('3')));
    const wrong = await panel.submit(moved, 'rules', { s0: '' });
    assert.equal(portsOn(wrong), '2 1');
    const stale = await panel.submit(wrong, 'rules', { s0: '::/0' });
    assert.equal(stale.status, 409);
    assert.match(textOf(stale.text), /The group has changed since you opened it/);
    assert.equal(portsOn(stale), '1 2 3');
    assert.equal((await panel.submit(stale, 'rules', { o0: '9' })).status, 303);
  });

  it('a rule is added and removed', async () => {
    const { done, refused } = at();
    const path = await group([rule('22')]);
    const wrong = await refused(path, 'add', { port: '99999', source: '10.0.0.1', note: 'x' });
    assert.equal(problemOf(wrong.text, 'port', 'add'), 'Must be at most 65,535.');
    assert.match(problemOf(wrong.text, 'source', 'add') ?? '', /Use CIDR notation/);
    const two = await done(path, 'add', { port: '443', source: '::/0', note: 'tls' });
    assert.match(textOf(two.text), /1 in tcp 22 0\.0\.0\.0\/0 accept 2 in tcp 443 ::\/0 accept tls/);
    const one = await done(path, 'remove');
    assert.match(textOf(one.text), /1 in tcp 443 ::\/0 accept tls/);
  });

  it('the rule editor reorders rules and saves them as shown', async () => {
    const { panel, api } = at();
    const path = await group(['1', '2', '3', '4'].map(rule));
    let page = await panel.open(`${path}/rules`);
    const press = async (value: string, fields = {}) => {
      page = await panel.submit(page, 'rules', fields, { button: ['go', value] });
      assert.equal(page.status, 200);
      return portsOn(page);
    };
    assert.equal(await press('0:down'), '2 1 3 4');
    assert.equal(await press('3:up', { n3: 'kept' }), '2 1 4 3');
    assert.equal(await press('1:remove'), '2 4 3');
    assert.equal(await press('move', { from: '3', to: '1' }), '3 2 4');
    assert.equal(await press('move', { from: '9', to: 'x' }), '3 2 4');
    assert.equal(await press('more', { o4: '9', s4: '::/0' }), '3 2 4 - 9');
    const before = expectSuccess(await api.get(`/firewall/groups/${path.split('/')[2]}`));
    assert.equal(before.rules.length, 4);
    const saved = await panel.submit(page, 'rules');
    assert.equal(saved.location?.split('?')[0], path);
    const { rules } = expectSuccess(await api.get(`/firewall/groups/${path.split('/')[2]}`));
    assert.deepEqual(
      rules.map((each: { port: string; note: string | null; source: string }) => [
        each.port,
        each.note,
        each.source,
      ]),
      [
        ['3', null, '0.0.0.0/0'],
        ['2', null, '0.0.0.0/0'],
        ['4', 'kept', '0.0.0.0/0'],
        ['9', null, '::/0'],
      ],
    );
  });

  it('the rule editor shows an error in its own row, even with empty rows in between', async () => {
    const { panel } = at();
    const path = await group([rule('1')]);
    const page = await panel.open(`${path}/rules`);
    const back = await panel.submit(page, 'rules', { o2: '80', s2: '', p3: 'icmp', o3: '7', s3: '::/0' });
    assert.equal(back.status, 400);
    const problems = [...back.text.matchAll(/id="(\w\d+)-problem">([^<]*)/g)].map(([, cell, text]) => [
      cell,
      text,
    ]);
    assert.deepEqual(problems, [['s2', 'Required.']]);
    const again = await panel.submit(back, 'rules', { s2: '10.0.0.0/8' });
    assert.deepEqual(
      [...again.text.matchAll(/id="(\w\d+)-problem"/g)].map(([, cell]) => cell),
      ['o3'],
    );
    assert.equal(portsOn(again), '1 - 80 7');
    assert.equal((await panel.submit(again, 'rules', { o3: '' })).status, 303);
  });

  it('a firewall group with a hundred rules has small pages', async () => {
    const { panel, web, db } = at();
    const many = Array.from({ length: 100 }, (_, index) => ({
      ...rule(`${8000 + index}-9000`),
      source: `203.0.113.${index}/32`,
      note: 'a note of some words',
    }));
    const path = await group(many, { applied_to: [web, db] });
    for (const page of [path, `${path}/rules`]) {
      const { text } = await panel.open(page);
      assert.ok(Buffer.byteLength(text) < 60_000, `${page}: ${Buffer.byteLength(text)}`);
    }
    const more = await panel.submit(await panel.open(`${path}/rules`), 'rules', { o100: '1', s100: '::/0' });
    assert.match(textOf(more.text), /at most 100 rules/);
    assert.equal(portsOn(more).split(' ').length, 101);
  });

  it('an unknown server cannot be added to a group, and other customers cannot see the group', async () => {
    const { panel, other, web } = at();
    const path = await group();
    const page = await panel.open(path);
    const entries = controlsOf(page.text).flatMap(({ name, value }) =>
      value !== null && /^_(token)$/.test(name) ? [[name, value] as const] : [],
    );
    const back = await panel.post(path, [
      ...entries.slice(0, 1),
      ...([
        ['_form', 'apply'],
        ['seen', /name="seen" value="([^"]+)"/.exec(page.text)?.[1] ?? ''],
        [`applied_to.${web}`, 'on'],
        ['applied_to.srv_x', 'on'],
      ] as const),
    ]);
    assert.equal(back.status, 422);
    assert.match(textOf(back.text), /not found\. .* choose another/);
    for (const foreign of [path, `${path}/rules`]) assert.equal((await other.open(foreign)).status, 404);
  });
}
