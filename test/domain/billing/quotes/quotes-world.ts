/** A plan whose price a test changes, a customer who can pay, and the books that quotes are compared with. */
import assert from 'node:assert/strict';
import { quoteObject } from '../../../../src/domain/billing/quotes/object.ts';
import { type QuotedPrice, type QuoteRequest, quote } from '../../../../src/domain/billing/quotes/quote.ts';
import { sweepCalendar } from '../../../../src/domain/billing/sweep.ts';
import type { ScopedActor } from '../../../../src/domain/context.ts';
import { credit } from '../../../../src/domain/ledger/transfer.ts';
import { createServer } from '../../../../src/domain/servers/deploy/create.ts';
import { resizePayload } from '../../../../src/domain/servers/operations/step-inputs.ts';
import { getServer } from '../../../../src/domain/servers/read.ts';
import { keepNewPlan } from '../../../../src/domain/servers/resize/end.ts';
import { resizeServer } from '../../../../src/domain/servers/resize/resize.ts';
import { replaceBackupPolicy } from '../../../../src/domain/snapshots/backups/policy.ts';
import { createSshKey } from '../../../../src/domain/ssh-keys/change.ts';
import { formatId, newId, parseId } from '../../../../src/kernel/ids.ts';
import type { BackupPolicy, BackupPolicyBody } from '../../../../src/spec/schemas/backup-policy.ts';
import type { Quote } from '../../../../src/spec/schemas/quote.ts';
import type { Server, ServerBody } from '../../../../src/spec/schemas/server.ts';
import type { ResizeBody } from '../../../../src/spec/schemas/server-actions.ts';
import { readBalance } from '../../../../src/store/ledger/ledger.ts';
import { setServerInstalled } from '../../../../src/store/servers/installed.ts';
import { findServerOperation } from '../../../../src/store/servers/operations.ts';
import { lockServer, setServerStatus } from '../../../../src/store/servers/servers.ts';
import { S1 } from '../../../support/fixtures.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY me';
const STOCK = 20;

/** One entry of the ledger, as a quote predicts it. */
export interface Entry {
  readonly description: string;
  /** Negative: it came back. */
  readonly amount_usd: number;
}

export class QuotesWorld {
  readonly world: TestService;
  readonly body: ServerBody;
  actor: ScopedActor;

  private constructor(world: TestService, actor: ScopedActor, body: ServerBody) {
    this.world = world;
    this.actor = actor;
    this.body = body;
  }

  static async open(balanceCents = 10_000n): Promise<QuotesWorld> {
    const world = await startTestService();
    const { fixtures, service } = world;
    await world.db.run(`insert into service (mode, key_check) values ('sandbox', 'of a test')`);
    await fixtures.addPlans(['par'], [S1, ...['s2', 's3'].map((id) => ({ ...S1, id }))]);
    await fixtures.addHosts([STOCK]);
    await fixtures.addAddresses(STOCK);
    const actor = await fixtures.addCustomer(balanceCents);
    const key = await createSshKey(service, actor, { name: 'mine', public_key: PUBLIC_KEY });
    const image = await world.db.row<{ id: string }>('select id from images');
    return new QuotesWorld(world, actor, {
      name: 'web-1',
      plan: 's1',
      region: 'par',
      image: formatId('image', image?.id ?? ''),
      ssh_keys: [key.id],
    });
  }

  async setPrice(monthCents: bigint, plan = 's1'): Promise<void> {
    await this.world.db.run('update plans set price_cents_month = $1 where id = $2', [monthCents, plan]);
  }

  async setBackupShare(percent: number, plan = 's1'): Promise<void> {
    await this.world.db.run('update plans set backup_percent = $1 where id = $2', [percent, plan]);
  }

  async setBackups(shown: string, body: BackupPolicyBody): Promise<BackupPolicy> {
    return await replaceBackupPolicy(this.world.service, this.actor, shown, body);
  }

  async quote(
    operation: QuoteRequest['operation'],
    about: { readonly resource?: string; readonly params?: object } = {},
  ): Promise<QuotedPrice> {
    const { resource = null, params = {} } = about;
    return await quote(this.world.service, this.actor, { operation, resource, params });
  }

  /** Returns the quote as the token's scope sees it, without the refusal. */
  async shown(...asked: Parameters<QuotesWorld['quote']>): Promise<ReturnType<typeof quoteObject>> {
    return quoteObject(await this.quote(...asked), this.actor.scope);
  }

