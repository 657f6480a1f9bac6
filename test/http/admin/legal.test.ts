import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LEGAL_LIMITS } from '../../../src/spec/staff/legal.ts';
import { textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

interface Order {
  readonly id: string;
  readonly state: string;
  readonly authority: string;
  readonly note: string;
  readonly customer: string | null;
  readonly customer_email: string | null;
  readonly server: string | null;
  readonly due_at: string | null;
  readonly gagged: boolean;
  readonly documents: readonly { readonly id: string; readonly name: string; readonly type: string }[];
  readonly acts: readonly { readonly operation: string; readonly target: string; readonly result: string }[];
}

const PDF = Buffer.from('%PDF-1.7\n%\u00e2\n', 'latin1');

describe('legal orders', () => {
  let world: StaffWorld;
  let owner: Person;
  let customer: SessionClient;
  let server: { readonly id: string; readonly ipv4: string };

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
    customer = await world.customer(80);
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 };
    await customer.post('/deploy-api.php', { ...order, root_password: 'a root password' });
    await world.settle();
    const { body } = await world.api(owner.token, 'GET', '/servers');
    server = (body.data as (typeof server)[])[0] ?? assert.fail('there is no server');
  });
  after(() => world.close());

  const post = (path: string, body?: object) => world.api(owner.token, 'POST', path, body);
  const create = async (order: object = {}): Promise<Order> => {
    const known = { kind: 'information_request', authority: 'Court of Nowhere', reference: 'AZ 17/26' };
    const made = await post('/legal-orders', { ...known, ...order });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body as unknown as Order;
  };
  const read = async ({ id }: Pick<Order, 'id'>): Promise<Order> =>
    (await world.api(owner.token, 'GET', `/legal-orders/${id}`)).body as unknown as Order;
  const refused = async (path: string, body: object, field: string) => {
    const answer = await post(path, body);
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
    const { error } = answer.body as { error: { errors?: { field: string }[] } };
    assert.deepEqual(
      error.errors?.map((each) => each.field),
      [field],
      JSON.stringify(answer.body),
    );
  };
  const attach = (order: Order, name: string, content: Buffer) =>
    post(`/legal-orders/${order.id}/documents`, { name, content_base64: content.toString('base64') });

  it('are recorded in the console, with the customer who had an address then', async () => {
    const now = world.opened.service.clock.now().toISOString();
    const done = await fill(owner.browser, '/legal-orders', 'legal_orders.create', {
      ...{ kind: 'preservation', authority: 'Police <of> Nowhere', reference: 'P-1', due: '2099-01-31' },
      ...{ address: server.ipv4, at: now, gag_until: '2099-06-30', note: 'Only\nthe disk.' },
    });
    const path = done.location?.split('?')[0] ?? assert.fail(done.text);
    const order = await read({ id: path.split('/')[2] ?? '' });
    assert.deepEqual([order.server, order.customer_email], [server.id, customer.email]);
    assert.deepEqual([order.state, order.due_at, order.gagged], ['open', '2099-01-31T23:59:59Z', true]);
    const page = textOf((await owner.browser.get(path)).text);
    assert.match(page, /P-1 open .*Police <of> Nowhere .*do not tell the customer/s);
    const list = textOf((await owner.browser.get('/legal-orders?state=open&kind=preservation')).text);
    assert.match(list, /P-1 open Preservation/);
    assert.match(list, new RegExp(customer.email));
  });

  it('keep their text sealed: the log and the database have none in plain', async () => {
    const order = await create({ authority: 'Zebra Court', reference: 'Zebra 1', note: 'Zebra' });
    await attach(order, 'zebra.pdf', PDF);
    await post(`/legal-orders/${order.id}/change`, { note: 'Zebra two' });
    const log = JSON.stringify((await world.api(owner.token, 'GET', '/staff_log')).body);
    assert.match(log, new RegExp(order.id));
    assert.doesNotMatch(log, /zebra/i);
    for (const table of ['legal_orders', 'legal_documents', 'staff_log']) {
      const rows = await world.opened.db.rows<{ row: string }>(`select t::text as row from ${table} t`);
      assert.doesNotMatch(JSON.stringify(rows), /zebra/i);
    }
    assert.equal((await read(order)).note, 'Zebra two');
    await post(`/customers/${customer.email}/freeze`, { reason: `as ordered: ${order.id}` });
    await post(`/customers/${customer.email}/unfreeze`, { reason: 'another reason' });
    const support = await world.person('support');
    const theirs = JSON.stringify((await world.api(support.token, 'GET', '/staff_log')).body);
    assert.match(theirs, /customers\.freeze/);
    assert.doesNotMatch(theirs, /legal_orders|lgl_/);
  });

  it('and their documents are for owners only', async () => {
    const order = await create();
    await attach(order, 'order.pdf', PDF);
    const { documents } = await read(order);
    const place = `/legal-orders/${order.id}`;
    const file = `${place}/documents/${documents[0]?.id}`;
    for (const role of ['finance', 'support', 'technician', 'read_only'] as const) {
      const { token, browser } = await world.person(role, `${role}-2@host.example`);
      for (const path of ['/legal-orders', place, file, '/transparency']) {
        assert.equal((await world.api(token, 'GET', path)).status, 403, `${role} ${path}`);
        const page = await browser.get(path);
        assert.equal(page.status, 403, `${role} ${path}`);
        assert.doesNotMatch(page.text, /AZ 17|%PDF|"\/legal-orders"/);
      }
      assert.equal((await browser.get(`${place}/attach`)).status, 403);
    }
    assert.equal((await world.stranger().get(file)).location, `/sign-in?next=${encodeURIComponent(file)}`);
    const other = await create();
    const moved = `/legal-orders/${other.id}/documents/${documents[0]?.id}`;
    assert.equal((await world.api(owner.token, 'GET', moved)).status, 404);
    const download = await owner.browser.get(file);
    assert.equal(download.text, PDF.toString());
    assert.equal(download.headers.get('content-type'), 'application/pdf');
    assert.match(String(download.headers.get('content-disposition')), /^attachment; filename="order\.pdf"/);
    assert.match(String(download.headers.get('content-security-policy')), /sandbox/);
  });

  it('take documents by their content, under a clean name', async () => {
    const order = await create();
    const path = `/legal-orders/${order.id}/attach`;
    const done = await fill(owner.browser, path, 'legal_orders.attach', {
      name: '../../etc/"x\r\n.exe',
      file: new Blob([PDF]),
    });
    assert.match(done.location ?? '', /done=saved/, done.text);
    const largest = Buffer.concat([PDF, Buffer.alloc(LEGAL_LIMITS.documentMaxBytes - PDF.length)]);
    assert.equal((await attach(order, 'scan.PDF', largest)).status, 201);
    assert.equal((await attach(order, 'letter.html', Buffer.from('<b>Dear</b>'))).status, 201);
    const { documents } = await read(order);
    assert.deepEqual(
      documents.map(({ name, type }) => `${name} ${type}`),
      ['etc-x-.exe.pdf application/pdf', 'scan.pdf application/pdf', 'letter.html.txt text/plain'],
    );
    const bad = [Buffer.from('MZ\0'), Buffer.alloc(0), Buffer.concat([largest, PDF])];
    for (const content of bad) {
      const answer = await attach(order, 'x', content);
      assert.equal(answer.status, 422, JSON.stringify(answer.body));
      const form = await fill(owner.browser, path, 'legal_orders.attach', { file: new Blob([content]) });
      assert.match(form.text, /file-problem"/);
    }
    await refused(`/legal-orders/${order.id}/documents`, { content_base64: '%%%' }, 'content_base64');
    for (let n = documents.length; n < LEGAL_LIMITS.documentsMax; n++) await attach(order, 'a', PDF);
    assert.equal((await attach(order, 'a', PDF)).status, 422);
    assert.equal((await read(order)).documents.length, LEGAL_LIMITS.documentsMax);
  });

  it('list the acts whose reason has their id', async () => {
    const order = await create({ kind: 'seizure', server: server.ipv4 });
    const path = `/legal-orders/${order.id}`;
    const held = await fill(owner.browser, path, 'servers.hold', { order: 'An order of a court' });
    assert.match(held.location ?? '', /done=saved/, held.text);
    const exported = await fill(owner.browser, path, 'customers.export', {});
    assert.match(String(exported.headers.get('content-disposition')), new RegExp(`${order.id}\\.json`));
    await post(`/customers/${customer.email}/freeze`, { reason: `as ordered: ${order.id}` });
    await post(`/customers/${customer.email}/unfreeze`, { reason: 'another reason' });
    const { acts } = await read(order);
    assert.deepEqual(
      acts.map(({ operation, target, result }) => [operation, target, result]),
      [
        ['customers.freeze', order.customer, 'ok'],
        ['customers.export', order.customer, 'ok'],
        ['servers.hold', server.id, 'ok'],
      ],
    );
    assert.match(textOf((await owner.browser.get(path)).text), /Acts .*customers\.freeze.* servers\.hold/s);
    const { body } = await world.api(owner.token, 'GET', `/servers/${server.id}`);
    assert.match(JSON.stringify(body), /An order of a court/);
    await fill(owner.browser, path, 'servers.release_hold', {});
    assert.equal((await read(order)).acts[0]?.operation, 'servers.release_hold');
  });

  it('change their subject with a reason, or lose it, while they are open', async () => {
    const order = await create({ server: server.id, note: 'First.' });
    const path = `/legal-orders/${order.id}`;
    assert.deepEqual([order.server, order.customer_email], [server.id, customer.email]);
    const now = world.opened.service.clock.now().toISOString();
    const moved = await fill(owner.browser, path, 'legal_orders.set_subject', {
      ...{ address: server.ipv4, at: now, why: 'The zebra was meant.' },
    });
    assert.match(moved.location ?? '', /done=saved/, moved.text);
    const page = textOf((await owner.browser.get(path)).text);
    assert.match(page, new RegExp(`IP address ${server.ipv4}`));
    assert.match(page, /First\. .* UTC, subject changed: The zebra was meant\./s);
    const removed = await post(`${path}/subject`, { remove: true, why: 'Another person.' });
    assert.equal(removed.status, 200, JSON.stringify(removed.body));
    const { server: none, customer: account, note, ...rest } = await read(order);
    assert.deepEqual([none, account, (rest as { address?: unknown }).address], [null, null, null]);
    assert.match(note, /subject removed: Another person\.$/);
    const found = await world.api(owner.token, 'GET', `/legal-orders?customer=${customer.email}`);
    assert.ok((found.body.data as Order[]).every(({ id }) => id !== order.id));
    const log = JSON.stringify((await world.api(owner.token, 'GET', '/staff_log')).body);
    assert.match(log, /legal_orders\.set_subject/);
    assert.doesNotMatch(log, /zebra|Another person/);
    for (const [body, field] of [
      [{ why: 'x' }, 'customer'],
      [{ remove: true, customer: customer.email, why: 'x' }, 'remove'],
      [{ remove: true, why: ' ' }, 'why'],
      [{ at: now, why: 'x' }, 'at'],
      [{ address: server.ipv4, why: 'x' }, 'at'],
    ] as const) {
      await refused(`${path}/subject`, body, field);
    }
    await post(`${path}/change`, { note: 'x'.repeat(LEGAL_LIMITS.noteMaxChars) });
    await refused(`${path}/subject`, { remove: true, why: 'x' }, 'why');
    await post(`${path}/close`, { result: 'refused', note: 'No.' });
    assert.equal((await post(`${path}/subject`, { remove: true, why: 'x' })).status, 409);
  });

  it('end with a result and a note, and then their record no longer changes', async () => {
    const order = await create({ note: 'First.' });
    const path = `/legal-orders/${order.id}`;
    await refused(`${path}/close`, { result: 'complied', note: ' ' }, 'note');
    const done = await fill(owner.browser, path, 'legal_orders.close', { result: 'partly', note: 'Second.' });
    assert.match(done.location ?? '', /done=saved/, done.text);
    const closed = await read(order);
    assert.deepEqual([closed.state, closed.note], ['partly', 'First.\n\nSecond.']);
    for (const [act, body] of [
      ['close', { result: 'refused', note: 'No.' }],
      ['change', { reference: 'x' }],
    ] as const) {
      assert.equal((await post(`${path}/${act}`, body)).status, 409);
    }
    assert.equal((await attach(order, 'answer.pdf', PDF)).status, 201);
    assert.doesNotMatch((await owner.browser.get(path)).text, /value="legal_orders\.change"/);
  });

  it('refuse input that is wrong, and name the field', async () => {
    const known = { kind: 'other', authority: 'A', reference: 'R' };
    for (const [input, field] of [
      [{ authority: ' ' }, 'authority'],
      [{ reference: 'x'.repeat(201) }, 'reference'],
      [{ reference: 'a\u0007b' }, 'reference'],
      [{ due: 'soon' }, 'due'],
      [{ received: '2099-01-01' }, 'received'],
      [{ due: '2000-01-01' }, 'due'],
      [{ gag_until: '2026-13-01' }, 'gag_until'],
      [{ address: 'x', at: '2026-01-01' }, 'address'],
      [{ address: '192.0.2.1' }, 'at'],
      [{ at: '2026-01-01' }, 'at'],
      [{ customer: customer.email, at: '2026-01-01' }, 'at'],
      [{ customer: customer.email, address: '192.0.2.1' }, 'customer'],
      [{ note: 'x'.repeat(LEGAL_LIMITS.noteMaxChars + 1) }, 'note'],
      [{ kind: 'whim' }, 'kind'],
    ] as const) {
      await refused('/legal-orders', { ...known, ...input }, field);
    }
    assert.equal((await post('/legal-orders', { ...known, customer: 'no@one.example' })).status, 400);
    assert.equal((await post('/legal-orders/lgl_x/close', { result: 'refused', note: 'No.' })).status, 404);
    const strange = await create({ address: '192.0.2.1', at: '2026-01-01' });
    assert.deepEqual([strange.customer, strange.server], [null, null]);
  });

  it('never wait for a second person, who could read them', async () => {
    const rule = { operation: 'legal_orders.create' };
    assert.equal((await post('/approval_rules', rule)).status, 400);
  });

  it('are findings when they are due within three days, and afterwards', async () => {
    const { clock } = world.opened.service;
    const inDays = (days: number) => new Date(clock.now().getTime() + days * 86_400_000).toISOString();
    const soon = await create({ due: inDays(2) });
    const late = await create({ received: inDays(-9), due: inDays(-1) });
    await create({ due: inDays(5) });
    const findings = async () => {
      const { body } = await world.api(owner.token, 'GET', '/status');
      const all = body.findings as { level: string; subject: string; message: string }[];
      return all
        .filter(({ subject }) => subject === 'legal orders')
        .map(({ level, message }) => `${level} ${message.split(' ')[0]}`);
    };
    assert.deepEqual(await findings(), [`fail ${late.id}`, `warn ${soon.id}`]);
    assert.match(textOf((await owner.browser.get('/')).text), new RegExp(`legal orders ${soon.id} is due`));
    await post(`/legal-orders/${late.id}/close`, { result: 'refused', note: 'Not a court.' });
    await post(`/legal-orders/${soon.id}/change`, { due: '' });
    assert.deepEqual(await findings(), []);
  });
});
