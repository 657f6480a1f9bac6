/**
 * Every setting, read from the environment or `.env`. `skerryd config` prints this table with values and sources.
 * A rule of thumb for defaults: the sandbox works with none of them set.
 */
import { COIN_SETTINGS } from './coin-settings.ts';

interface SettingRow {
  /** `node`: the URL of a node of a coin, which may hold a password and is as secret as that. */
  readonly type: 'text' | 'port' | 'whole' | 'number' | 'bool' | 'secret' | 'node' | 'url';
  /** null: unset. A pair gives the sandbox's and the live default. */
  readonly default: string | null | { readonly sandbox: string; readonly live: string };
  readonly min?: number;
  readonly max?: number;
  /** The only words it takes. */
  readonly choices?: readonly string[];
  readonly about: string;
}

export const SETTINGS = {
  DATABASE_URL: {
    type: 'secret',
    default: null,
    about: 'PostgreSQL 15 or newer, postgres://…; unset: the embedded one (sandbox only)',
  },
  SKERRY_MODE: {
    type: 'text',
    default: 'sandbox',
    choices: ['sandbox', 'live'],
    about: 'sandbox: simulated coins; live: real ones. A database is one of them for good',
  },
  SKERRY_HOST: { type: 'text', default: '127.0.0.1', about: 'address to listen on' },
  SKERRY_PORT: { type: 'port', default: '8080', about: 'port to listen on; 0 takes a free one' },
  SKERRY_DATA_DIR: {
    type: 'text',
    default: './data',
    about: 'folder of the embedded database and of the key file',
  },
  SKERRY_BASE_URL: {
    type: 'url',
    default: null,
    about: 'how customers reach the service; https:// makes cookies Secure',
  },
  SKERRY_SITE_NAME: { type: 'text', default: 'Skerry', about: 'what the host calls itself' },
  SKERRY_TERMS_FILE: {
    type: 'text',
    default: null,
    about: 'terms of service, a Markdown file, shown at /terms; read at start',
  },
  SKERRY_CONTACT: {
    type: 'text',
    default: null,
    about: 'how customers reach you, shown at /contact: an e-mail address, a URL or a line of text',
  },
  SKERRY_TRUSTED_PROXIES: {
    type: 'text',
    default: '',
    about:
      'reverse proxies whose X-Forwarded-For and -Proto are believed: addresses or CIDR blocks, with commas',
  },
  SKERRY_GEO_FILE: {
    type: 'text',
    default: null,
    about: 'countries of addresses, an .mmdb file; unset: the one that comes with the service',
  },
  SKERRY_SECRET_KEY: {
    type: 'secret',
    default: null,
    about: 'id:base64,… of 32-byte keys, newest first; unset: the key file in the data folder',
  },
  SKERRY_SANDBOX_PUBLIC: {
    type: 'bool',
    default: 'false',
    about: 'let a sandbox, where anybody can make money, listen beyond this machine',
  },
  SKERRY_TOKEN_PREFIX: {
    type: 'text',
    default: 'skerry',
    about: 'first part of an API token, <prefix>_live_…',
  },
  SKERRY_LOG_LEVEL: {
    type: 'text',
    default: 'info',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    about: 'least important line that the log keeps',
  },
  SKERRY_DB_POOL: {
    type: 'whole',
    default: '16',
    min: 2,
    max: 200,
    about: 'database connections of one process',
  },
  SKERRY_WORKER_POLL_MS: {
    type: 'whole',
    default: '500',
    min: 50,
    max: 60000,
    about: 'how often workers look for due work',
  },
  SKERRY_RATE_CAPACITY: { type: 'number', default: '10', min: 1, max: 1e6, about: 'REST: burst of a token' },
  SKERRY_RATE_REFILL_PER_S: {
    type: 'number',
    default: '1',
    min: 0.001,
    max: 1e6,
    about: 'REST: requests a second of a token',
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
    about: 'REST: deploys and uploads a second',
  },
  SKERRY_TOKEN_FAILURES_PER_HOUR: {
    type: 'whole',
    default: { sandbox: '0', live: '600' },
    min: 0,
    max: 1e6,
    about: 'requests an hour from one address with a missing or wrong API token; 0: no limit',
  },
  SKERRY_SIGNUPS_PER_HOUR: {
    type: 'whole',
    default: { sandbox: '0', live: '10' },
    min: 0,
    max: 1e6,
    about: 'sign-ups an hour from one address; 0: no limit',
  },
  SKERRY_SIGNIN_FAILURES_PER_HOUR: {
    type: 'whole',
    default: { sandbox: '0', live: '30' },
    min: 0,
    max: 1e6,
    about: 'failed sign-ins an hour from one address; 0: no limit',
  },
  SKERRY_PASSWORD_QUEUE: {
    type: 'whole',
    default: '64',
    min: 1,
    max: 10000,
    about: 'password checks that may wait; more are answered 503',
  },
  SKERRY_RATE_LOCK_MINUTES: {
    type: 'whole',
    default: '60',
    min: 1,
    max: 1440,
    about: 'how long a top-up keeps its exchange rate',
  },
  SKERRY_ADDRESS_REST_DAYS: {
    type: 'whole',
    default: '7',
    min: 0,
    max: 365,
    about: 'days an address rests after a server had it',
  },
  SKERRY_GRACE_DAYS: {
    type: 'whole',
    default: '14',
    min: 1,
    max: 365,
    about: 'days that a suspended server waits for its customer before it is destroyed',
  },
  SKERRY_SHUTDOWN_DEADLINE_S: {
    type: 'whole',
    default: '60',
    min: 1,
    max: 3600,
    about: 'seconds a guest has to shut down when it is asked to; then it is switched off',
  },
  SKERRY_THROTTLE_MBPS: {
    type: 'whole',
    default: '10',
    min: 1,
    max: 100000,
    about: 'megabits a second of a server that has sent more this month than its plan includes',
  },
  SKERRY_WEBHOOK_ALLOW_LOOPBACK: {
    type: 'bool',
    default: 'false',
    about: 'let webhooks lead to this machine, 127.0.0.0/8 and ::1; for tests',
  },
  SKERRY_WEBHOOK_CA_FILE: {
    type: 'text',
    default: null,
    about:
      'certificates, a PEM file, that webhook receivers may have been signed by beside the public ones; for tests',
  },
  SKERRY_WEBHOOK_TIMEOUT_MS: {
    type: 'whole',
    default: '10000',
    min: 50,
    max: 10000,
    about: 'milliseconds that a webhook receiver has to answer; SPEC: 10 s',
  },
  SKERRY_SMTP_URL: {
    type: 'secret',
    default: null,
    about:
      'mail server, smtp://user:password@host:587 or smtps://…; unset: a sandbox keeps mails to itself, a live service sends none',
  },
  SKERRY_MAIL_FROM: {
    type: 'text',
    default: null,
    about: 'whom mails come from: Skerry <no-reply@skerry.example>; goes with SKERRY_SMTP_URL',
  },
  SKERRY_QUOTAS: {
    type: 'text',
    default: '',
    about:
      'what one customer may have, where it differs from docs/operators/configure.md: servers=100,tokens=10',
  },
  SKERRY_COMPUTE: {
    type: 'text',
    default: 'simulator',
    choices: ['simulator', 'qemu'],
    about: 'what runs the servers. simulator: nothing real (sandbox only); qemu: this machine, as root',
  },
  SKERRY_QEMU_DIR: {
    type: 'text',
    default: null,
    about: 'qemu: folder of disks, images, volumes and snapshots; unset: qemu in the data folder',
  },
  SKERRY_QEMU_HOSTS: {
    type: 'text',
    default: null,
    about:
      'qemu: what this machine is called in the inventory, with commas if by several names; unset: its host name',
  },
  SKERRY_QEMU_ACCELERATOR: {
    type: 'text',
    default: 'kvm',
    choices: ['kvm', 'tcg'],
    about: 'qemu: kvm uses the processor; tcg emulates one, many times slower, where there is no KVM',
  },
  SKERRY_QEMU_NETNS: {
    type: 'text',
    default: null,
    about: 'qemu: network namespace that the servers live in, to try it; unset: the network of this machine',
  },
  SKERRY_DNS_URL: {
    type: 'url',
    default: null,
    about:
      'reverse DNS: HTTP API of PowerDNS, http://127.0.0.1:8081; unset: names are kept and served by nobody',
  },
  SKERRY_DNS_KEY: { type: 'secret', default: null, about: 'key of that API; goes with SKERRY_DNS_URL' },
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
    about: 'sandbox: a named crash point at which the process kills itself (tests)',
  },
} as const satisfies Record<string, SettingRow>;

export type SettingName = keyof typeof SETTINGS;

/**
 * What the customers' command line reads from the environment. It is told by names of the same kind, and whoever tries the
 * service and calls it from one shell has both there: the service passes over exactly these.
 */
export const CLI_SETTING_NAMES: readonly string[] = [
  'SKERRY_TOKEN',
  'SKERRY_API_URL',
  'SKERRY_CONTEXT',
  'SKERRY_CONFIG',
];

/** One setting as it stands; `value` is null when unset and `[set]` when secret. */
export interface SettingView {
  readonly name: SettingName;
  readonly value: string | null;
  readonly source: 'default' | 'environment' | '.env';
  readonly about: string;
}
