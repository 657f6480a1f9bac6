import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { advanceMailings } from '../../../src/domain/customers/talking/send-mailings.ts';
import { SECOND_MS } from '../../../src/kernel/time.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

interface Mailing {
  readonly id: string;
  readonly state: string;
  readonly recipients: number;
  readonly sent: number;
  readonly left: number;
  readonly failed: number;
  readonly left_out: number;
}

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const NEWS = { kind: 'news', subject: 'New plans', text: 'Hello,\n\nwe have new plans.' };
const NOTICE = { ...NEWS, kind: 'service', subject: 'A notice' };

describe('mailings', () => {
  let world: StaffWorld;
  let support: Person;
  let customers: readonly SessionClient[];
  let tag: string;
  let tags = 0;

  before(async () => {
    // Two mails per step, every ten seconds of the service's clock, which stands still for the tests.
    world = await startStaffWorld({ SKERRY_MAILINGS_PER_MINUTE: '12' });
    support = await world.person('support');
  });
  after(() => world.close());

  /** Five new customers with confirmed addresses, whom a new tag names. */
  beforeEach(async () => {
    tags += 1;
    tag = `set-${tags}`;
    customers = await Promise.all(Array.from({ length: 5 }, () => world.customer()));
    await world.opened.db.run('update customers set email_confirmed_at = created_at');
    for (const { email } of customers) await setTags(email, [tag]);
    await world.settle();
  });

  const post = (path: string, body: object = {}) =>
    world.api(support.token, 'POST', `/mailings${path}`, body);
  const setTags = (email: string, names: readonly string[]) =>
    world.api(support.token, 'POST', `/customers/${email}/set_tags`, { tags: names });
  const start = async (order: object): Promise<Mailing> => {
    const made = await post('', { tag, reason: 'a test', ...order });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body as unknown as Mailing;
  };
  const read = async ({ id }: Mailing): Promise<Mailing> =>
    (await world.api(support.token, 'GET', `/mailings/${id}`)).body as unknown as Mailing;
  const mailsOf = async ({ email }: SessionClient, subject: string): Promise<readonly Mail[]> => {
    const response = await fetch(`${world.url}/sandbox/mails?to=${encodeURIComponent(email)}`);
    const { mails } = (await response.json()) as { mails: readonly Mail[] };
    return mails.filter((mail) => mail.subject === subject);
  };
  const countMails = async (subject: string) =>
    await Promise.all(customers.map(async (each) => (await mailsOf(each, subject)).length));
  const finish = async (mailing: Mailing): Promise<Mailing> => {
    await world.advance(120);
    const done = await read(mailing);
    assert.equal(done.state, 'done', JSON.stringify(done));
    return done;
  };

  it('send each customer of the set what the preview shows', async () => {
    const preview = await post('/preview', { ...NOTICE, tag });
    assert.equal(preview.status, 200, JSON.stringify(preview.body));
    const { recipients, first, mail, to } = preview.body as {
      recipients: number;
      to: string;
      first: { email: string }[];
      mail: Mail;
    };
    assert.equal(to, `customers tagged ${tag}`);
    assert.equal(recipients, 5);
    assert.deepEqual(first.map(({ email }) => email).sort(), customers.map(({ email }) => email).sort());
    await world.settle();
    assert.deepEqual(await countMails(NOTICE.subject), [0, 0, 0, 0, 0]);
    const late = await world.customer();
    const mailing = await start(NOTICE);
    await setTags(late.email, [tag]);
    const done = await finish(mailing);
    assert.deepEqual([done.recipients, done.sent, done.left, done.failed], [5, 5, 0, 0]);
    for (const customer of customers) {
      const [received, ...others] = await mailsOf(customer, NOTICE.subject);
      assert.equal(received?.text, mail.text);
      assert.deepEqual(others, []);
    }
    assert.deepEqual(await mailsOf(late, NOTICE.subject), []);
  });

  it('keep to the rate, and show how far they are', async () => {
    const mailing = await start({ ...NOTICE, subject: 'Slowly' });
    await world.settle();
    assert.equal(
      (await countMails('Slowly')).reduce((sum, one) => sum + one),
      2,
    );
    await world.advance(10);
    assert.equal(
      (await countMails('Slowly')).reduce((sum, one) => sum + one),
      4,
    );
    const progress = await read(mailing);
    assert.deepEqual([progress.state, progress.sent, progress.left], ['running', 2, 3]);
    const page = textOf((await support.browser.get(`/mailings/${mailing.id}`)).text);
    assert.match(page, /Recipients 5 Sent 2 Left 3/);
    await finish(mailing);
  });

  it('mail no one twice if a step is repeated or cut off', async () => {
    const { service } = world.opened;
    const mailing = await start({ ...NOTICE, subject: 'Once' });
    const at = (seconds: number) => ({
      ...service,
      clock: { now: () => new Date(service.clock.now().getTime() + seconds * SECOND_MS) },
    });
    const broken = {
      ...at(10),
      db: Object.assign(Object.create(service.db), {
        transaction: (verb: (tx: unknown) => Promise<unknown>) =>
          service.db.transaction(async (tx) => {
            await verb(tx);
            throw new Error('killed before the commit');
          }),
      }),
    };
    await assert.rejects(advanceMailings(broken), /killed/);
    // Two processes at once.
    await Promise.all([advanceMailings(at(20)), advanceMailings(at(20)), advanceMailings(at(30))]);
    await finish(mailing);
    assert.deepEqual(await countMails('Once'), [1, 1, 1, 1, 1]);
  });

  it('pause, continue, and stop', async () => {
    const mailing = await start({ ...NOTICE, subject: 'Stopped' });
    await world.settle();
    assert.equal((await post(`/${mailing.id}/pause`)).status, 200);
    await world.advance(120);
    assert.equal(
      (await countMails('Stopped')).reduce((sum, one) => sum + one),
      2,
    );
    assert.equal((await post(`/${mailing.id}/pause`)).status, 409);
    assert.equal((await post(`/${mailing.id}/resume`)).status, 200);
    await world.settle();
    const stopped = await post(`/${mailing.id}/stop`);
    assert.equal(stopped.status, 200, JSON.stringify(stopped.body));
    await world.advance(120);
    const over = await read(mailing);
    assert.deepEqual([over.state, over.sent, over.left_out, over.left], ['stopped', 4, 1, 0]);
    assert.equal(
      (await countMails('Stopped')).reduce((sum, one) => sum + one),
      4,
    );
    assert.equal((await post(`/${mailing.id}/resume`)).status, 409);
  });

  it('take mails back that the mail server does not have yet', async () => {
    await world.sandbox('faults', { driver: 'mail', operation: 'send', times: 1_000 });
    const mailing = await start({ ...NOTICE, subject: 'Taken back' });
    await world.settle();
    assert.equal((await post(`/${mailing.id}/stop`)).status, 200);
    await world.sandbox('faults', { driver: 'mail', operation: 'send', times: 0 });
    await world.advance(7_200);
    assert.deepEqual(await countMails('Taken back'), [0, 0, 0, 0, 0]);
    assert.equal((await read(mailing)).left_out, 5);
    support = await world.person('support', 'again@host.example');
  });

  it('leave out customers who were deleted midway, and go on', async () => {
    const mailing = await start({ ...NOTICE, subject: 'Deleted' });
    const owner = await world.person('owner', `owner-${tags}@host.example`);
    const [gone] = customers.slice(-1);
    assert.ok(gone);
    const deletion = { destroy_servers: false, reason: 'a test' };
    const deleted = await world.api(owner.token, 'POST', `/customers/${gone.email}/delete`, deletion);
    assert.ok(deleted.status < 300, JSON.stringify(deleted.body));
    const done = await finish(mailing);
    assert.deepEqual([done.sent, done.left_out], [4, 1]);
    assert.deepEqual(await countMails('Deleted'), [1, 1, 1, 1, 0]);
  });

  it('with news leave out customers who turned it off, and say how to do so', async () => {
    const [first, byLink, byButton] = customers as [SessionClient, SessionClient, SessionClient];
    const panel = PanelClient.forUrl(world.url, { cookie: first.cookie });
    const setNews = async (news: string) =>
      await panel.submit(await panel.get('/account'), 'news', {}, { button: ['news', news] });
    const off = await setNews('off');
    assert.match(off.location ?? '', /done=saved/, off.text);
    const mailing = await start({ ...NEWS, subject: 'First news' });
    assert.equal(mailing.recipients, 4);
    await finish(mailing);
    assert.deepEqual(await countMails('First news'), [0, 1, 1, 1, 1]);
    const linkTo = async (customer: SessionClient) => {
      const [mail] = await mailsOf(customer, 'First news');
      return /^http\S+\/news\/off\?token=\S+$/m.exec(mail?.text ?? '')?.[0] ?? assert.fail(mail?.text);
    };
    const byHand = PanelClient.forUrl(world.url);
    const path = (await linkTo(byLink)).slice(world.url.length);
    const done = await byHand.submit(await byHand.get(path), 'off', {});
    assert.match(textOf(done.text), /News is off/);
    const oneClick = (await linkTo(byButton)).replace('/news/off?', '/news/off/now?');
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
    for (const expected of [200, 200]) {
      assert.equal((await fetch(oneClick, { method: 'POST', body })).status, expected);
    }
    assert.equal((await fetch(`${oneClick}x`, { method: 'POST', body })).status, 404);
    const opened = await fetch(oneClick, { redirect: 'manual' });
    assert.equal(opened.headers.get('location'), oneClick.slice(world.url.length).replace('/now?', '?'));
    assert.equal((await byHand.get('/news/off?token=forged')).status, 404);
    const second = await start({ ...NEWS, subject: 'Second news' });
    assert.equal(second.recipients, 2);
    const notice = await start({ ...NOTICE, subject: 'For all' });
    assert.equal(notice.recipients, 5);
    for (const { id } of [second, notice]) assert.equal((await post(`/${id}/stop`)).status, 200);
    const turnedOn = await setNews('on');
    assert.match(turnedOn.location ?? '', /done=saved/);
    assert.match(textOf((await panel.get('/account/audit')).text), /customer\.set_news/);
  });

  it('never make account mails wait', async () => {
    const { service } = world.opened;
    await world.sandbox('faults', { driver: 'mail', operation: 'send', times: 1_000 });
    const mailing = await start({ ...NOTICE, subject: 'Behind' });
    await world.settle();
    const rows = await service.db.rows<{ bulk: boolean; urgent: boolean }>(
      `select bulk, urgent from mails where due_at is not null and kind = 'mailing'`,
    );
    assert.ok(rows.length > 0 && rows.every(({ bulk, urgent }) => bulk && !urgent));
    await world.sandbox('faults', { driver: 'mail', operation: 'send', times: 0 });
    await post(`/${mailing.id}/stop`);
  });

  it('find customers by what the database knows', async () => {
    const [rich, poor] = customers as [SessionClient, SessionClient];
    await world.addBalance(rich, 10_000n);
    const owner = await world.person('owner', `owner-${tags}@host.example`);
    await world.api(owner.token, 'POST', `/customers/${poor.email}/freeze`, { reason: 'a test' });
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 };
    const bought = await rich.post('/deploy-api.php', { ...order, root_password: 'a root password' });
    assert.equal(bought.body.ok, true, JSON.stringify(bought.body));
    await world.settle();
    const server = await world.opened.db.row<{ name: string }>(
      'select h.name from servers s join hosts h on h.id = s.host_id order by s.created_at desc limit 1',
    );
    const count = async (criteria: object) => {
      const { body } = await post('/preview', { ...NOTICE, tag, ...criteria });
      return body.recipients ?? JSON.stringify(body);
    };
    assert.equal(await count({ balance_above_usd: '5' }), 1);
    assert.equal(await count({ balance_below_usd: '5' }), 4);
    assert.equal(await count({ balance_below_usd: '-1.50' }), 0);
    assert.equal(await count({ frozen: 'yes' }), 1);
    assert.equal(await count({ frozen: 'no' }), 4);
    assert.equal(await count({ servers: 'yes' }), 1);
    assert.equal(await count({ servers: 'no' }), 4);
    assert.equal(await count({ region: 'par', plan: 's1', host: server?.name }), 1);
    assert.equal(await count({ plan: 's2' }), 0);
    assert.equal(await count({ confirmed: 'no' }), 0);
  });

  it('are refused with what is wrong', async () => {
    const refused: readonly (readonly [field: string, body: object])[] = [
      ['subject', { ...NOTICE, subject: 'x'.repeat(121) }],
      ['text', { ...NOTICE, text: 'x'.repeat(8_001) }],
      ['text', { ...NOTICE, text: ' \n ' }],
      ['kind', { ...NOTICE, kind: 'spam' }],
      ['region', { ...NOTICE, region: 'nowhere' }],
      ['host', { ...NOTICE, host: 'nowhere' }],
      ['plan', { ...NOTICE, plan: 'none' }],
      ['servers', { ...NOTICE, servers: 'no', region: 'par' }],
      ['balance_below_usd', { ...NOTICE, balance_below_usd: 'much' }],
    ];
    for (const [field, body] of refused) {
      for (const path of ['/preview', '']) {
        const answer = await post(path, { ...body, ...(path === '' && { reason: 'a test' }) });
        assert.equal(answer.status, 400, JSON.stringify(answer.body));
        assert.ok(JSON.stringify(answer.body).includes(`"${field}"`), JSON.stringify(answer.body));
      }
    }
    assert.equal((await post('', NOTICE)).status, 400);
    const empty = await post('', { ...NOTICE, tag: 'no-one', reason: 'a test' });
    assert.equal(empty.status, 409, JSON.stringify(empty.body));
    const technician = await world.person('technician', `technician-${tags}@host.example`);
    for (const path of ['/preview', '']) {
      const answer = await world.api(technician.token, 'POST', `/mailings${path}`, {
        ...NOTICE,
        reason: 'x',
      });
      assert.equal(answer.status, 403);
    }
  });

  it('are written in the console after a preview, and wait for approval if a rule says so', async () => {
    const ann = await world.person('support', `ann-${tags}@host.example`);
    const fields = { ...NOTICE, subject: 'From the <b>console</b>', tag };
    const fresh = await ann.browser.get('/mailings/new');
    assert.ok(!fresh.text.includes('Send mailing'));
    const previewed = await ann.browser.submit(fresh, 'mailings.preview', fields);
    assert.match(textOf(previewed.text), /5 customers.*From the <b>console<\/b>.*we have new plans/);
    assert.ok(!previewed.text.includes('<b>console'));
    const withoutReason = await ann.browser.submit(previewed, 'mailings.create', { reason: '' });
    assert.equal(withoutReason.status, 400);
    const owner = await world.person('owner', `owner-${tags}@host.example`);
    await world.api(owner.token, 'POST', '/approval_rules', { operation: 'mailings.create' });
    const held = await ann.browser.submit(withoutReason, 'mailings.create', { reason: 'new plans' });
    assert.match(held.location ?? '', /done=requested/, held.text);
    const { body } = await world.api(owner.token, 'GET', '/approvals');
    const [request] = body.data as { id: string }[];
    const code = await world.code(owner);
    const approved = await world.api(owner.token, 'POST', `/approvals/${request?.id}/approve`, { code });
    assert.equal(approved.status, 200, JSON.stringify(approved.body));
    await world.advance(120);
    assert.deepEqual(await countMails('From the <b>console</b>'), [1, 1, 1, 1, 1]);
  });
});
