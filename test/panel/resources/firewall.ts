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

const CHECK = { button: ['go', 'check'] } as const;

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
    const settings = `${path}/settings`;
    await done(settings, 'change', { name: 'mail hosts', default_action: 'accept' });
    const applied = await done(settings, 'apply', { [`applied_to.${web}`]: 'on' });
    assert.match(
      textOf(applied.text),
      /mail hosts 0 rules 1 server Allows other inbound traffic .* Applied to web Default .* Allow/,
    );
    assert.match(textOf(applied.text), /Clear all servers above and save the selection before you delete it/);
    assert.match(textOf((await panel.open('/firewall?name=mail hosts')).text), /mail hosts 0 1 Allow/);
    await done(settings, 'apply', { [`applied_to.${web}`]: null });
    await done(settings, 'delete');
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
    const old = await panel.open(`${path}/settings`);
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
    const old = await panel.open(path);
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

  it('a preset adds rules for IPv4 and IPv6 to the table without saving them', async () => {
    const { panel, api } = at();
    const path = await group([rule('8080')]);
    const open = await panel.open(path);
    assert.doesNotMatch(textOf(open.text), /Not saved yet/);
    const ssh = await panel.submit(open, 'rules', { n0: 'proxy' }, { button: ['go', 'preset:ssh'] });
    const ping = await panel.submit(ssh, 'rules', {}, { button: ['go', 'preset:ping'] });
    assert.match(textOf(ping.text), /Not saved yet/);
    assert.equal(portsOn(ping), '8080 22 22');
    const stored = async () => expectSuccess(await api.get(`/firewall/groups/${path.split('/')[2]}`)).rules;
    assert.equal((await stored()).length, 1);
    assert.equal((await panel.submit(ping, 'rules')).status, 303);
    assert.deepEqual(
      (await stored()).map((each: Record<string, string | null>) =>
        [each.proto, each.port, each.source, each.action, each.note].join(' '),
      ),
      [
        'tcp 8080 0.0.0.0/0 accept proxy',
        'tcp 22 0.0.0.0/0 accept SSH',
        'tcp 22 ::/0 accept SSH',
        'icmp  0.0.0.0/0 accept Ping',
        'icmp  ::/0 accept Ping',
      ],
    );
  });

  it('the packet check names the row that decides, also before rules are saved', async () => {
    const { panel } = at();
    const path = await group([{ ...rule('22'), source: '203.0.113.0/24' }, rule('443')]);
    let page = await panel.open(path);
    const check = async (packet: Record<string, string>, fields: Record<string, string> = {}) => {
      const typed = Object.entries(packet).map(([name, value]) => [`packet_${name}`, value]);
      page = await panel.submit(page, 'rules', { ...Object.fromEntries(typed), ...fields }, CHECK);
      assert.equal(page.status, 200);
      return /role="status">(.*?)<\/p>/s.exec(page.text)?.[1] ?? '';
    };
    const ssh = { direction: 'in', proto: 'tcp', address: '203.0.113.7', port: '22' };
    assert.match(textOf(await check(ssh)), /^Yes, it passes\. Row 1 is the first match\.$/);
    assert.match(page.text, /<tr class="hit"><th>1</);
    assert.match(
      textOf(await check({ address: '198.51.100.1' })),
      /^No, it is dropped\. No row matches.* Drop\.$/,
    );
    assert.match(textOf(await check({ direction: 'out' })), /^Yes, it passes\. There are no outbound rules/);
    const unsaved = { d3: 'Outbound', p3: 'Any', s3: '198.51.100.0/24', a3: 'Reject' };
    assert.match(textOf(await check({}, unsaved)), /^No, it is rejected.* Row 4 is the first match\.$/);
    assert.match(textOf(page.text), /Not saved yet/);
  });

  it('the packet check reports an invalid packet and invalid rules, and Enter checks too', async () => {
    const { panel } = at();
    const page = await panel.open(await group([rule('22')]));
    const wrong = await panel.submit(
      page,
      'rules',
      { packet_address: '10.0.0.0/8', packet_port: '0' },
      CHECK,
    );
    assert.equal(
      problemOf(wrong.text, 'packet_address', 'check'),
      'Enter an IP address, such as 203.0.113.7.',
    );
    assert.equal(problemOf(wrong.text, 'packet_port', 'check'), 'Enter a port from 1 to 65,535.');
    const packet = { packet_address: '10.0.0.1', packet_port: '22' };
    const rules = await panel.submit(page, 'rules', { ...packet, s0: '10.0.0.1' }, CHECK);
    assert.match(rules.text, /id="s0-problem">Use CIDR notation/);
    assert.match(problemOf(rules.text, 'packet_address', 'check') ?? '', /Fix the errors in the rows above/);
    const enter = { button: ['go', 'enter'] } as const;
    assert.match(textOf((await panel.submit(page, 'rules', packet, enter)).text), /Yes, it passes\./);
    assert.equal((await panel.submit(page, 'rules', { o0: '23' }, enter)).status, 200);
  });

  it('the remote address of a checked packet is sent in a body and stored nowhere', async () => {
    const { panel, world } = at();
    const page = await panel.open(await group([rule('22')]));
    const packet = { packet_address: '198.51.100.211', packet_port: '22' };
    assert.match((await panel.submit(page, 'rules', packet, CHECK)).text, /Yes, it passes/);
    const stored = await world.opened.db.rows<{ text: string }>(
      `select t::text as text from audit_events t union all select t::text from idempotency t`,
    );
    for (const { text } of stored) assert.ok(!text.includes(packet.packet_address), text);
    assert.match(page.text, /<form method="post" class="rules">/);
  });

  it('the rule editor reorders rules and saves them as shown', async () => {
    const { panel, api } = at();
    const path = await group(['1', '2', '3', '4'].map(rule));
    let page = await panel.open(path);
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
    const page = await panel.open(path);
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
    for (const page of [path, `${path}/settings`]) {
      const { text } = await panel.open(page);
      assert.ok(Buffer.byteLength(text) < 60_000, `${page}: ${Buffer.byteLength(text)}`);
    }
    const more = await panel.submit(await panel.open(path), 'rules', { o100: '1', s100: '::/0' });
    assert.match(textOf(more.text), /at most 100 rules/);
    assert.equal(portsOn(more).split(' ').length, 101);
  });

  it('an unknown server cannot be added to a group, and other customers cannot see the group', async () => {
    const { panel, other, web } = at();
    const path = await group();
    const settings = `${path}/settings`;
    const page = await panel.open(settings);
    const entries = controlsOf(page.text).flatMap(({ name, value }) =>
      value !== null && /^_(token)$/.test(name) ? [[name, value] as const] : [],
    );
    const back = await panel.post(settings, [
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
    for (const foreign of [path, settings]) assert.equal((await other.open(foreign)).status, 404);
  });
}
