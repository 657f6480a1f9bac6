/**
 * Every setting, read from the environment or `.env`. `skerryd config` prints this table with values and
 * sources. A sandbox works with none of them set. A new row reaches the rules through `ServiceSettings` in
 * `domain/context.ts`, or http through `HttpSettings`; `npm run docs` writes it to the operator's page.
 */
import { BACKUP_SETTINGS } from './settings/backups.ts';
import { COIN_SETTINGS } from './settings/coins.ts';
import { FILE_SETTINGS } from './settings/files.ts';
import { bool, choice, number, port, type SettingRow, secret, text, url, whole } from './settings/rows.ts';

export const SETTINGS = {
  DATABASE_URL: secret(
    'PostgreSQL 15 or newer, postgres://…, with several hosts if one takes over from another; unset: the ' +
      'embedded database (sandbox only)',
  ),
  SKERRY_MODE: choice(
    ['sandbox', 'live'],
    'sandbox',
    'sandbox: simulated coins; live: real coins. A database keeps its mode permanently',
  ),
  SKERRY_HOST: text('127.0.0.1', 'address to listen on'),
  SKERRY_PORT: port('8080', 'port to listen on; 0: any free port'),
  SKERRY_STOP_DELAY_S: whole(
    '0',
    [0, 15],
    'seconds for which a stopping process still serves while /readyz returns 503; none with --shared-port',
  ),
  SKERRY_DATA_DIR: text('./data', 'folder of the embedded database, the key file, and customers’ images'),
  SKERRY_BASE_URL: url('public URL of the service; https:// makes cookies Secure'),
  SKERRY_SITE_NAME: text('Skerry', 'name of the host, shown on every page'),
  SKERRY_LOGO_FILE: text(
    null,
    'logo in place of the name on pages, a PNG, WebP, or SVG file of at most 64 KiB; read on startup',
  ),
  SKERRY_ACCENT_COLOR: text(
    null,
    'color of links and buttons, #rrggbb; becomes a readable shade of it in light and dark; unset: teal',
  ),
  SKERRY_FOOTER_TEXT: text(null, 'line at the bottom of every page; unset: the name of the host'),
  SKERRY_FOOTER_LINKS: text('', 'links at the bottom of every page, name=https://… pairs, comma-separated'),
  SKERRY_TERMS_FILE: text(null, 'terms of service, a Markdown file shown at /terms; read on startup'),
  SKERRY_TERMS_URL: text(null, 'terms of service elsewhere, in place of SKERRY_TERMS_FILE'),
  SKERRY_PRIVACY_FILE: text(null, 'privacy policy, a Markdown file shown at /privacy; read on startup'),
  SKERRY_PRIVACY_URL: text(null, 'privacy policy elsewhere, in place of SKERRY_PRIVACY_FILE'),
  SKERRY_CONTACT: text(null, 'contact shown at /contact: an email address, a URL, or a line of text'),
  SKERRY_ABUSE_FORM: bool('show the form at /abuse, where anyone can report abuse of your addresses'),
  SKERRY_TRUSTED_PROXIES: text(
    '',
    'reverse proxies to trust for X-Forwarded-For and -Proto: addresses or CIDR blocks, comma-separated',
  ),
  SKERRY_ONION_PORT: port(
    null,
    'port for an onion service, to which Tor sends the circuit of each connection; unset: none',
  ),
  SKERRY_ONION_HOST: text('127.0.0.1', 'address of that port: this machine, or private'),
  SKERRY_ADMIN_PORT: port(
    null,
    'port of the operator’s console and its API, never that of customers; 0: any free port; unset: none',
  ),
  SKERRY_ADMIN_HOST: text('127.0.0.1', 'address of that port: this machine, or private'),
  SKERRY_ADMIN_BASE_URL: url('URL of the console behind a proxy or an onion service'),
  SKERRY_GEO_FILE: text(null, 'country database for IP addresses, an .mmdb file; unset: the bundled file'),
  SKERRY_SECRET_KEY: secret(
    '32-byte keys as id:base64,…, newest first; unset: the key file in the data folder',
  ),
  SKERRY_SECRET_KEY_COMMAND: text(
    null,
    'command that prints these keys, for example from a KMS or a TPM; runs at each start',
  ),
  SKERRY_SANDBOX_PUBLIC: bool(
    'let a sandbox, where anyone can create money, listen on other addresses than loopback; needs ' +
      'SKERRY_BASE_URL, because /sandbox/* accepts no other host name but that of this machine',
  ),
  SKERRY_TOKEN_PREFIX: text('skerry', 'prefix of API tokens, <prefix>_live_…'),
  SKERRY_LOG_LEVEL: choice(
    ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    'info',
    'lowest level that is logged',
  ),
  SKERRY_DB_POOL: whole('16', [2, 200], 'database connections per process'),
  SKERRY_DB_POOLER: bool(
    'DATABASE_URL leads to a pooler in transaction mode, such as PgBouncer: use no prepared statements and ' +
      'no session; needs SKERRY_DB_DIRECT_URL',
  ),
  SKERRY_DB_DIRECT_URL: secret(
    'the PostgreSQL server behind the pooler, postgres://…, for notifications and migrations',
  ),
  SKERRY_DB_REPLICA_URL: secret('a streaming replica, postgres://…, that answers lists and the console'),
  SKERRY_DB_REPLICA_LAG_MS: whole(
    '5000',
    [500, 60000],
    'how old the answers of the replica may be, in milliseconds; beyond it the primary answers',
  ),
  SKERRY_WORKER_POLL_MS: whole('500', [50, 60000], 'milliseconds between polls of a worker for due work'),
  SKERRY_RATE_CAPACITY: number('10', [1, 1e6], 'REST: burst of requests per token'),
  SKERRY_RATE_REFILL_PER_S: number('1', [0.001, 1e6], 'REST: requests per second per token'),
  SKERRY_PROVISION_RATE_CAPACITY: number('200', [1, 1e6], 'REST: burst of deploys and uploads'),
  SKERRY_PROVISION_RATE_REFILL_PER_S: number('3.3333', [0.001, 1e6], 'REST: deploys and uploads per second'),
  SKERRY_TOKEN_FAILURES_PER_HOUR: whole(
    { sandbox: '0', live: '600' },
    [0, 1e6],
    'requests per hour from one address with a missing or invalid API token; 0: no limit (sandbox only)',
  ),
  SKERRY_SIGNUPS_PER_HOUR: whole(
    { sandbox: '0', live: '10' },
    [0, 1e6],
    'sign-ups per hour from one address; 0: no limit (sandbox only)',
  ),
  SKERRY_SIGNIN_FAILURES_PER_HOUR: whole(
    { sandbox: '0', live: '30' },
    [0, 1e6],
    'failed sign-ins per hour from one address, ten times as many on one account; 0: no limit (sandbox only)',
  ),
  SKERRY_PASSWORD_QUEUE: whole('64', [1, 10000], 'queued password checks; beyond that, requests get 503'),
  SKERRY_OVERLOAD_MS: whole(
    '50',
    [0, 10000],
    'mean milliseconds per request above which new requests get 503; 0: no request is refused',
  ),
  SKERRY_REQUESTS_MAX: whole('4000', [64, 100000], 'requests in progress; beyond that, requests get 503'),
  SKERRY_RATE_LOCK_MINUTES: whole('60', [1, 1440], 'minutes that a top-up keeps its exchange rate'),
  SKERRY_EXPLORERS: text(
    '',
    'block explorers that payments link to, network=https://…/{tx} pairs, comma-separated; their hosts see ' +
      'which transactions customers open',
  ),
  SKERRY_ADDRESS_REST_DAYS: whole(
    '7',
    [0, 365],
    'days before the address of a deleted server is assigned again',
  ),
  SKERRY_GRACE_DAYS: whole('14', [1, 365], 'days before a suspended server is deleted'),
  SKERRY_NEGATIVE_BALANCE_DAYS: whole(
    '7',
    [0, 365],
    'days before servers are suspended because a reversed payment left the balance below zero',
  ),
  SKERRY_SHUTDOWN_DEADLINE_S: whole(
    '60',
    [1, 3600],
    'seconds a guest gets to shut down before it is powered off',
  ),
  SKERRY_THROTTLE_MBPS: whole(
    '10',
    [1, 100000],
    'megabits per second for a server that has used up the transfer of its plan this month',
  ),
  SKERRY_FLOOD_IN_PPS: whole('100000', [0, 1e9], 'packets per second to a server that are a flood; 0: none'),
  SKERRY_FLOOD_OUT_PPS: whole(
    '50000',
    [0, 1e9],
    'packets per second from a server that are a flood; 0: none',
  ),
  SKERRY_FLOOD_SAMPLES: whole(
    '3',
    [1, 60],
    'samples in a row above these until a flood is noticed; one is taken every 10 seconds',
  ),
  SKERRY_FLOOD_BLACKHOLE: bool(
    'drop all packets of an address as soon as a flood to or from it is noticed; otherwise staff decide',
  ),
  SKERRY_FLOOD_BLACKHOLE_MINUTES: whole(
    '30',
    [1, 1440],
    'minutes that this lasts; twice as long each time the flood comes back at once, up to a day',
  ),
  SKERRY_WEBHOOK_ALLOW_LOOPBACK: bool('allow webhooks to this machine, 127.0.0.0/8 and ::1; for tests'),
  SKERRY_WEBHOOK_CA_FILE: text(
    null,
    'PEM file of extra certificate authorities for webhook receivers; for tests',
  ),
  SKERRY_WEBHOOK_TIMEOUT_MS: whole('10000', [50, 10000], 'milliseconds a webhook receiver has to respond'),
  SKERRY_SMTP_URL: secret(
    'mail server, smtp://user:password@host:587 or smtps://…; ' +
      'unset: a sandbox stores mail at /sandbox/mails, a live service sends none',
  ),
  SKERRY_MAILINGS_PER_MINUTE: whole('60', [1, 6000], 'most mails per minute of all mailings of staff'),
  SKERRY_MAIL_FROM: text(
    null,
    'sender of mail: Skerry <no-reply@skerry.example>; required with SKERRY_SMTP_URL',
  ),
  SKERRY_TICKET_ADDRESS: text(
    null,
    'address for tickets by mail, such as support@skerry.example, whose mail and that of support+…@ your ' +
      'mail server hands to Skerry; unset: customers write in the panel and with the API',
  ),
  SKERRY_TICKET_AUTHSERV: text(
    null,
    'name that your mail server writes first in Authentication-Results; required with SKERRY_TICKET_ADDRESS',
  ),
  SKERRY_LMTP_PORT: port(
    null,
    'port for mail to that address, from your mail server by LMTP; 0: any free port; unset: none',
  ),
  SKERRY_LMTP_HOST: text('127.0.0.1', 'address of that port: this machine, or private'),
  SKERRY_QUOTAS: text(
    '',
    'limits per customer that differ from the defaults (docs/operators/configure.md): ' +
      'servers=100,tokens=10',
  ),
  SKERRY_COMPUTE: choice(
    ['simulator', 'qemu', 'hosts'],
    'simulator',
    'what runs the servers. simulator: nothing real (sandbox only); qemu: this host, as root, and ' +
      'hosts that joined; hosts: only those that joined',
  ),
  SKERRY_QEMU_DIR: text(
    null,
    'qemu: folder of disks, images, volumes, and snapshots; unset: qemu in the data folder',
  ),
  SKERRY_QEMU_HOSTS: text(
    null,
    'qemu: names of this host in the inventory, comma-separated; unset: its host name',
  ),
  SKERRY_QEMU_ACCELERATOR: choice(
    ['kvm', 'tcg'],
    'kvm',
    'qemu: kvm uses hardware virtualization; tcg emulates a CPU, many times slower',
  ),
  SKERRY_QEMU_NETNS: text(
    null,
    'qemu: network namespace of the servers, for tests; unset: the network of this host',
  ),
  SKERRY_QEMU_ALLOW_PRIVATE: text(
    '',
    'qemu: private networks that servers may reach, such as 10.20.0.0/16,fd00:1::/64; empty: none',
  ),
  SKERRY_QEMU_PEER_ADDRESS: text(
    null,
    'qemu: name and port at which other hosts reach this one to move servers to it, such as ' +
      'node-1.example:7444; unset: no server moves to it',
  ),
  SKERRY_QEMU_ROUTES: choice(
    ['none', 'bird', 'command'],
    'none',
    'qemu: who routes addresses to the host of their server. none: your routers, by block; ' +
      'bird: BIRD announces them by BGP; command: SKERRY_QEMU_ROUTE_COMMAND',
  ),
  SKERRY_QEMU_ROUTE_COMMAND: text(
    null,
    'qemu, command: program that gets every address and /64 on this host on standard input',
  ),
  SKERRY_CEPH_MONITORS: text(
    null,
    'qemu: monitors of the Ceph cluster for shared volumes, host:port, comma-separated; unset: none',
  ),
  SKERRY_CEPH_POOL: text('skerry', 'qemu: pool of shared volumes, the same on all hosts of a region'),
  SKERRY_CEPH_USER: text('skerry', 'qemu: user of the Ceph cluster, without client.'),
  SKERRY_CEPH_KEY_FILE: text(
    null,
    "qemu: file with that user's key, readable by root only; required with SKERRY_CEPH_MONITORS",
  ),
  SKERRY_CEPH_NETWORKS: text(
    '',
    'qemu: networks of the Ceph cluster, such as 10.30.0.0/24, to which QEMU may connect; required with ' +
      'SKERRY_CEPH_MONITORS',
  ),
  ...FILE_SETTINGS,
  ...BACKUP_SETTINGS,
  SKERRY_DNS_URL: url(
    'reverse DNS: HTTP API of PowerDNS, http://127.0.0.1:8083; unset: names are stored but not served',
  ),
  SKERRY_DNS_KEY: secret('key of that API; required with SKERRY_DNS_URL'),
  ...COIN_SETTINGS,
  SKERRY_SIM_INSTALL_S: number('3', [0, 1000], 'sandbox: seconds an install takes'),
  SKERRY_SIM_BLOCK_S: number('2', [0, 3600], 'sandbox: seconds between blocks; 0: blocks only on demand'),
  SKERRY_CRASH_AT: text(
    null,
    'sandbox: a commit or driver call at which the process kills itself; for tests',
  ),
} satisfies Record<string, SettingRow>;

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
