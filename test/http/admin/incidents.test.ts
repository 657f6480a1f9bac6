import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatRfc3339, HOUR_MS } from '../../../src/kernel/time.ts';
import { textOf } from '../../support/panel-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

describe('incidents in the console', () => {
  let world: StaffWorld;
  let technician: Person;
  let finance: Person;

  const api = async (method: string, path: string, body?: object) =>
    await world.api(technician.token, method, `/incidents${path}`, body);
  const statusPage = async () => textOf(await (await fetch(`${world.url}/status`)).text());
  const inHours = (hours: number) =>
    formatRfc3339(new Date(world.opened.service.clock.now().getTime() + hours * HOUR_MS));
  const titles = async (query = '') => {
    const { body } = await api('GET', query);
    return (body.data as { title: string }[]).map(({ title }) => title);
  };

  before(async () => {
    world = await startStaffWorld();
    technician = await world.person('technician');
    finance = await world.person('finance');
  });
  after(() => world.close());

  it('publishes, updates, and resolves an incident with forms, and shows it to customers', async () => {
    const { browser } = technician;
    const published = await fill(browser, '/incidents', 'incidents.create', {
      ...{ title: 'Slow disks', components: 'region:par, payments', state: 'investigating' },
      text: 'We look into it.',
    });
    const path = /^\/incidents\/inc_\w+/.exec(published.location ?? '')?.[0] ?? assert.fail(published.text);
    assert.match(published.location ?? '', /done=published$/);
    assert.match(await statusPage(), /Slow disks investigating/);
    const updated = await fill(browser, path, 'incidents.update', {
      ...{ state: 'identified', components: 'region:par', text: 'A switch is broken.' },
    });
    assert.equal(updated.location, `${path}?done=published`, textOf(updated.text));
    const page = textOf((await browser.get(path)).text);
    assert.match(page, /A switch is broken\.[\s\S]*We look into it\./);
    const seen = await statusPage();
    assert.match(seen, /Slow disks identified/);
    assert.match(seen, /A switch is broken\./);
    await fill(browser, path, 'incidents.resolve', { text: 'Replaced.' });
    const { body } = await world.api(finance.token, 'GET', path);
    assert.deepEqual([body.object, body.state, body.components], ['incident', 'resolved', ['region:par']]);
    assert.doesNotMatch(await statusPage(), /Slow disks/);
  });

  it('announces maintenance, moves its end, and cancels it', async () => {
    const plan = { title: 'New disks', text: 'Planned.', from: inHours(1), until: inHours(3) };
    const announced = await api('POST', '/announce', plan);
    assert.deepEqual([announced.status, announced.body.state], [201, 'scheduled']);
    const path = `/${announced.body.id}`;
    assert.match(await statusPage(), /New disks scheduled/);
    const form = await technician.browser.get(`/incidents${path}`);
    assert.doesNotMatch(form.text, /name="state"/);
    const until = inHours(5);
    const moved = await fill(technician.browser, `/incidents${path}`, 'incidents.update', {
      ...{ until, components: '', text: 'Takes longer.' },
    });
    assert.equal(moved.location, `/incidents${path}?done=published`, textOf(moved.text));
    assert.equal((await api('GET', path)).body.ends_at, until);
    const canceled = await api('POST', `${path}/resolve`, { text: 'Not needed.' });
    assert.equal(canceled.body.state, 'canceled');
    assert.equal((await api('POST', `${path}/resolve`, { text: 'Again.' })).status, 400);
  });

  it('lists what is not over first, and then the newest, page by page', async () => {
    const publish = async (title: string) => (await api('POST', '', { title, text: 'b' })).body.id;
    const older = await publish('Older');
    const newer = await publish('Newer');
    await api('POST', `/${newer}/resolve`, { text: 'Over.' });
    assert.deepEqual(await titles(), ['Older', 'New disks', 'Newer', 'Slow disks']);
    assert.deepEqual(await titles('?open=true'), ['Older']);
    assert.deepEqual(await titles('?limit=1'), ['Older']);
    assert.deepEqual(await titles(`?limit=2&before=${older}`), ['New disks', 'Newer']);
    assert.deepEqual(await titles('?before=nonsense'), []);
  });

  it('names the field of incorrect input, and the components that exist', async () => {
    const create = { title: 'a', text: 'b' };
    const faults = [
      [{ ...create, title: '' }, 'title'],
      [{ ...create, text: 'x'.repeat(5_001) }, 'text'],
      [{ ...create, state: 'resolved' }, 'state'],
      [{ ...create, components: Array(101).fill('panel') }, 'components'],
      [{ ...create, from: inHours(1) }, 'from'],
    ] as const;
    for (const [body, field] of faults) {
      const { status, body: answer } = await api('POST', '', body);
      assert.equal(status, 400, field);
      assert.match(JSON.stringify(answer), new RegExp(`"field":"${field}"`));
    }
    const other = await api('POST', '', { ...create, components: ['disk'] });
    assert.match(JSON.stringify(other.body), /A component is one of panel/);
    const plan = { ...create, from: inHours(2), until: inHours(1) };
    assert.match(JSON.stringify((await api('POST', '/announce', plan)).body), /must end after it begins/);
    const never = await api('POST', '/announce', { ...plan, from: '2026-02-30T00:00:00Z' });
    assert.match(JSON.stringify(never.body), /"field":"from"/);
    assert.equal((await api('POST', '/inc_x/update', { text: 'b' })).status, 404);
    assert.equal((await api('GET', '/inc_x')).status, 404);
    assert.equal((await world.api(finance.token, 'POST', '/incidents', create)).status, 403);
  });

  it('keeps the acts in the staff log and in the audit log', async () => {
    const { body } = await world.api(technician.token, 'GET', '/staff_log?limit=200');
    const entries = body.data as { operation: string; target: string | null; details: object | null }[];
    const update = entries.find(
      ({ operation, target }) => operation === 'incidents.update' && target !== null,
    );
    assert.match(update?.target ?? '', /^inc_/);
    assert.doesNotMatch(JSON.stringify(entries), /Takes longer/);
    const audit = await world.api(technician.token, 'GET', `/audit?resource=${update?.target}`);
    assert.match(JSON.stringify(audit.body), /incident\.update/);
  });
});
