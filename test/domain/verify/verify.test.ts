/**
 * A world with every kind of history (credited and reversed top-ups, both kinds of servers, a refunded
 * failure, a stored response) passes, and every invariant that is violated on purpose is reported.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkInvariants, INVARIANTS, verify } from '../../../src/domain/verify/verify.ts';
import { sampleOneIn } from '../../support/runs.ts';
import { startWorld, type World } from '../../support/world.ts';
import { ACTION_BREAKS } from './action-breaks.ts';
import { createHistory } from './history.ts';
import { LOST_HOST_BREAKS } from './lost-host-breaks.ts';
import { STORAGE_BREAKS } from './storage-breaks.ts';

/** SQL that violates each invariant, like a bug might. */
const BREAKS: Record<string, readonly string[]> = {
  'transfers balance': [
    `update transfers set amount_cents = 0 where type = 'bonus'`,
    `update transfers set debit_account = credit_account where type = 'bonus'`,
    `update transfers set debit_account = gen_random_uuid() where type = 'bonus'`,
  ],
  'balances equal their transfers': [
    `update balances set balance_cents = balance_cents + 1`,
    `delete from transfers where type = 'bonus'`,
  ],
  'customers have a balance': [`delete from balances`],
  'no balance is overspent': [
    `update transfers set balance_after_cents = -1 where type = 'charge'`,
    `update balances set balance_cents = -1 where customer_id in
       (select customer_id from balances except select customer_id from transfers where type = 'reversal')`,
  ],
  'negative balances have a start': [
    `update balances set negative_since = now()`,
    `update balances set negative_since = now(), negative_check_at = now() where balance_cents >= 0`,
    `update balances set balance_cents = -1 where negative_since is null`,
  ],
  'balances after transfers form a chain': [
    `update transfers set balance_after_cents = balance_after_cents + 1 where type = 'bonus'`,
    `update transfers set booked_at = booked_at - interval '1 microsecond' where type = 'bonus'`,
    `update balances set booked_at = booked_at + interval '1 microsecond'`,
  ],
  'reversals mirror their transfers': [
    `update transfers set amount_cents = amount_cents + 1 where type = 'reversal'`,
    `update transfers set reverses = null where type = 'reversal'`,
    `update transfers set reverses = gen_random_uuid() where type = 'reversal'`,
    `update transfers set type = 'adjustment' where type = 'reversal'`,
  ],
  'deposits match their credits': [
    `update deposits set credited_cents = credited_cents + 1 where credited_cents > 0`,
    `update deposits set credit_transfer_id = gen_random_uuid() where credited_cents > 0`,
    `update deposits d set credit_transfer_id = t.reverses, credited_cents = t.amount_cents
       from transfers t where t.type = 'reversal' and t.resource_id = d.topup_id`,
  ],
  'deposits are credited once': [
    `update deposits set credit_transfer_id = null, credited_cents = null where credited_cents > 0`,
  ],
  'top-ups add up': [`update topups set credited_cents = credited_cents + 1`],
  'bonuses fit their credits': [
    `update topups set bonus_paid_cents = bonus_paid_cents + 1`,
    `update topups set bonus_transfers = '{}'`,
    `update transfers set resource_id = null where type = 'bonus'`,
  ],
  'every server is paid for': [
    `delete from transfers where type = 'charge'`,
    `update transfers set fact = 'cycle:' || resource_id || ':2' where type = 'charge'`,
  ],
  'no charge without a server': [
    `update transfers set resource_id = gen_random_uuid() where type = 'charge'`,
    `with gone as (delete from events where type = 'server.created' returning id) delete from servers`,
  ],
  'refunds fit their charges': [
    `update transfers set amount_cents = amount_cents + 1 where type = 'refund'`,
    `update transfers set fact = fact || '0' where type = 'refund'`,
    `update servers set id = t.resource_id from transfers t where t.type = 'refund' and region_id = 'zrh'`,
  ],
  'servers have creation events': [`delete from events where type = 'server.created'`],
  'creation and charge events match': [
    `delete from events where type = 'billing.charged'`,
    `delete from events where type = 'server.created'; delete from events where type = 'billing.charged'`,
  ],
  'operations fit the status': [
    `update servers set status = 'installing' where status = 'running'`,
    `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
       select gen_random_uuid(), id, 'provision', 'ensure', now(), now(), now() from servers
       on conflict do nothing`,
    `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
       select gen_random_uuid(), id, 'destroy', 'remove', now(), now(), now() from servers
       on conflict do nothing`,
    `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
       select gen_random_uuid(), id, 'rebuild', 'reinstall', now(), now(), now() from servers
       on conflict do nothing`,
    `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
       select gen_random_uuid(), id, 'start', 'wait_on', now(), now(), now() from servers
       on conflict do nothing`,
  ],
  'operations have their data': [
    `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
       select gen_random_uuid(), id, 'rescue', 'enter_rescue', now(), now(), now() from servers
       on conflict do nothing`,
    `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
       select gen_random_uuid(), id, 'provision', 'ensure', now(), now(), now() from servers
       on conflict do nothing`,
  ],
  'inserted ISO images exist': [
    `update images i set customer_id = gen_random_uuid() from servers s where s.iso_image_id = i.id`,
    `update images i set deleted_at = now() from servers s where s.iso_image_id = i.id`,
  ],
  'servers have the text of their keys': [`update servers set ssh_keys = array[gen_random_uuid()]`],
  'server counts are right': [`update balances set servers = servers + 1`],
  'install secrets are deleted': [
    `update servers set root_password_sealed = 'sealed' where status = 'running'`,
    `update servers set first_run_at = null where status = 'running'`,
  ],
  ...ACTION_BREAKS,
  'the calendar has every server': [
    `update servers set bill_at = null where status = 'running'`,
    `update servers set first_run_at = null where status = 'running'`,
  ],
  'cycles end in time': [
    `update servers set paid_until = now() - interval '3 days' where status = 'running'`,
    `update servers set bill_at = paid_until + interval '3 days' where status = 'running'`,
  ],
  'suspended servers can resume or end': [
    `update servers set status = 'suspended', suspended_reason = 'balance' where status = 'running'`,
    `update servers set suspended_at = now() where status = 'running'`,
  ],
  'legal holds prevent deletion': [
    `update servers set held_at = now(), hold_order = 'one', status = 'destroying'`,
  ],
  'frozen servers are suspended': [
    `update servers set frozen_at = now(), freeze_reason = 'one' where status = 'running'`,
  ],
  'assigned addresses have a server': [
    `delete from servers`,
    `update ipv6_prefixes set server_id = gen_random_uuid()
      where server_id is not null and region_id = 'par'`,
  ],
  'servers have their addresses': [
    `update ipv6_prefixes set server_id = null`,
    `update ipv4_addresses set server_id = null`,
    `update servers set region_id = 'buh'`,
  ],
  'the address history has every assignment': [`update address_assignments set server_id = customer_id`],
  'addresses lie in their block': [
    `update ipv4_addresses set region_id = 'buh' where region_id = 'par'`,
    `update ipv6_prefixes set block_id = (select id from ip_blocks where region_id = 'buh' and family = 6)`,
    `insert into ipv4_addresses (addr, block_id, region_id, gateway, free_from)
       select gateway, id, region_id, gateway, now() from ip_blocks where family = 4 limit 1`,
  ],
  'host usage matches servers and volumes': [
    `update hosts set used_ram_mb = used_ram_mb + 1 where name = 'par-1'`,
    `update hosts set used_disk_gb = 0, used_ram_mb = 0`,
  ],
  'no host is overcommitted': [`update hosts set used_disk_gb = disk_gb + 1 where name = 'par-1'`],
  'machines and servers agree': [
    `update machines set server_id = null`,
    `update servers set machine_id = null`,
    `update machines set plan_id = 'r2' where server_id is not null`,
    `update machines set state = 'free' where server_id is not null`,
    `update machines set off_since = now() where server_id is null`,
  ],
  'servers have a place': [
    `update servers set host_id = null`,
    `update servers set machine_id = null`,
    `update hosts set region_id = 'buh'`,
  ],
  'moves fit their servers': [
    `update moves set to_host = from_host`,
    `update moves set state = 'copying'`,
    `update servers set host_id = null where id in (select server_id from moves)`,
  ],
  'moves fit their volumes and snapshots': [`update snapshots set host_id = null`],
  'moves are continued': [
    `delete from operations where kind = 'move'`,
    `update moves set state = 'queued'`,
    `delete from moves`,
  ],
  'moved volumes are with their server': [
    `update volumes set host_id = null where server_id in (select server_id from moves)`,
  ],
  ...LOST_HOST_BREAKS,
  ...STORAGE_BREAKS,
  'groups are applied to existing servers': [
    `update firewall_groups set customer_id = gen_random_uuid()`,
    `update servers set status = 'destroying'`,
    `update firewall_attachments set server_id = gen_random_uuid()`,
  ],
  'event numbers are within their counter': [
    `update event_counters set last_seq = 1`,
    `delete from event_counters`,
  ],
  'pending deliveries are scheduled': [
    `update webhook_queues set due_at = null`,
    `update webhook_queues set due_at = due_at + interval '3 days'`,
    `update deliveries set webhook_id = gen_random_uuid() where due_at is not null`,
  ],
  'attempts are counted': [
    `update deliveries set attempt = attempt + 6`,
    `update deliveries set status = 'pending' where attempt > 1`,
  ],
  'alerts fire for servers of their customer': [`update alerts set enabled = false`],
  'alerts list servers of their customer': [`update alerts set customer_id = gen_random_uuid()`],
  'stored responses are complete': [
    `update idempotency set answer = ''`,
    `update idempotency set fingerprint = ''`,
    `update idempotency set request_id = 'x'`,
  ],
  'audit actors are plausible': [
    `update audit_events set actor_token = gen_random_uuid() where actor_session is not null`,
    `update audit_events set customer_id = null where actor_session is not null`,
  ],
  'limited tokens count their servers': [
    `update api_tokens set servers_count = servers_count + 1 where limit_chain is not null`,
  ],
  'limits of tokens are complete': [
    `update api_tokens set limits = '[]' where limit_chain is not null`,
    `update api_tokens set limit_chain = array[gen_random_uuid()] where limit_chain is not null`,
  ],
  'sealed values are bound': [
    `update webhooks set secret_sealed = 'k1.' || split_part(secret_sealed, '.', 3)`,
    `update service set key_check = 'k1.' || split_part(key_check, '.', 3)`,
  ],
  'audit links form a chain': [
    `delete from audit_links where no = 2`,
    `update audit_links set hash = sha256('x') where no = 2`,
    `update audit_links set row_hash = sha256('x') where no = 2`,
    `update audit_anchor set no = 1`,
  ],
  'audit rows match their links': [
    `update audit_events set resource = 'srv_x' where id in (select event_id from audit_links where no = 2)`,
    `update audit_events set created_at = created_at + interval '1 ms'`,
  ],
  'linked audit rows exist': [
    `delete from audit_events where id in (select event_id from audit_links where no = 2)`,
  ],
};

