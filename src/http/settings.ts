import type { Service } from '../domain/context.ts';
import { type OpenAnnouncements, readOpenAnnouncements } from '../domain/customers/talking/shown.ts';
import { loadRules, type Rules, readCurrentRulesVersion } from '../domain/rules/rules.ts';
import type { AttemptCounter } from '../domain/sessions/attempts.ts';
import type { BucketRules } from '../domain/tokens/buckets.ts';
import type { Geo } from '../ports/geo.ts';
import type { AccountLanes } from './admission/account-lanes.ts';
import type { LoadLimits } from './admission/load-gate.ts';
import type { SandboxControl } from './sandbox/control.ts';

/** A text of the operator, in Markdown, or where it is. */
export type SitePage = { readonly text: string } | { readonly url: string };

export interface Logo {
  readonly bytes: Buffer;
  readonly extension: 'png' | 'webp' | 'svg';
  readonly type: string;
  readonly width: number;
  readonly height: number;
}

/** The operator's own texts and marks. Null: not configured. */
export interface SiteSettings {
  readonly terms: SitePage | null;
  readonly privacy: SitePage | null;
  readonly contact: string | null;
  /** Whether the public form for reports of abuse is shown. */
  readonly abuseForm: boolean;
  /** `#rrggbb`. */
  readonly accent: string | null;
  readonly logo: Logo | null;
  readonly footerText: string | null;
  readonly footerLinks: readonly (readonly [name: string, url: string])[];
}

export interface HttpSettings {
  readonly site: SiteSettings;
  /** The public URL of the service. Null: as in the Host header. `https:` makes the cookie Secure. */
  readonly baseUrl: string | null;
  /** Addresses and CIDR blocks of the reverse proxies whose X-Forwarded-* headers are trusted. */
  readonly trustedProxies: readonly string[];
  /** URLs of block explorers by network, with `{tx}` for the transaction. */
  readonly explorers: ReadonlyMap<string, string>;
  /** Sign-ups per hour from one address. 0: no limit. */
  readonly signupsPerHour: number;
  /** Wrong passwords and recovery codes per hour from one address. 0: no limit. */
  readonly signinFailuresPerHour: number;
  /** Failed API tokens per hour from one address. 0: no limit. */
  readonly tokenFailuresPerHour: number;
  /** The token buckets of the REST surface. `shared`: stored in the database for several processes. */
  readonly rates: BucketRules & { readonly shared: boolean };
  /** When requests are refused, because there are too many. */
  readonly overload: LoadLimits;
  /** Whether an error means that the database is away, full, or overloaded, which is answered with 503. */
  readonly isUnavailable: (error: unknown) => boolean;
}

/** The dependencies of every handler. */
export interface Edge {
  readonly service: Service;
  readonly settings: HttpSettings;
  readonly geo: Geo;
  /** Sign-ups, wrong passwords, and requested mails. */
  readonly attempts: AttemptCounter;
  readonly lanes: AccountLanes;
  readonly rules: RulesCache;
  /** Null: coins are real. */
  readonly sandbox: SandboxControl | null;
}

/** The rules, and the current and planned announcements of the panel. */
type CachedRules = Rules & { readonly announcements: OpenAnnouncements };

/**
 * Caches the operator's windows, policies, and announcements in this process, and reloads them when their
 * version changes.
 */
export class RulesCache {
  readonly #service: Service;
  #rules: CachedRules | null = null;

  constructor(service: Service) {
    this.#service = service;
  }

  /** `version` is the current one, if the caller has just read it. Otherwise this method reads it. */
  async read(version?: bigint): Promise<CachedRules> {
    const currentVersion = version ?? (await readCurrentRulesVersion(this.#service));
    if (this.#rules?.version !== currentVersion) {
      // The rules first: announcements that change meanwhile then have a newer version, and are read again.
      const rules = await loadRules(this.#service);
      this.#rules = { ...rules, announcements: await readOpenAnnouncements(this.#service) };
    }
    return this.#rules;
  }
}
