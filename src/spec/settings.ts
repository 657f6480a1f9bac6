/**
 * Every setting, read from the environment or `.env`. `skerryd config` prints this table with values and
 * sources. A sandbox works with none of them set.
 */
import { COIN_SETTINGS } from './coin-settings.ts';

interface SettingRow {
  /** `node`: the URL of a coin node, which is secret because it may contain a password. */
  readonly type: 'text' | 'port' | 'whole' | 'number' | 'bool' | 'secret' | 'node' | 'url';
  /** null: unset. A pair has one default for a sandbox and one for a live service. */
  readonly default: string | null | { readonly sandbox: string; readonly live: string };
  readonly min?: number;
  readonly max?: number;
  /** The allowed values. */
  readonly choices?: readonly string[];
  readonly about: string;
}

export const SETTINGS = {
  DATABASE_URL: {
    type: 'secret',
    default: null,
    about: 'PostgreSQL 15 or newer, postgres://…; unset: the embedded database (sandbox only)',
  },
  SKERRY_MODE: {
    type: 'text',
    default: 'sandbox',
    choices: ['sandbox', 'live'],
    about: 'sandbox: simulated coins; live: real coins. A database keeps its mode permanently',
  },
  SKERRY_HOST: { type: 'text', default: '127.0.0.1', about: 'address to listen on' },
  SKERRY_PORT: { type: 'port', default: '8080', about: 'port to listen on; 0: any free port' },
  SKERRY_DATA_DIR: {
    type: 'text',
    default: './data',
    about: 'folder of the embedded database, the key file, and customers’ images',
  },
  SKERRY_BASE_URL: {
    type: 'url',
    default: null,
    about: 'public URL of the service; https:// makes cookies Secure',
  },
  SKERRY_SITE_NAME: { type: 'text', default: 'Skerry', about: 'name of the host, shown on every page' },
  SKERRY_TERMS_FILE: {
    type: 'text',
    default: null,
    about: 'terms of service, a Markdown file shown at /terms; read on startup',
  },
  SKERRY_CONTACT: {
    type: 'text',
    default: null,
    about: 'contact shown at /contact: an email address, a URL, or a line of text',
  },
  SKERRY_TRUSTED_PROXIES: {
    type: 'text',
    default: '',
    about:
      'reverse proxies to trust for X-Forwarded-For and -Proto: addresses or CIDR blocks, comma-separated',
  },
  SKERRY_GEO_FILE: {
    type: 'text',
    default: null,
    about: 'country database for IP addresses, an .mmdb file; unset: the bundled file',
  },
  SKERRY_SECRET_KEY: {
    type: 'secret',
    default: null,
    about: '32-byte keys as id:base64,…, newest first; unset: the key file in the data folder',
  },
  SKERRY_SANDBOX_PUBLIC: {
    type: 'bool',
    default: 'false',
    about: 'let a sandbox, where anyone can create money, listen on other addresses than loopback',
  },
  SKERRY_TOKEN_PREFIX: {
    type: 'text',
    default: 'skerry',
    about: 'prefix of API tokens, <prefix>_live_…',
  },
  SKERRY_LOG_LEVEL: {
    type: 'text',
    default: 'info',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    about: 'lowest level that is logged',
  },
  SKERRY_DB_POOL: {
    type: 'whole',
    default: '16',
    min: 2,
    max: 200,
    about: 'database connections per process',
  },
  SKERRY_WORKER_POLL_MS: {
    type: 'whole',
    default: '500',
    min: 50,
    max: 60000,
    about: 'milliseconds between polls of a worker for due work',
  },
  SKERRY_RATE_CAPACITY: {
    type: 'number',
    default: '10',
    min: 1,
    max: 1e6,
    about: 'REST: burst of requests per token',
  },
  SKERRY_RATE_REFILL_PER_S: {
    type: 'number',
    default: '1',
    min: 0.001,
    max: 1e6,
    about: 'REST: requests per second per token',
  },
  SKERRY_PROVISION_RATE_CAPACITY: {
    type: 'number',
    default: '200',
    min: 1,
    max: 1e6,
    about: 'REST: burst of deploys and uploads',
  },
  SKERRY_PROVISION_RATE_REFILL_PER_S: {
    type: 'number',
    default: '3.3333',
    min: 0.001,
    max: 1e6,
    about: 'REST: deploys and uploads per second',
  },
  SKERRY_TOKEN_FAILURES_PER_HOUR: {
    type: 'whole',
    default: { sandbox: '0', live: '600' },
    min: 0,
    max: 1e6,
    about: 'requests per hour from one address with a missing or invalid API token; 0: no limit',
  },
  SKERRY_SIGNUPS_PER_HOUR: {
    type: 'whole',
    default: { sandbox: '0', live: '10' },
    min: 0,
    max: 1e6,
    about: 'sign-ups per hour from one address; 0: no limit',
  },
  SKERRY_SIGNIN_FAILURES_PER_HOUR: {
    type: 'whole',
    default: { sandbox: '0', live: '30' },
    min: 0,
    max: 1e6,
    about: 'failed sign-ins per hour from one address; 0: no limit',
  },
  SKERRY_PASSWORD_QUEUE: {
    type: 'whole',
    default: '64',
    min: 1,
    max: 10000,
    about: 'queued password checks; beyond that, requests get 503',
  },
  SKERRY_RATE_LOCK_MINUTES: {
    type: 'whole',
    default: '60',
    min: 1,
    max: 1440,
    about: 'minutes that a top-up keeps its exchange rate',
  },
  SKERRY_ADDRESS_REST_DAYS: {
    type: 'whole',
    default: '7',
    min: 0,
    max: 365,
    about: 'days before the address of a deleted server is assigned again',
  },
  SKERRY_GRACE_DAYS: {
    type: 'whole',
    default: '14',
    min: 1,
    max: 365,
    about: 'days before a suspended server is deleted',
  },
  SKERRY_SHUTDOWN_DEADLINE_S: {
    type: 'whole',
    default: '60',
    min: 1,
    max: 3600,
    about: 'seconds a guest gets to shut down before it is powered off',
  },
  SKERRY_THROTTLE_MBPS: {
    type: 'whole',
    default: '10',
    min: 1,
    max: 100000,
    about: 'megabits per second for a server that has used up the transfer of its plan this month',
  },
  SKERRY_WEBHOOK_ALLOW_LOOPBACK: {
    type: 'bool',
    default: 'false',
    about: 'allow webhooks to this machine, 127.0.0.0/8 and ::1; for tests',
  },
  SKERRY_WEBHOOK_CA_FILE: {
    type: 'text',
    default: null,
    about: 'PEM file of extra certificate authorities for webhook receivers; for tests',
  },
  SKERRY_WEBHOOK_TIMEOUT_MS: {
    type: 'whole',
    default: '10000',
    min: 50,
    max: 10000,
    about: 'milliseconds a webhook receiver has to respond',
  },
  SKERRY_SMTP_URL: {
    type: 'secret',
    default: null,
    about:
      'mail server, smtp://user:password@host:587 or smtps://…; ' +
      'unset: a sandbox stores mail at /sandbox/mails, a live service sends none',
  },
  SKERRY_MAIL_FROM: {
    type: 'text',
    default: null,
    about: 'sender of mail: Skerry <no-reply@skerry.example>; required with SKERRY_SMTP_URL',
  },
  SKERRY_QUOTAS: {
    type: 'text',
    default: '',
    about:
      'limits per customer that differ from the defaults (docs/operators/configure.md): ' +
      'servers=100,tokens=10',
  },
  SKERRY_COMPUTE: {
    type: 'text',
    default: 'simulator',
    choices: ['simulator', 'qemu'],
    about: 'what runs the servers. simulator: nothing real (sandbox only); qemu: this host, as root',
  },
  SKERRY_QEMU_DIR: {
    type: 'text',
    default: null,
    about: 'qemu: folder of disks, images, volumes, and snapshots; unset: qemu in the data folder',
  },
  SKERRY_QEMU_HOSTS: {
    type: 'text',
    default: null,
    about: 'qemu: names of this host in the inventory, comma-separated; unset: its host name',
  },
  SKERRY_QEMU_ACCELERATOR: {
    type: 'text',
    default: 'kvm',
    choices: ['kvm', 'tcg'],
    about: 'qemu: kvm uses hardware virtualization; tcg emulates a CPU, many times slower',
  },
  SKERRY_QEMU_NETNS: {
    type: 'text',
    default: null,
    about: 'qemu: network namespace of the servers, for tests; unset: the network of this host',
  },
  SKERRY_DNS_URL: {
    type: 'url',
    default: null,
    about: 'reverse DNS: HTTP API of PowerDNS, http://127.0.0.1:8081; unset: names are stored but not served',
  },
  SKERRY_DNS_KEY: { type: 'secret', default: null, about: 'key of that API; required with SKERRY_DNS_URL' },
  ...COIN_SETTINGS,
  SKERRY_SIM_INSTALL_S: {
    type: 'number',
    default: '3',
    min: 0,
    max: 1000,
    about: 'sandbox: seconds an install takes',
  },
  SKERRY_SIM_BLOCK_S: {
    type: 'number',
    default: '2',
    min: 0,
    max: 3600,
    about: 'sandbox: seconds between blocks; 0: blocks only on demand',
  },
  SKERRY_CRASH_AT: {
    type: 'text',
    default: null,
    about: 'sandbox: a commit or driver call at which the process kills itself; for tests',
  },
} as const satisfies Record<string, SettingRow>;

export type SettingName = keyof typeof SETTINGS;

/** Variables of the customers' CLI. They share the prefix, so the service ignores exactly these. */
export const CLI_SETTING_NAMES: readonly string[] = [
  'SKERRY_TOKEN',
  'SKERRY_API_URL',
  'SKERRY_CONTEXT',
  'SKERRY_CONFIG',
];

/** A setting's current value: null when unset, `[set]` when secret. */
export interface SettingView {
  readonly name: SettingName;
  readonly value: string | null;
  readonly source: 'default' | 'environment' | '.env';
  readonly about: string;
}
