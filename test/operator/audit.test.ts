/** Every operator command that changes something leaves an audit row. A new command must be listed here. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAbuseReport } from '../../src/domain/staff/abuse/record.ts';
import { DAY_MS } from '../../src/kernel/time.ts';
import { runOperator } from '../../src/operator/run.ts';
import { postAccountAction } from '../http/account-links.ts';
import { type BackupFolder, createBackupFolder } from '../support/backups.ts';
import { ScriptedDns } from '../support/scripted-dns.ts';
import type { SessionClient } from '../support/session-client.ts';
import { totpAt } from '../support/totp.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld, topUp, type World } from '../support/world.ts';
import { addFlood, CATALOGUE_CHANGES, type Change, floodChanges, HOST_CHANGES } from './audited-edits.ts';
import { CERTIFICATE, editedCatalogue, PUBLIC_KEY, poolFile, serviceFor } from './command-inputs.ts';
import {
  COMMANDS_OF_CUSTOMERS,
  COMMANDS_OF_THE_STAFF_LOG,
  COMMANDS_THAT_READ,
} from './unaudited-commands.ts';

let world: World;
let customer: SessionClient;
let departing: SessionClient;
let serverId: string;
let withheld: readonly string[];
let address: string;
let webhookId: string;
let ticket: string;
let keyId: string;
let report: string;
let archives: BackupFolder;
let flood: string;
const TO_S2 = ['--plan', 's2', '--max-usd', '100', '--restart', '--disk'];
const NEW_DISK = () => ['--ssh-key', keyId, '--yes'];
before(async () => {
  archives = await createBackupFolder();
  world = await startWorld({ SKERRY_BACKUP_RECIPIENTS: archives.recipient });
  customer = await world.customer();
  departing = await world.customer();
  await world.addBalance(customer, 50_000n);
  const begun = await postAccountAction(customer, { action: 'enable_totp' });
  await postAccountAction(customer, { action: 'enable_totp', code: totpAt(String(begun.body.secret)) });
  const api = V1Client.forUrl(world.url, await createApiToken(customer));
  const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
  await customer.post('/deploy-api.php', { ...order, root_password: 'correct horse battery' });
  await world.settle();
  const [server] = (await api.get('/servers')).body.data;
  serverId = server.id;
  webhookId = (await api.post('/webhooks', { url: 'https://example.com', events: ['token.created'] })).body
    .id;
  ticket = (await api.post('/tickets', { subject: 'A question', text: 'How?' })).body.id;
  keyId = (await api.post('/ssh-keys', { name: 'key', public_key: PUBLIC_KEY })).body.id;
  const { db, service } = world.opened;
  const used = await db.row<{ addr: string }>(
    'select host(addr) as addr from ipv4_addresses where server_id is not null',
  );
  const event = { address: used?.addr ?? '', time: service.clock.now().toISOString() };
  report = (await createAbuseReport(service, { ...event, kind: 'spam', evidence: 'A log line' })).id;
  flood = await addFlood(service, serverId);
  const free = await db.row<{ addr: string }>(
    'select host(addr) as addr from ipv4_addresses where server_id is null limit 1',
  );
  address = free?.addr ?? '';
  await db.run(`update machines set state = 'wiping' where name = 'par-r1-1'`);
  await db.run(`insert into switches (name, on_, changed_at) values ('topup-credit', false, now())`);
  withheld = [await topUp(world, customer, 40), await topUp(world, customer, 50)];
});
after(async () => {
  await world.close();
  await archives.remove();
});

/** The order lets each command succeed. */
const CHANGES: Readonly<Record<string, Change>> = {
  'backup create': { args: () => ['--to', archives.folder], audits: 'database.backup' },
  'catalogue load': { args: () => [editedCatalogue()], audits: 'catalogue.load' },
  'incidents create': {
    args: () => ['--title', 'Slow disks', '--text', 'We look.'],
    audits: 'incident.create',
  },
  'incidents update': {
    args: () => [incidentId(), '--text', 'We found it.', '--state', 'identified'],
    audits: 'incident.update',
  },
  'incidents resolve': { args: () => [incidentId()], audits: 'incident.resolve' },
  'tickets reply': { args: () => [ticket, '--text', 'Hi.'], audits: 'ticket.answer', of: 'customer' },
  'abuse forward': { args: () => [report], audits: 'ticket.open', of: 'customer' },
  'tickets close': { args: () => [ticket], audits: 'ticket.close', of: 'customer' },
  'tickets reopen': { args: () => [ticket], audits: 'ticket.reopen', of: 'customer' },
  ...HOST_CHANGES,
  // Simulated machines have nothing to import; test/operator/images.test.ts covers its row.
  'machines add': { args: () => ['m9', '--region', 'buh', '--plan', 'r3'], audits: 'machine.add' },
  'machines remove': { args: () => ['m9'], audits: 'machine.remove' },
  'dedicated fulfil': {
    args: () => ['par-r1-2', '--customer', customer.email, '--image', 'debian-13'],
    audits: 'machine.fulfil',
  },
  'dedicated off': { args: () => ['par-r1-2'], audits: 'machine.off' },
  'dedicated on': { args: () => ['par-r1-2'], audits: 'machine.on' },
  'dedicated wipe': { args: () => ['par-r1-1', '--method', 'nvme format'], audits: 'machine.wipe' },
  'dns zones': { args: () => ['--create', '--nameserver', 'ns1.example.org'], audits: 'dns.create_zones' },
  'dns publish': { args: () => [], audits: 'dns.publish' },
  'ips add': { args: () => ['--region', 'par', '--block', '203.0.113.0/29'], audits: 'ips.add' },
  'ips block': { args: () => [address], audits: 'ips.block' },
  'ips unblock': { args: () => [address], audits: 'ips.unblock' },
  credit: {
    args: () => [customer.email, '5', '--reason', 'an apology'],
    audits: 'customer.credit',
    of: 'customer',
  },
  debit: {
    args: () => [customer.email, '5', '--reason', 'a correction'],
    audits: 'customer.debit',
    of: 'customer',
  },
  'customers set-limits': {
    args: () => [customer.email, '--limit', 'servers=60'],
    audits: 'customer.set_limits',
    of: 'customer',
  },
  'customers view': { args: () => [customer.email], audits: 'customer.view', of: 'customer' },
  'customers freeze': { args: () => [customer.email], audits: 'customer.freeze', of: 'customer' },
  'customers unfreeze': { args: () => [customer.email], audits: 'customer.unfreeze', of: 'customer' },
  'customers totp-off': { args: () => [customer.email], audits: 'customer.disable_totp', of: 'customer' },
  'customers export': { args: () => [departing.email], audits: 'customer.export', of: 'customer' },
  'customers delete': { args: () => [departing.email, '--yes'], audits: 'customer.delete', of: 'customer' },
  'servers power': { args: () => [serverId, 'reboot'], audits: 'server.reboot', of: 'customer' },
  'servers rescue': { args: () => [serverId], audits: 'server.rescue', of: 'customer' },
  'servers console': { args: () => [serverId], audits: 'server.open_console', of: 'customer' },
  'servers freeze': {
    args: () => [serverId, '--reason', 'Report 7'],
    audits: 'server.freeze',
    of: 'customer',
  },
  'abuse suspend': { args: () => [report, '--message', 'Spam'], audits: 'server.freeze', of: 'customer' },
  'servers hold': { args: () => [serverId, '--order', 'Order 17'], audits: 'server.hold', of: 'customer' },
  'servers release': {
    args: () => [serverId, '--freeze', '--hold'],
    audits: 'server.release',
    of: 'customer',
  },
  'servers move': { args: () => [serverId], audits: 'server.request_move', of: 'customer' },
  'servers resize': { args: () => [serverId, ...TO_S2], audits: 'server.resize', of: 'customer' },
  'servers rebuild': { args: () => [serverId, ...NEW_DISK()], audits: 'server.rebuild', of: 'customer' },
  'servers mail': { args: () => [serverId, 'allow'], audits: 'server.allow_mail', of: 'customer' },
  ...floodChanges(() => ({ server: serverId, flood })),
  'abuse block-mail': { args: () => [report], audits: 'server.block_mail', of: 'customer' },
  'servers delete': { args: () => [serverId, '--yes'], audits: 'server.destroy', of: 'customer' },
  'topups release': { args: () => [withheld[0] ?? ''], audits: 'topup.credit', of: 'customer' },
  'topups refund': {
    args: () => [
      ...[withheld[1] ?? '', '--to', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', '--approved-by', 'Ann'],
    ],
    audits: 'topup.refund',
    of: 'customer',
  },
  'chain import': { args: () => ['SOL', poolFile()], audits: 'chain.import' },
  'chain skip': { args: () => ['XMR', '1000'], audits: 'chain.skip' },
  'chain reread': { args: () => ['LTC', '--from', '1'], audits: 'chain.reread' },
  recover: { args: () => [], audits: 'chain.recover' },
  'webhooks pause': { args: () => [webhookId], audits: 'webhook.update', of: 'customer' },
  'plans set-price': { args: () => ['s1', '--usd-month', '8.00', '--yes'], audits: 'plan.set_price' },
  ...CATALOGUE_CHANGES,
  'coupons create': { args: () => ['SPRING', '5.00', '--uses', '10'], audits: 'coupon.create' },
  'coupons end': { args: () => ['spring'], audits: 'coupon.end' },
  'announcements create': {
    args: () => ['New disks', '--text', 'Faster.', '--until', inAMonth()],
    audits: 'announcement.create',
  },
  'announcements change': {
    args: () => [createdBy('announcements create'), '--level', 'warning'],
    audits: 'announcement.change',
  },
  'announcements end': { args: () => [createdBy('announcements create')], audits: 'announcement.end' },
  'mailings create': {
    args: () => ['New disks', '--kind', 'service', '--text', 'Faster.', '--reason', 'disks'],
    audits: 'mailing.create',
  },
  'mailings pause': { args: () => [createdBy('mailings create')], audits: 'mailing.pause' },
  'mailings resume': { args: () => [createdBy('mailings create')], audits: 'mailing.resume' },
  'mailings stop': { args: () => [createdBy('mailings create')], audits: 'mailing.stop' },
  'prices announce': { args: () => ['--plan', 's1', '--usd-month', '8.00'], audits: 'price.announce' },
  'prices cancel': { args: () => [createdBy('prices announce')], audits: 'price.cancel' },
  switch: { args: () => ['topup-credit', 'on'], audits: 'switch.set' },
  'maintenance start': {
    args: () => ['--minutes', '5', '--operation', 'servers.create'],
    audits: 'maintenance.start',
  },
  'maintenance end': { args: () => [], audits: 'maintenance.end' },
  'policy block': {
    args: () => ['--operation', 'volumes.create', '--order', 'Order 9'],
    audits: 'policy.block',
  },
  'policy unblock': { args: () => [createdBy('policy block')], audits: 'policy.unblock' },
};

const outputs = new Map<string, string>();

function incidentId(): string {
  return outputs.get('incidents create')?.split(' ')[0] ?? '';
}

function inAMonth(): string {
  return new Date(world.opened.clock.now().getTime() + 30 * DAY_MS).toISOString();
}

/** Returns the id at the start of the command's output. */
function createdBy(command: string): string {
  return outputs.get(command)?.split(':')[0] ?? '';
}

async function run(argv: readonly string[]): Promise<{ code: number; said: string }> {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const { service: opened, db } = world.opened;
  if (argv.join() === 'recover') await db.run(`insert into address_marks values ('LTC', 5000, 5000, 0)`);
  const service = argv[0] === 'dns' ? { ...opened, dns: new ScriptedDns([]) } : opened;
  const resources = {
    settings: () => [],
    database: async () => db,
    service: async () => ({
      service: serviceFor(argv, service),
      register: async () => undefined,
      carryOut: async () => undefined,
      inviter: {
        create: async () => ({ code: 'x', controlPlane: 'x', waitForHost: async () => CERTIFICATE }),
      },
      coins: null,
    }),
  };
  const terminal = { out: write, err: write, ask: async () => true };
  const code = await runOperator(argv, resources, undefined, terminal);
  return { code, said: lines.join('\n') };
}

/** Returns every command, as listed by the help texts. */
async function commands(words: readonly string[] = []): Promise<string[]> {
  const { said: help } = await run([...words, '--help']);
  const list = help.split('Commands:')[1] ?? '';
  const names = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name ?? '');
  const inner = names.filter((name) => name !== 'help').map((name) => [...words, name]);
  if (inner.length === 0) return [words.join(' ')];
  return (await Promise.all(inner.map(commands))).flat();
}

