import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONSOLE_PAGES } from '../../../src/http/admin/console-pages.ts';
import { ADMIN_ROUTES } from '../../../src/http/admin/routes.ts';
import { createOutput } from '../../../src/operator/format/output.ts';
import { buildProgram } from '../../../src/operator/run.ts';
import { mayPerform, STAFF_OPERATION_IDS, STAFF_OPERATIONS } from '../../../src/spec/staff/operations.ts';
import { STAFF_ROLES } from '../../../src/spec/staff/roles.ts';
import { type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

/** Bodies without the reason. They reach the verb, which may refuse them. */
const BODIES: Readonly<Record<string, object>> = {
  'customers.credit': { amount_usd: '1.00', description: 'goodwill' },
  'customers.debit': { amount_usd: '1.00', description: 'correction' },
  'customers.add_note': { text: 'a note' },
  'customers.delete_note': { note: 'cnt_x' },
  'customers.set_tags': { tags: ['vip'] },
  'customers.set_limits': { servers: 60 },
  'customers.delete': { destroy_servers: false },
  'servers.power': { action: 'reboot' },
  'servers.resize': { plan: 's2', max_price_usd: 10 },
  'servers.freeze': { message: 'abuse' },
  'servers.hold': { order: 'order 1' },
  'servers.set_mail': { allowed: true },
  'tickets.reply': { text: 'Hello.' },
  'tickets.note': { text: 'Hello.' },
  'tickets.assign': { assignee: 'nobody@host.example' },
  'abuse_reports.create': { kind: 'spam', address: '192.0.2.1', time: '2020-01-01T00:00:00Z', evidence: 'x' },
  'abuse_reports.attach': { name: 'a.txt', content_base64: 'YQ==' },
  'abuse_reports.remove_file': { file: 'abf_x' },
  'abuse_reports.suspend': { message: 'Spam' },
  'abuse_reports.close': { result: 'fixed' },
  'abuse_templates.set': { text: 'Hello.', deadline_hours: 24 },
  'floods.blackhole': { minutes: 30 },
  'servers.blackhole': { address: 'both', minutes: 30 },
  'canned_answers.set': { name: 'hello', text: 'Hello.' },
  'incidents.create': { title: 'Slow disks', text: 'We look.' },
  'incidents.announce': {
    ...{ title: 'New disks', text: 'Planned.' },
    ...{ from: '2099-01-01T00:00:00Z', until: '2099-01-01T01:00:00Z' },
  },
  'incidents.update': { text: 'We look.' },
  'incidents.resolve': { text: 'Fixed.' },
  'announcements.create': { title: 'New disks', text: 'Faster.', until: '2020-01-01T00:00:00Z' },
  'announcements.change': { level: 'warning' },
  'mailings.preview': { kind: 'service', subject: 'New disks', text: 'Faster.' },
  'mailings.create': { kind: 'service', subject: 'New disks', text: 'Faster.', tag: 'none' },
  'legal_orders.create': { kind: 'other', authority: 'Court', reference: 'r 1' },
  'legal_orders.change': { reference: 'r 2' },
  'legal_orders.set_subject': { remove: true, why: 'It was wrong.' },
  'legal_orders.attach': { name: 'a.txt', content_base64: 'YQ==' },
  'legal_orders.close': { result: 'complied', note: 'Done.' },
  'maintenance.start': { operation: 'images.delete', minutes: 1 },
  'policies.block': { operation: 'images.delete', order: 'order 1' },
  'switches.set': { state: 'on' },
  'topups.refund': { to: 'nowhere' },
  'topups.mark_refunded': { txid: 'x' },
  'plans.set_price': { price_usd: '0', was_usd: '1' },
  'plans.announce_price': { price_usd: '0' },
  'plans.cancel_price': { announcement: 'prc_x' },
  'plans.create': {
    ...{ id: 's9', category: 'vps', cpu: 1, cpu_model: 'A CPU', ram_mb: 1024, disk_gb: 10 },
    ...{ transfer_tb: '1', price_usd_month: '9' },
  },
  'regions.create': { id: 'osl', session_code: 'osl', name: 'Oslo', country: 'NO', pop_id: 'OSL1' },
  'images.create': {
    ...{ family: 'plan9', version: '4', arch: ['amd64'], size_gb: '1.5', cloud_init: false },
    released_at: '2025-01-01',
  },
  'coupons.create': { coupon_code: 'WELCOME', amount_usd: '5', max_uses: 10 },
  'coins.skip_addresses': { count: 1 },
  'coins.reread': { height: 0 },
  'coins.import_addresses': { addresses: 'x' },
  'hosts.add': { name: 'new', region: 'par', cores: 8, ram_mb: 4096, disk_gb: 100 },
  'hosts.invite': {
    ...{ name: 'new', region: 'par', cores: 8, ram_mb: 4096, disk_gb: 100 },
    address: 'new.example:7443',
  },
  'hosts.move_all': { at_once: 2 },
  'hosts.resize': { cores: 8, ram_mb: 4096, disk_gb: 100 },
  'hosts.lose': { servers: 'refund', confirm: 'nobody@example.org' },
  'machines.add': { name: 'm9', region: 'par', plan: 'r1' },
  'machines.fulfill': { customer: 'nobody@example.org', image: 'debian-13', months: '1' },
  'machines.record_power': { power: 'off' },
  'machines.record_wipe': { method: 'nvme format' },
  'addresses.add': { region: 'par', block: '203.0.113.0/29' },
  'addresses.block': { range: '203.0.113.1' },
  'addresses.unblock': { range: '203.0.113.1' },
  'staff.invite': { email: 'new@host.example', name: 'New', role: 'support' },
  'staff.set_role': { role: 'support' },
  'staff_tokens.create': { name: 'another', code: '000000' },
};

describe('the roles of staff', () => {
  let world: StaffWorld;
  const people = new Map<string, Person>();

  before(async () => {
    world = await startStaffWorld();
    for (const role of STAFF_ROLES) people.set(role, await world.person(role));
  });
  after(() => world.close());

  for (const role of STAFF_ROLES) {
    it(`lets ${role} perform what its row of the table allows, and nothing else`, async () => {
      const token = people.get(role)?.token ?? '';
      for (const route of ADMIN_ROUTES) {
        const { needsReason, changes } = STAFF_OPERATIONS[route.id];
        const body = { ...BODIES[route.id], ...(needsReason && { reason: 'a test' }) };
        const path = route.path.replace('{id}', 'nobody@example.org');
        const hasNoBody = !changes || Object.keys(body).length === 0;
        const answer = await world.api(token, route.method, path, hasNoBody ? undefined : body);
        if (mayPerform(role, route.id)) assert.notEqual(answer.status, 403, `${role} ${route.id}`);
        else assert.equal(answer.status, 403, `${role} ${route.id}: ${JSON.stringify(answer.body)}`);
        assert.ok(answer.status < 500, `${role} ${route.id}: ${JSON.stringify(answer.body)}`);
      }
    });
  }

  it('offers each operation as an endpoint and as a command', () => {
    assert.deepEqual(ADMIN_ROUTES.map(({ id }) => id).sort(), [...STAFF_OPERATION_IDS].sort());
    const terminal = createOutput({ out: () => {}, err: () => {}, ask: null });
    const context = { resources: {} as never, terminal };
    const program = buildProgram(context, () => undefined);
    for (const id of STAFF_OPERATION_IDS) {
      const words = STAFF_OPERATIONS[id].command.split(' ');
      let command = program;
      for (const word of words) {
        const found = command.commands.find((each) => each.name() === word);
        assert.ok(found, `skerryd ${words.join(' ')} performs ${id}`);
        command = found;
      }
    }
  });

  it('offers each act as a form of the console', () => {
    const offered = CONSOLE_PAGES.flatMap(({ forms = {} }) =>
      Object.values(forms).flatMap((form) => ('operation' in form ? [form.operation] : [])),
    );
    const acts = STAFF_OPERATION_IDS.filter((id) => STAFF_OPERATIONS[id].changes);
    assert.deepEqual([...new Set(offered)].sort(), [...acts].sort());
  });
});
