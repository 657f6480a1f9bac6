import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { purgeExpired } from '../../../src/domain/upkeep/retention.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import { DAY_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import { resealJob } from '../../../src/workers/jobs.ts';
import { textOf } from '../../support/panel-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

interface Approval {
  readonly id: string;
  readonly state: string;
  readonly details: Readonly<Record<string, unknown>> | null;
}

describe('the input of an act that waits for a second person', () => {
  let world: StaffWorld;
  let ann: Person;
  let ben: Person;
  let customer = '';

  before(async () => {
    world = await startStaffWorld();
    ann = await world.person('owner', 'ann@host.example');
    ben = await world.person('owner', 'ben@host.example');
    customer = (await world.customer()).email ?? '';
    for (const operation of ['customers.credit', 'customers.export']) {
      const set = await world.api(ann.token, 'POST', '/approval_rules', { operation });
      if (set.status === 202) await approve(set.body.id as string);
    }
  });
  after(() => world.close());

  async function hold(description: string): Promise<string> {
    const body = { amount_usd: '7', description, reason: 'an outage' };
    const held = await world.api(ben.token, 'POST', `/customers/${customer}/credit`, body);
    assert.equal(held.status, 202, JSON.stringify(held.body));
    return held.body.id as string;
  }
  async function approve(id: string): Promise<string> {
    const path = `/approvals/${id}/approve`;
    const done = await world.api(ann.token, 'POST', path, { code: await world.code(ann) });
    if (done.status === 403) {
      const code = await world.code(ben);
      return String((await world.api(ben.token, 'POST', path, { code })).body.state);
    }
    assert.equal(done.status, 200, JSON.stringify(done.body));
    return String(done.body.state);
  }
  const read = async (id: string) =>
    (await world.api(ann.token, 'GET', `/approvals/${id}`)).body as unknown as Approval;
  const stored = async () =>
    JSON.stringify(
      await world.opened.db.rows(
        'select a::text as request, i::text as input from approval_requests a ' +
          'left join approval_inputs i on i.request_id = a.id',
      ),
    );
  const balance = async () => (await world.api(ann.token, 'GET', `/customers/${customer}`)).body.balance_usd;

  it('is sealed in the database, and carried out as it was asked for', async () => {
    const id = await hold('Zebra');
    assert.doesNotMatch(await stored(), /zebra/i);
    assert.deepEqual((await read(id)).details, { amount_usd: '7', description: 'Zebra' });
    assert.equal(await approve(id), 'done');
    assert.equal(await balance(), 7);
  });

  it('of an approved act is compared with what the person sends again', async () => {
    const take = (reason: string) =>
      world.api(ben.token, 'POST', `/customers/${customer}/export`, { reason });
    const { body } = await take('asked');
    await approve(body.id as string);
    const taken = await take('another reason');
    assert.deepEqual([taken.status, taken.body.object], [200, 'customer_export']);
    assert.equal((await take('asked')).status, 202);
  });

  it('is sealed by a job if the previous version stored it, and can still be approved', async () => {
    const ids = [await hold('Zebra two'), await hold('Zebra three')];
    const [plain = '', other = ''] = ids.map((id) => parseId('approval', id) ?? '');
    const { body: account } = await world.api(ann.token, 'GET', `/customers/${customer}`);
    for (const id of [plain, other]) {
      await world.opened.db.run('delete from approval_inputs where request_id = $1', [id]);
      await world.opened.db.run('update approval_requests set params = $2, body = $3 where id = $1', [
        id,
        { id: account.id },
        { amount_usd: '7', description: 'Zebra two', reason: 'an outage' },
      ]);
    }
    assert.equal((await read(ids[0] ?? '')).details?.description, 'Zebra two');
    // Before the job, too.
    assert.equal(await approve(ids[1] ?? ''), 'done');
    assert.equal(await resealJob(world.opened.service).run(), 2);
    assert.doesNotMatch(await stored(), /zebra/i);
    assert.equal((await read(ids[0] ?? '')).details?.description, 'Zebra two');
    assert.equal(await approve(ids[0] ?? ''), 'done');
    assert.equal(await resealJob(world.opened.service).run(), 0);
    assert.equal(await balance(), 21);
  });

  it('is forgotten 90 days after the decision or the end, and the rest of the request is kept', async () => {
    const refused = await hold('Zebra four');
    await world.api(ann.token, 'POST', `/approvals/${refused}/refuse`);
    const expired = await hold('Zebra five');
    const forget = async (days: number) => {
      await world.advance((days * DAY_MS) / SECOND_MS);
      for await (const _ of purgeExpired(world.opened.service, 'approvalInputs'));
    };
    await forget(89);
    const owner = await world.person('owner', 'cem@host.example');
    const later = async (id: string) =>
      (await world.api(owner.token, 'GET', `/approvals/${id}`)).body as unknown as Approval;
    assert.notEqual((await later(refused)).details, null);
    await forget(2);
    assert.equal((await later(refused)).details, null);
    assert.notEqual((await later(expired)).details, null);
    await forget(3);
    const { details, state, ...rest } = await later(expired);
    assert.deepEqual([details, state], [null, 'expired']);
    const { operation, target, requested_by: by } = rest as Record<string, unknown>;
    assert.match(JSON.stringify([operation, target, by]), /credit",\s*"cus_.*ben@host\.example/);
    const { browser } = await world.person('owner', 'fay@host.example');
    const page = await browser.get(`/approvals/${refused}`);
    assert.match(textOf(page.text), /refused .*Input deleted after 90 days/s);
    assert.equal((await browser.get('/approvals')).status, 200);
  });

  it('is shown in the console to those who may perform the act', async () => {
    const owner = await world.person('owner', 'dan@host.example');
    const reader = await world.person('support', 'eve@host.example');
    const again = await fill(owner.browser, `/customers/${customer}`, 'customers.credit', {
      ...{ amount_usd: '8', description: 'Zebra six', reason: 'an outage' },
    });
    assert.ok(again.location, again.text);
    const { data } = (await world.api(owner.token, 'GET', '/approvals?state=open')).body;
    const [newest] = data as Approval[];
    assert.match(textOf((await owner.browser.get(`/approvals/${newest?.id}`)).text), /Zebra six/);
    assert.doesNotMatch((await reader.browser.get(`/approvals/${newest?.id}`)).text, /Zebra/);
  });
});
