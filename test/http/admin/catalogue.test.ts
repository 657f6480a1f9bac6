import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { exportCatalogue } from '../../../src/domain/catalogue/export.ts';
import { compareCatalogue } from '../../../src/domain/catalogue/load.ts';
import { type FormInput, type PanelResponse, textOf } from '../../support/panel-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const PREVIEW = ['_preview', '1'] as const;
const REASON = { reason: 'a test' };

describe('the catalog in the console', () => {
  let world: StaffWorld;
  let finance: Person;
  let technician: Person;
  let owner: Person;

  before(async () => {
    world = await startStaffWorld();
    finance = await world.person('finance');
    technician = await world.person('technician');
    owner = await world.person('owner');
    const customer = await world.customer(80);
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 };
    await customer.post('/deploy-api.php', { ...order, root_password: 'a root password' });
    await world.settle();
  });
  after(() => world.close());

  const get = async (path: string): Promise<Record<string, unknown>> => {
    const { status, body } = await world.api(owner.token, 'GET', path);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };

  /** The exported catalog is a file that changes nothing. */
  const requireRoundTrip = async () => {
    const { service } = world.opened;
    const text = stringify(await exportCatalogue(service.db));
    assert.deepEqual(await compareCatalogue(service, text, { sandbox: false }), []);
  };

  /** Sees the preview, and sends the form for good. */
  const save = async (person: Person, path: string, form: string, input: FormInput = {}) => {
    const shown = await person.browser.submit(await person.browser.get(path), form, input, {
      button: PREVIEW,
    });
    const done = await person.browser.submit(shown, form, REASON);
    return { shown, done };
  };
  const requireSaved = ({ done }: { done: PanelResponse }) =>
    assert.match(done.location ?? '', /done=saved/, textOf(done.text));

  it('adds a plan that customers can order, after a preview of the difference', async () => {
    const plan = {
      ...{ id: 's9', category: 'vps', cpu: '2', cpu_model: 'A fast CPU', ram_mb: '2048', disk_gb: '40' },
      ...{
        transfer_tb: '1.5',
        price_usd_month: '9.90',
        backup_percent: '20',
        host_tags: '',
        regions: 'par zrh',
      },
    };
    const saved = await save(finance, '/plans', 'plans.create', plan);
    assert.match(
      textOf(saved.shown.text),
      /\+ plan s9: category vps, cpu 2, .*price_usd_month 9\.90.*regions par zrh/,
    );
    requireSaved(saved);
    assert.match(saved.done.location ?? '', /^\/plans\/s9/);
    const { price_usd: price, regions } = await get('/plans/s9');
    assert.deepEqual([price, regions], [9.9, ['par', 'zrh']]);
    const customer = await world.customer(80);
    const order = { product: 'vps', plan: 's9', region: 'par', os: 'debian', billing: 1 };
    const ordered = await customer.post('/deploy-api.php', { ...order, root_password: 'a root password' });
    assert.equal(ordered.body.ok, true, JSON.stringify(ordered.body));
    await requireRoundTrip();
  });

  it('changes what a plan promises, and tells whom it concerns', async () => {
    const input = { transfer_tb: '3', backup_percent: '25', regions: 'par' };
    const saved = await save(finance, '/plans/s1', 'plans.change', input);
    const text = textOf(saved.shown.text);
    assert.match(text, /~ plan s1: transfer_tb [\d.]+ → 3\.00, backup_percent \d+ → 25, regions .* → par/);
    assert.match(text, /Concerned: 1 server of 1 customer\./);
    assert.match(text, /keep their cores, memory, disk, price/);
    requireSaved(saved);
    const { transfer_tb: transfer, regions } = await get('/plans/s1');
    assert.deepEqual([Number(transfer), regions], [3, ['par']]);
    const log = await get('/staff_log?operation=plans.change');
    const [entry] = log.data as { target: string; result: string }[];
    assert.deepEqual([entry?.target, entry?.result], ['s1', 'ok']);
    await requireRoundTrip();
  });

  it('refuses new hardware for a plan with servers, and values that no file may have', async () => {
    const larger = await world.api(finance.token, 'POST', '/plans/s1/change', { ram_mb: 4096, ...REASON });
    assert.equal(larger.status, 400);
    assert.match(JSON.stringify(larger.body), /has 1 servers?, so ram_mb cannot change/);
    const wrong = { regions: ['xyz'], ...REASON };
    assert.match(
      JSON.stringify((await world.api(finance.token, 'POST', '/plans/s2/change', wrong)).body),
      /regions: region xyz is not in this file/,
    );
    const country = await world.api(technician.token, 'POST', '/regions/par/change', {
      country: 'fr',
      ...REASON,
    });
    assert.equal(country.status, 400);
    assert.match(JSON.stringify(country.body), /"field":"country"/);
    const page = await technician.browser.get('/regions/par');
    const shown = await technician.browser.submit(
      page,
      'regions.change',
      { country: 'fr' },
      { button: PREVIEW },
    );
    assert.equal(shown.status, 400);
    assert.match(shown.text, /value="fr"/);
    const known = await world.api(finance.token, 'POST', '/catalogue/preview', {
      operation: 'plans.create',
      change: { id: 's1' },
    });
    assert.match(JSON.stringify(known.body), /"field":"cpu"/);
  });

  it('refuses a change when the catalog is another one than the preview showed', async () => {
    const page = await finance.browser.get('/plans/s2');
    const input = { cpu_model: 'Another CPU' };
    const shown = await finance.browser.submit(page, 'plans.change', input, { button: PREVIEW });
    const other = { cpu_model: 'A third CPU', ...REASON };
    assert.equal((await world.api(finance.token, 'POST', '/plans/s2/change', other)).status, 200);
    const refused = await finance.browser.submit(shown, 'plans.change', REASON);
    assert.equal(refused.status, 400);
    assert.match(textOf(refused.text), /look at the preview again/);
    const same = await world.api(finance.token, 'POST', '/plans/s2/change', other);
    assert.match(JSON.stringify(same.body), /Nothing to change/);
  });

  it('retires a plan for new orders, and sells it again', async () => {
    requireSaved(await save(finance, '/plans/s1', 'plans.retire'));
    const customer = await world.customer(80);
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 };
    const refused = await customer.post('/deploy-api.php', { ...order, root_password: 'a root password' });
    assert.notEqual(refused.body.ok, true);
    assert.equal((await get('/plans/s1')).servers, 1);
    await requireRoundTrip();
    requireSaved(await save(finance, '/plans/s1', 'plans.restore'));
    const { active, regions } = await get('/plans/s1');
    assert.deepEqual([active, regions], [true, ['par']]);
    await requireRoundTrip();
  });

  it('closes a region, and opens it again with the plans that are named', async () => {
    const saved = await save(technician, '/regions/par', 'regions.close');
    assert.match(textOf(saved.shown.text), /- region par: retired.*~ plan s1: regions par → none/s);
    requireSaved(saved);
    const customer = await world.customer(80);
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 };
    const refused = await customer.post('/deploy-api.php', { ...order, root_password: 'a root password' });
    assert.notEqual(refused.body.ok, true);
    await requireRoundTrip();
    const wrong = { plans: ['s1', 'none'], ...REASON };
    assert.equal((await world.api(technician.token, 'POST', '/regions/par/open', wrong)).status, 403);
    assert.equal((await world.api(owner.token, 'POST', '/regions/par/open', wrong)).status, 400);
    requireSaved(await save(owner, '/regions/par', 'regions.open', { plans: 's1 s9' }));
    assert.deepEqual((await get('/regions/par')).plans, ['s1', 's9']);
    await requireRoundTrip();
  });

  it('adds and changes regions', async () => {
    const region = { id: 'osl', session_code: 'osl', name: 'Oslo', country: 'NO', pop_id: 'OSL1' };
    requireSaved(await save(technician, '/regions', 'regions.create', region));
    requireSaved(await save(technician, '/regions/osl', 'regions.change', { tor_onion: 'abc.onion' }));
    requireSaved(
      await save(technician, '/regions/osl', 'regions.change', { tor_onion: '', name: 'Oslo East' }),
    );
    const { name, tor_onion: onion, plans } = await get('/regions/osl');
    assert.deepEqual([name, onion, plans], ['Oslo East', null, []]);
    const again = await world.api(technician.token, 'POST', '/regions', { ...region, id: 'trd', ...REASON });
    assert.match(JSON.stringify(again.body), /session_code: osl is a duplicate/);
    await requireRoundTrip();
  });

  it('adds, deprecates, retires, and restores images', async () => {
    const image = {
      ...{ family: 'plan9', version: '4', variant: '', arch: 'amd64', size_gb: '1.5', cloud_init: 'on' },
      ...{ released_at: '2025-01-01', deprecated_at: '' },
    };
    const { done } = await save(technician, '/images', 'images.create', image);
    const [path = ''] = (done.location ?? '').split('?');
    assert.match(path, /^\/images\/img_/);
    requireSaved(await save(technician, path, 'images.change', { deprecated_at: '2026-01-02' }));
    assert.equal((await get(path)).deprecated_at, '2026-01-02');
    requireSaved(await save(technician, path, 'images.change', { deprecated_at: '' }));
    requireSaved(await save(technician, path, 'images.retire'));
    assert.equal((await get(path)).active, false);
    requireSaved(await save(technician, path, 'images.restore'));
    assert.equal((await get('/images/plan9-4')).active, true);
    const custom = { ...image, variant: undefined, family: 'custom', arch: ['amd64'], cloud_init: true };
    const refused = await world.api(technician.token, 'POST', '/images', { ...custom, ...REASON });
    assert.match(JSON.stringify(refused.body), /custom is reserved/);
    await requireRoundTrip();
  });

  it('holds an edit for a second person, and refuses it later if the catalog changed', async () => {
    await world.api(owner.token, 'POST', '/approval_rules', { operation: 'plans.retire' });
    const preview = { operation: 'plans.retire', id: 's9' };
    const { body } = await world.api(finance.token, 'POST', '/catalogue/preview', preview);
    const asked = { preview: body.code, ...REASON };
    const held = await world.api(finance.token, 'POST', '/plans/s9/retire', asked);
    assert.deepEqual([held.status, held.body.object], [202, 'approval']);
    assert.equal((await get('/plans/s9')).active, true);
    const input = { code: await world.code(owner) };
    const approved = await fill(owner.browser, `/approvals/${held.body.id}`, 'approvals.approve', input);
    assert.match(approved.location ?? '', /done=approved/, textOf(approved.text));
    assert.equal((await get('/plans/s9')).active, false);
  });
});
