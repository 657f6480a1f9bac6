import type { Service } from '../domain/context.ts';
import type { BucketRules } from '../domain/tokens/buckets.ts';
import type { Geo } from '../ports/geo.ts';
import type { AccountBackoff } from './account-backoff.ts';
import type { AttemptLimiter } from './attempt-limiter.ts';
import type { RulesCache } from './rules-cache.ts';

export interface HttpSettings {
  /** The operator's terms of service in Markdown, and how to reach him; null: he has not said. */
  readonly terms: string | null;
  readonly contact: string | null;
  /** How customers reach the service; null: as the Host header says. `https:` makes the cookie Secure. */
  readonly baseUrl: string | null;
  /** Addresses and CIDR blocks of the reverse proxies whose X-Forwarded-* headers are believed. */
  readonly trustedProxies: readonly string[];
  /** Sign-ups an hour from one address; 0: no limit. */
  readonly signupsPerHour: number;
  /** Wrong passwords and recovery codes an hour from one address; 0: no limit. */
  readonly signinFailuresPerHour: number;
  /** Failed API tokens an hour from one address; 0: no limit. */
  readonly tokenFailuresPerHour: number;
  /** The token buckets of the REST surface; `shared`: kept in the database, because other processes draw on them too. */
  readonly rates: BucketRules & { readonly shared: boolean };
  /** Whether an error says that the database is away, full or overloaded: answered 503 and not our fault. */
  readonly isUnavailable: (error: unknown) => boolean;
}

/** What every handler has. */
export interface Edge {
  readonly service: Service;
  readonly settings: HttpSettings;
  readonly geo: Geo;
  readonly signups: AttemptLimiter;
  readonly failures: AttemptLimiter;
  /** Mails that strangers ask for; as many an hour as there may be failures. */
  readonly mailings: AttemptLimiter;
  readonly backoff: AccountBackoff;
  readonly rules: RulesCache;
}
