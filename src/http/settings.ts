import type { Service } from '../domain/context.ts';
import type { BucketRules } from '../domain/tokens/buckets.ts';
import type { Geo } from '../ports/geo.ts';
import type { AccountBackoff } from './account-backoff.ts';
import type { AttemptLimiter } from './attempt-limiter.ts';
import type { RulesCache } from './rules-cache.ts';

export interface HttpSettings {
  /** The operator's terms of service in Markdown, and contact details. Null: not configured. */
  readonly terms: string | null;
  readonly contact: string | null;
  /** The public URL of the service. Null: as in the Host header. `https:` makes the cookie Secure. */
  readonly baseUrl: string | null;
  /** Addresses and CIDR blocks of the reverse proxies whose X-Forwarded-* headers are trusted. */
  readonly trustedProxies: readonly string[];
  /** Sign-ups per hour from one address. 0: no limit. */
  readonly signupsPerHour: number;
  /** Wrong passwords and recovery codes per hour from one address. 0: no limit. */
  readonly signinFailuresPerHour: number;
  /** Failed API tokens per hour from one address. 0: no limit. */
  readonly tokenFailuresPerHour: number;
  /** The token buckets of the REST surface. `shared`: stored in the database for several processes. */
  readonly rates: BucketRules & { readonly shared: boolean };
  /** Whether an error means that the database is away, full, or overloaded, which is answered with 503. */
  readonly isUnavailable: (error: unknown) => boolean;
}

/** The dependencies of every handler. */
export interface Edge {
  readonly service: Service;
  readonly settings: HttpSettings;
  readonly geo: Geo;
  readonly signups: AttemptLimiter;
  readonly failures: AttemptLimiter;
  /** Mails that strangers request. The hourly limit is the same as for `failures`. */
  readonly mailings: AttemptLimiter;
  readonly backoff: AccountBackoff;
  readonly rules: RulesCache;
}