  async create(wanted: Partial<ServerBody> = {}): Promise<Server> {
    return await createServer(this.world.service, this.actor, { ...this.body, ...wanted });
  }

  async pay(cents: bigint): Promise<void> {
    const { db, clock } = this.world;
    const { customerId } = this.actor;
    const gift = { customerId, amountCents: cents, fact: `gift:${newId(new Date())}`, description: 'a gift' };
    await credit(db, { ...gift, account: 'adjustments', type: 'adjustment' }, clock.now());
  }

  async balance(): Promise<bigint> {
    return await readBalance(this.world.db, this.actor.customerId);
  }

  /** Returns the entries that the work booked for the customer, oldest first. */
  async booked(work: () => Promise<unknown>): Promise<Entry[]> {
    const { db } = this.world;
    const { customerId } = this.actor;
    // As text: a Date has no microseconds.
    const last = 'select max(booked_at)::text as at from transfers where customer_id = $1';
    const before = await db.row<{ at: string }>(last, [customerId]);
    await work();
    const rows = await db.rows<{ description: string; cents: bigint }>(
      `select description,
              case when debit_account = customer_id then amount_cents else -amount_cents end as cents
         from transfers where customer_id = $1 and booked_at > $2::timestamptz order by booked_at`,
      [customerId, before?.at],
    );
    return rows.map(({ description, cents }) => ({ description, amount_usd: Number(cents) / 100 }));
  }

  /** Counts the install as done, without a machine. */
  async install(shown: string): Promise<void> {
    const id = parseId('server', shown) ?? assert.fail(shown);
    await setServerInstalled(this.world.db, { id, onNewDisk: false, now: this.world.clock.now() });
    await this.endOperation(shown);
  }

  /** Counts the start of a suspended server as done. */
  async powerOn(shown: string): Promise<void> {
    const id = parseId('server', shown) ?? assert.fail(shown);
    await setServerStatus(this.world.db, { id, status: 'running', now: this.world.clock.now() });
    await this.endOperation(shown);
  }

  /** Resizes a server that runs, and counts the resize as done. */
  async resize(shown: string, body: ResizeBody): Promise<Server> {
    const { service, db, clock } = this.world;
    await resizeServer(service, this.actor, shown, { restart: true, ...body });
    await db.transaction(async (tx) => {
      const server = (await lockServer(tx, parseId('server', shown) ?? '')) ?? assert.fail(shown);
      const operation = await findServerOperation(tx, server.id);
      assert.equal(operation?.kind, 'resize');
      await keepNewPlan(tx, server, resizePayload(service, operation), clock.now());
    });
    await this.endOperation(shown);
    return await getServer(service, this.actor, shown);
  }

  async endOperation(shown: string): Promise<void> {
    const id = parseId('server', shown);
    await this.world.db.run('delete from operations where server_id = $1', [id]);
    await this.world.db.run('delete from actions where resource_id = $1', [id]);
  }

  /** Runs the billing calendar until nothing is due. */
  async bill(): Promise<void> {
    for (let n = 0; n < 100 && (await sweepCalendar(this.world.service)) > 0; n++);
  }

  async announce(monthCents: bigint, effectiveAt: Date): Promise<void> {
    await this.world.db.run(
      `insert into price_changes (id, plan_id, old_price_cents_month, price_cents_month, announced_at,
                                  effective_at, told_at)
       values ($id, 's1', 1, $monthCents, $now, $effectiveAt, $now)`,
      { id: newId(new Date()), monthCents, effectiveAt, now: this.world.clock.now() },
    );
  }

  /** Removes the servers and announcements, and frees the stock for any time. */
  async clear(): Promise<void> {
    const { db } = this.world;
    for (const table of ['ipv4_addresses', 'ipv6_prefixes'])
      await db.run(`update ${table} set server_id = null, free_from = '2020-01-01'`);
    await db.run('update hosts set used_ram_mb = 0, used_disk_gb = 0');
    const tables = ['operations', 'actions', 'tasks', 'price_changes', 'address_assignments', 'servers'];
    for (const table of tables) await db.run(`delete from ${table}`);
    await db.run('update balances set servers = 0, moved = false, debited = false');
  }
}

/** The lines of a quote, as entries. */
export function linesOf({ lines }: Pick<Quote, 'lines'>): Entry[] {
  return lines.map(({ description, amount_usd }) => ({ description, amount_usd }));
}
