/** The dependencies of every domain function: the service's parts, and the actor. */
import type { Clock } from '../kernel/clock.ts';
import type { KeyedMutex } from '../kernel/keyed-mutex.ts';
import type { Logger } from '../kernel/logger.ts';
import type { PasswordHasher } from '../kernel/passwords.ts';
import type { KeyRing } from '../kernel/secrets.ts';
import type { Quotas } from '../kernel/settings/lists.ts';
import type { Database, Sql } from '../kernel/sql.ts';
import type { Fleet } from '../ports/backends.ts';
import type { BlobStore } from '../ports/blobs.ts';
import type { ChainDriver } from '../ports/chain.ts';
import type { ComputeDriver } from '../ports/compute.ts';
import type { ReverseDns } from '../ports/dns.ts';
import type { Mailer } from '../ports/mail.ts';
import type { Rates } from '../ports/rates.ts';
import type { CoinCode } from '../spec/coins.ts';
import type { Scope } from '../spec/scopes.ts';
import type { ReplicaReads } from '../store/connections/replica.ts';
import type { ResponseRow } from '../store/idempotency.ts';
import type { MarkFile } from '../store/service/mark-file.ts';
import type { ActiveLimits } from './tokens/limits/active.ts';
import type { BackupPlan } from './upkeep/backups/plan.ts';

export interface Service {
  readonly db: Database;
  /** For single rows on the hot path, orders included, and the server list. Everything else uses `db`. */
  readonly reads: Sql;
  /** Absent: there is no replica. */
  readonly replica?: ReplicaReads | undefined;
  readonly clock: Clock;
  readonly keys: KeyRing;
  readonly passwords: PasswordHasher;
  readonly compute: ComputeDriver;
  readonly fleet: Fleet;
  readonly chains: ReadonlyMap<CoinCode, ChainDriver>;
  readonly rates: Rates;
  /** The highest address numbers, outside the database. */
  readonly marks: MarkFile;
  /** Customers' files: their uploaded images. */
  readonly blobs: BlobStore;
  /** Backups of the database. Absent: no one could read them. */
  readonly backups?: BackupPlan | undefined;
  /** Null: the service sends no mail and disables features that need it. */
  readonly mailer: Mailer | null;
  /** Null: reverse names are stored but not published. */
  readonly dns: ReverseDns | null;
  readonly log: Logger;
  readonly settings: ServiceSettings;
  /**
   * The orders of a customer run one after another: they would wait for its balance anyway. Here they wait
   * without a database connection, and the database does not repeat the work of a statement that waited.
   */
  readonly orders: KeyedMutex;
  /** Wakes the workers of all processes after a commit that added work. Polling is the fallback. */
  wake(): void;
}

export interface ServiceSettings {
  readonly mode: 'sandbox' | 'live';
  /** The host's name. */
  readonly siteName: string;
  /** The panel's URL without a trailing slash: the base of links in mail. */
  readonly baseUrl: string;
  readonly tokenPrefix: string;
  readonly rateLockMinutes: number;
  readonly addressRestDays: number;
  /** How long a suspended server is kept before it is destroyed. */
  readonly graceDays: number;
  /** How long a balance may be negative before the customer's servers are suspended. */
  readonly negativeBalanceDays: number;
  /** How long a guest may take to shut down before it is powered off. */
  readonly shutdownDeadlineS: number;
  /** The bandwidth of a server that exceeded its plan's transfer. */
  readonly throttleMbps: number;
  readonly floods: FloodSettings;
  /** Whether new snapshots are copied to the store of files. */
  readonly copySnapshots: boolean;
  /** The most mails of mailings per minute. */
  readonly mailingsPerMinute: number;
  /** For tests: webhooks may use loopback addresses. */
  readonly webhookAllowLoopback: boolean;
  /** The file of the audit log's daily heads; absent: none are recorded. */
  readonly auditHeadsFile?: string;
  /** Absent: tickets get no mail. */
  readonly ticketMail?: TicketMailSettings;
  /** Limits per customer. */
  readonly quotas: Quotas;
}

export interface FloodSettings {
  /** Packets per second that are a flood, to and from a server; 0: none are. */
  readonly packetsPerS: { readonly in: number; readonly out: number };
  /** In a row, until a flood is noticed. */
  readonly samples: number;
  /** Whether a noticed flood blackholes its address, and for how long at first. */
  readonly isAutomatic: boolean;
  readonly blackholeMinutes: number;
}

export interface TicketMailSettings {
  /** `support@host`; a ticket's own has a part behind a plus sign. */
  readonly address: string;
  /** How the operator's mail server calls itself in `Authentication-Results`. */
  readonly authServer: string;
  /** The sender of mail to customers; null if none is sent by SMTP. */
  readonly sender: string | null;
}

/** The actor, for the audit log. System and operator actions have neither session nor token. */
export interface Actor {
  readonly customerId: string | null;
  readonly sessionId: string | null;
  readonly tokenId: string | null;
  /** `req_…`, as in X-Request-Id. */
  readonly requestId: string;
  /** ISO 3166 code, `XX` if unknown. The IP address does not get past the HTTP layer. */
  readonly ipCountry: string;
}

/** Saves the result of a verb as the response to its request, in the verb's transaction. */
export interface SaveResponse {
  (tx: Sql, result: object): Promise<void>;
  /** Returns the row that it would save, for a verb that writes it in its own statement. */
  readonly row?: (result: object) => ResponseRow;
}

/** An actor with a customer account: the context of a verb. */
export interface CustomerActor extends Actor {
  readonly customerId: string;
  /** The limits of its token. Undefined: unlimited, as every session is. */
  readonly limits?: ActiveLimits | undefined;
  /**
   * Set for a request with an idempotency key. A verb that creates or starts something calls it last in its
   * transaction, with what it returns.
   */
  readonly saveResponse?: SaveResponse | undefined;
}

/** An actor whose verb depends on the scope of the token. A session has the scope `billing`. */
export interface ScopedActor extends CustomerActor {
  readonly scope: Scope;
}
