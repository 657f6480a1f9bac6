/** What every verb is given: the service's parts, and who is acting. */
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { PasswordHasher } from '../kernel/passwords.ts';
import type { Quotas } from '../kernel/quotas.ts';
import type { KeyRing } from '../kernel/secrets.ts';
import type { Database, Sql } from '../kernel/sql.ts';
import type { BlobStore } from '../ports/blobs.ts';
import type { ChainDriver } from '../ports/chain.ts';
import type { ComputeDriver } from '../ports/compute.ts';
import type { ReverseDns } from '../ports/dns.ts';
import type { Mailer } from '../ports/mail.ts';
import type { Rates } from '../ports/rates.ts';
import type { CoinCode } from '../spec/coins.ts';

export interface Service {
  readonly db: Database;
  /** For single rows on the hot path, and the list of servers; everything else goes to `db`. */
  readonly reads: Sql;
  readonly clock: Clock;
  readonly keys: KeyRing;
  readonly passwords: PasswordHasher;
  readonly compute: ComputeDriver;
  readonly chains: ReadonlyMap<CoinCode, ChainDriver>;
  readonly rates: Rates;
  /** Files of customers: their own images. */
  readonly blobs: BlobStore;
  /** Null: this service sends no mail, and offers nothing that needs one. */
  readonly mailer: Mailer | null;
  /** Null: names of addresses are kept, and served by nobody. */
  readonly dns: ReverseDns | null;
  readonly log: Logger;
  readonly settings: ServiceSettings;
  /** Hurries the workers of all processes; called after a commit that made work. Polling is the guarantee. */
  wake(): void;
}

export interface ServiceSettings {
  readonly mode: 'sandbox' | 'live';
  /** What the host calls itself. */
  readonly siteName: string;
  /** How customers reach the panel, without a slash at the end: what links in mails begin with. */
  readonly baseUrl: string;
  readonly tokenPrefix: string;
  readonly rateLockMinutes: number;
  readonly addressRestDays: number;
  /** How long a suspended server waits for its customer before it is destroyed. */
  readonly graceDays: number;
  /** How long a guest has to shut down before it is switched off. */
  readonly shutdownDeadlineS: number;
  /** What a server gets that has sent more than its plan includes. */
  readonly throttleMbps: number;
  /** For tests: webhooks may lead to this machine. */
  readonly webhookAllowLoopback: boolean;
  /** What one customer may have. */
  readonly quotas: Quotas;
}

/** Who acts, for the audit log. System and operator actions have neither session nor token. */
export interface Actor {
  readonly customerId: string | null;
  readonly sessionId: string | null;
  readonly tokenId: string | null;
  /** `req_…`, as the caller sees it in X-Request-Id. */
  readonly requestId: string;
  /** ISO 3166 code, `XX` when unknown. The address itself goes no further than the edge. */
  readonly ipCountry: string;
}

/** An actor with an account behind it. */
export interface CustomerActor extends Actor {
  readonly customerId: string;
}