describe('verify', () => {
  let world: World;
  before(async () => {
    world = await startWorld({ SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true', SKERRY_RATE_CAPACITY: '1000' });
    await createHistory(world);
    // The violations take locks that workers would wait for.
    await world.runner.stop();
  });
  after(() => world.close());

  it('verify finds no violation in a world with every kind of history', async () => {
    const findings = await verify(world.opened.service);
    assert.deepEqual(
      findings.filter((finding) => finding.broken > 0n),
      [],
    );
    const unseen = findings
      .filter((finding) => finding.checked === 0n)
      .map(({ invariant }) => invariant.name);
    assert.deepEqual(unseen, [], 'every invariant checked some rows');
  });

  it('every invariant has a test that violates it', () => {
    assert.deepEqual(
      Object.keys(BREAKS),
      INVARIANTS.map((invariant) => invariant.name),
    );
  });

  for (const [name, breaks] of sampleOneIn(Object.entries(BREAKS), 3)) {
    for (const [index, sql] of breaks.entries()) {
      it(`verify reports a violation of "${name}" (${index + 1})`, async () => {
        const found = (await broken(world, sql)).find((finding) => finding.invariant.name === name);
        assert.ok(found && found.broken > 0n && found.examples.length > 0);
        assert.ok(found.examples.length <= 10);
      });
    }
  }
});

/** Returns the findings after this SQL with constraints off, and rolls back. */
async function broken(world: World, sql: string) {
  const undo = new Error('undo');
  let findings: Awaited<ReturnType<typeof verify>> = [];
  await world.opened.db
    .transaction(async (tx) => {
      await tx.run(`set local session_replication_role = replica`);
      await tx.run(`do $$ declare c record; begin
        for c in select conrelid::regclass as t, conname from pg_constraint
                  where contype in ('c', 'u') and connamespace = 'public'::regnamespace loop
          execute format('alter table %s drop constraint %I', c.t, c.conname);
        end loop; end $$`);
      let changed = 0;
      for (const statement of sql.split('; ')) changed += await tx.run(statement);
      assert.ok(changed > 0, 'the SQL changed nothing');
      findings = await checkInvariants(tx);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return findings;
}
