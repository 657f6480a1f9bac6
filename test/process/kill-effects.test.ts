/** The kill scenarios together reach every driver call and every table that a kill could leave half done. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { openScratchDatabase, type ScratchDatabase } from '../support/database.ts';
import { CALLS, EFFECTS } from './kill-effects.ts';

/** Tables that no scenario has to reach, each with the reason why a kill there leaves nothing half done. */
const HARMLESS_TABLES: Readonly<Record<string, string>> = {
  abuse_files: 'written in one commit',
  abuse_reporters: 'written in one commit with its report',
  abuse_reports: 'a retry finds what was done: its ticket and its suspension are in the same commit',
  abuse_templates: 'one statement',
  address_assignments: 'written in one statement with the addresses',
  address_marks: 'the next comparison writes them again',
  address_pool: 'imported SOL addresses: taken by chain.allocate, proven in test/drivers/chain/solana',
  announcement_dismissals: 'the customer dismisses it again',
  announcements: 'written in one commit with its audit row',
  approval_inputs: 'written in one commit with its request',
  approval_requests: 'written in one commit; an interrupted act stays approved',
  staff_passkeys: 'written in one commit with the used challenge',
  approval_rules: 'written in one statement',
  attempt_buckets: 'a bucket refills',
  attempt_keys: 'the next attempt writes a new one',
  audit_anchor: 'written in one commit with the deletion that it proves',
  audit_links: 'the next run links what is left',
  floods: 'the next sample continues where the last one ended',
  blackholes: 'a blackhole is one commit with its task, and so is its end',
  availability: 'the next measurement adds the time since the last one',
  backend_files: 'the next lease continues the transfer, proven in test/drivers/compute/host/files.test.ts',
  backends: 'written in one commit with its host',
  beats: 'the heartbeat of a process',
  canned_answers: 'written in one statement',
  component_checks: 'the next measurement writes them again',
  control_plane_identities: 'the operator runs the command again',
  coupon_redemptions: 'written in one commit with its transfer',
  coupons: 'written in one commit with its audit row',
  customer_notes: 'a person writes it again: the staff log has the act as started',
  customer_tags: 'written in one commit',
  database_backups: 'the next run repeats a backup without a record',
  figures: 'the next round counts the last hours again',
  plan_payers: 'the next round counts again',
  findings: 'the reconciler writes them again',
  host_facts: 'the next round asks the hosts again',
  incident_updates: 'written in one commit with its incident',
  incidents: 'written in one commit with its audit row',
  ip_blocks: 'the operator runs the command again',
  kysely_migration: 'migrations run in one transaction',
  kysely_migration_lock: 'migrations run in one transaction',
  legal_documents: 'written in one commit',
  legal_orders: 'written in one commit',
  mail_links: 'written in one commit with its mail',
  mailing_recipients: 'a step is one commit with its mails, which the next one continues',
  mailings: 'written in one commit with its recipients and audit row',
  maintenance_windows: 'the operator runs the command again',
  metric_points: 'the next round writes them again',
  metrics: 'the next sample writes them again',
  migration_files: 'migrations run in one transaction',
  order_drafts: 'written in one commit with its audit row',
  passkeys: 'written in one commit with its audit row and mail',
  processes: 'the others remove it, proven in test/workers/take-over.test.ts',
  placed_resources: 'the call that follows is repeated, and makes the same entry',
  plan_regions: 'the operator loads the catalog again',
  plans: 'the operator loads the catalog again',
  policies: 'the operator runs the command again',
  price_changes: 'the operator loads the catalog again',
  quotes: 'the next poll writes them again',
  rate_buckets: 'a bucket refills',
  readiness: 'the next check writes it again',
  regions: 'the operator loads the catalog again',
  reset_requests: 'written in one commit with its mail',
  samplings: 'the next sample writes them again',
  saved_filters: 'written in one commit with its audit row',
  service: 'one row of settings and marks, written in one statement',
  spare_indexes: 'an index of a canceled invoice, written with it',
  staff: 'written in one commit; an act that is cut off stays started in the staff log',
  staff_log: 'written before the act, which stays started if it is cut off',
  staff_sessions: 'the person signs in again',
  staff_tokens: 'the person creates another one',
  switches: 'the operator runs the command again',
  ticket_files: 'written in one commit with its message',
  ticket_mails: 'written in one commit with the message of the mail',
  ticket_messages: 'written in one commit with its ticket, audit row, and mail',
  tickets: 'written in one commit with its audit row',
  transfers_out: 'sums of metrics, computed again every hour',
  used_challenges: 'written in one commit with what the challenge allowed',
};

const EFFECT_NAMES = new Set<string>(Object.values(EFFECTS).flat());

describe('the kill scenarios', () => {
  let scratch: ScratchDatabase;
  before(async () => {
    scratch = await openScratchDatabase();
  });
  after(() => scratch.close());

  it('reach every driver call that changes something', () => {
    const calls = Object.entries(CALLS);
    const killed = calls.filter(([, at]) => at === 'killed').map(([call]) => call);
    const reached = [...EFFECT_NAMES].filter((name) => name.includes('.'));
    assert.deepEqual(reached.sort(), killed.sort());
  });

  it('write every table, except those that a kill cannot leave half done', async () => {
    const rows = await scratch.db.rows<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
    );
    const missing = rows.map(({ name }) => name).filter((name) => !EFFECT_NAMES.has(name));
    assert.deepEqual(missing, Object.keys(HARMLESS_TABLES).sort());
  });

  it('all run: a test file has each of them', async () => {
    const folder = new URL('.', import.meta.url);
    const files = (await readdir(folder)).filter((name) => /crash.*\.test\.ts$/.test(name));
    const text = (await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')))).join('\n');
    const names = [...text.matchAll(/^\s+name: '(.+)',$/gm)].map(([, name]) => name);
    assert.deepEqual(names.sort(), Object.keys(EFFECTS).sort());
  });
});