interface Row {
  readonly id: string;
  readonly action: string;
  readonly result: string;
  readonly actors: number;
  readonly ip_country: string;
  readonly customers: number;
}

async function rows(): Promise<Row[]> {
  return await world.opened.db.rows<Row>(
    `select id, action, result, num_nonnulls(actor_token, actor_session) as actors, ip_country,
            num_nonnulls(customer_id) as customers from audit_events`,
  );
}

test('every operator command is listed with its audit action', async () => {
  const others = [...COMMANDS_THAT_READ, ...COMMANDS_OF_THE_STAFF_LOG, ...COMMANDS_OF_CUSTOMERS];
  const listed = [...Object.keys(CHANGES), ...others];
  assert.deepEqual((await commands()).sort(), listed.sort());
});

test('every changing command leaves one row without an actor, also in its customer’s log', async () => {
  let known = new Set((await rows()).map(({ id }) => id));
  for (const [command, change] of Object.entries(CHANGES)) {
    const ran = await run([...command.split(' '), ...change.args()]);
    assert.equal(ran.code, 0, `${command}: ${ran.said}`);
    outputs.set(command, ran.said);
    const all = await rows();
    const made = all.filter(({ id }) => !known.has(id));
    known = new Set(all.map(({ id }) => id));
    // Rows of workers have other actions.
    const [row, ...more] = made.filter(({ action }) => action === change.audits);
    assert.deepEqual(
      [row?.result, row?.actors, row?.ip_country, row?.customers, more.length],
      ['ok', 0, 'XX', change.of === 'customer' ? 1 : 0, 0],
      `${command}: ${made.map(({ action }) => action)}`,
    );
    if (command.startsWith('servers ')) await world.settle();
  }
});
