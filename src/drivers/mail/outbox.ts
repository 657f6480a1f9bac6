/**
 * The sandbox's outbox: every mail that a customer would have received, for people who try the service. It
 * deduplicates by id, so a mail that is sent again appears once. Stored mails are sealed, because they
 * contain links.
 */
import { parseId } from '../../kernel/ids.ts';
import type { KeyRing } from '../../kernel/secrets.ts';
import type { Database } from '../../kernel/sql.ts';
import type { Mailer, MailOutcome, OutgoingMail } from '../../ports/mail.ts';
import { SEALED } from '../../spec/sealed.ts';
import type { Faults } from '../faults.ts';

/** A mail as the outbox shows it. */
export interface ReceivedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Maximum mails kept (approximately) and returned at once. */
const STORED_MAX = 10_000n;
const CLEANUP_INTERVAL = 100n;
const SHOWN_MAX = 100;

export interface OutboxOptions {
  readonly db: Database;
  readonly keys: KeyRing;
  readonly faults: Faults;
  /** Mails are sent there, and the outbox also keeps those it accepted. */
  readonly server?: Mailer | null;
}

export class MailOutbox implements Mailer {
  readonly #options: OutboxOptions;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  async send(mail: OutgoingMail, confirmHandover: () => Promise<boolean>): Promise<MailOutcome> {
    if (await this.#options.faults.consume('mail', 'send'))
      return { outcome: 'unreachable', detail: 'simulated fault' };
    const outcome = await this.#options.server?.send(mail, confirmHandover);
    if (outcome && outcome.outcome !== 'sent') return outcome;
    await this.#store(mail);
    return { outcome: 'sent' };
  }

  close(): void {
    this.#options.server?.close();
  }

  /** Returns the newest mails, optionally to one address, oldest first. */
  async read(to: string | null): Promise<ReceivedMail[]> {
    const rows = await this.#options.db.rows<{ id: string; mail_sealed: string }>(
      to === null
        ? 'select id, mail_sealed from sim.mails order by no desc limit $1'
        : 'select id, mail_sealed from sim.mails where to_key = $2 order by no desc limit $1',
      to === null ? [SHOWN_MAX] : [SHOWN_MAX, to.toLowerCase()],
    );
    return rows
      .map(
        (row) =>
          JSON.parse(
            this.#options.keys.open(SEALED.sandboxMail, row.id, row.mail_sealed).toString(),
          ) as ReceivedMail,
      )
      .reverse();
  }

  async #store({ id, to, subject, text }: OutgoingMail): Promise<void> {
    const row = parseId('mail', id);
    if (row === undefined) throw new Error('a mail has no id');
    const sealed = this.#options.keys.seal(
      SEALED.sandboxMail,
      row,
      JSON.stringify({ to, subject, text } satisfies ReceivedMail),
    );
    const kept = await this.#options.db.row<{ no: bigint }>(
      `insert into sim.mails (id, to_key, mail_sealed) values ($1, $2, $3)
       on conflict (id) do nothing returning no`,
      [row, to.toLowerCase(), sealed],
    );
    if (!kept || kept.no % CLEANUP_INTERVAL !== 0n) return;
    await this.#options.db.run('delete from sim.mails where no <= $1', [kept.no - STORED_MAX]);
  }
}
