/** Drivers of machines, prices, mail, reverse DNS, and webhooks, from the settings. */

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { DiskBlobs } from '../drivers/blobs/disk.ts';
import { LayeredBlobs } from '../drivers/blobs/layered.ts';
import { S3Blobs } from '../drivers/blobs/s3.ts';
import type { S3Options } from '../drivers/blobs/s3-calls.ts';
import { openQemuCompute, type QemuCompute } from '../drivers/compute/qemu/driver.ts';
import type { Announcement, CephOptions, QemuOptions } from '../drivers/compute/qemu/host.ts';
import { BIRD } from '../drivers/compute/qemu/net/announce.ts';
import { PowerDns } from '../drivers/dns/powerdns.ts';
import { SmtpMailer } from '../drivers/mail/smtp.ts';
import { EcbEuro } from '../drivers/rates/ecb.ts';
import { quoteFeeds } from '../drivers/rates/feeds.ts';
import { HttpsSender } from '../drivers/webhooks/https.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Market } from '../kernel/market-rate.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import {
  type FixedPrices,
  parseCidrBlocks,
  parseFixedPrices,
  parseQuoteSources,
} from '../kernel/settings/lists.ts';
import { parseSender, parseSmtpUrl } from '../kernel/settings/smtp-url.ts';
import type { BlobStore } from '../ports/blobs.ts';
import type { ReverseDns } from '../ports/dns.ts';
import type { Mailer } from '../ports/mail.ts';
import type { EuroFeed, QuoteFeed } from '../ports/rates.ts';

function qemuOptions(config: Config): Omit<QemuOptions, 'log'> {
  const names = config.SKERRY_QEMU_HOSTS ?? hostname().toLowerCase();
  return {
    dir: config.SKERRY_QEMU_DIR ?? join(config.SKERRY_DATA_DIR, 'qemu'),
    hosts: names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    accelerator: config.SKERRY_QEMU_ACCELERATOR,
    netns: config.SKERRY_QEMU_NETNS,
    allowPrivate: parseCidrBlocks(config.SKERRY_QEMU_ALLOW_PRIVATE),
    peerAddress: config.SKERRY_QEMU_PEER_ADDRESS,
    announcement: readAnnouncement(config),
    ceph: cephOptions(config),
  };
}

function readAnnouncement(config: Config): Announcement {
  const { SKERRY_QEMU_ROUTES: by } = config;
  if (by === 'bird') return { by, ...BIRD };
  if (by !== 'command') return null;
  const program = config.SKERRY_QEMU_ROUTE_COMMAND;
  if (program === null)
    throw new OperatorError('SKERRY_QEMU_ROUTES=command needs SKERRY_QEMU_ROUTE_COMMAND: enter a program');
  return { by, program };
}

/** Returns null if the host has no shared storage. Throws an OperatorError if settings are missing. */
function cephOptions(config: Config): CephOptions | null {
  const { SKERRY_CEPH_MONITORS: monitors, SKERRY_CEPH_KEY_FILE: keyFile } = config;
  if (monitors === null) return null;
  const networks = parseCidrBlocks(config.SKERRY_CEPH_NETWORKS);
  if (networks.length === 0)
    throw new OperatorError('SKERRY_CEPH_NETWORKS: enter the networks of the Ceph cluster');
  if (keyFile === null) throw new OperatorError('SKERRY_CEPH_KEY_FILE: enter the path of the key');
  const addresses = monitors.split(',').map((address) => address.trim());
  if (!addresses.every((address) => /^(\[[0-9a-fA-F:]+\]|[^\s:/[\]]+):\d{1,5}$/.test(address)))
    throw new OperatorError('SKERRY_CEPH_MONITORS: enter host:port, separated by commas');
  const { SKERRY_CEPH_POOL: pool, SKERRY_CEPH_USER: user } = config;
  return { monitors: addresses, pool, user, keyFile: resolve(keyFile), networks };
}

/** Returns the driver of real machines, or null if they are simulated. */
export function createQemuCompute(config: Config, log: Logger): QemuCompute | null {
  if (config.SKERRY_COMPUTE === 'simulator') return null;
  const options = { ...qemuOptions(config), log };
  if (config.SKERRY_COMPUTE === 'qemu') return openQemuCompute(options);
  return openQemuCompute({ ...options, hosts: [], peerAddress: null, keepsOnlyImages: true });
}

/**
 * Returns the driver of this machine as a host with these names in the inventory. The control plane knows by
 * which name others reach it.
 */
export function openHostCompute(
  config: Config,
  log: Logger,
  host: { readonly hosts: readonly string[]; readonly peerAddress: string | null },
): QemuCompute {
  return openQemuCompute({ ...qemuOptions(config), ...host, log });
}

/**
 * Settings of MarketRates and of rate reports. Throws an OperatorError if there are fewer sources than a rate
 * needs.
 */
export function configuredMarket(config: Config): Market {
  const sources = parseQuoteSources(config.SKERRY_QUOTE_SOURCES).map(({ name }) => name);
  const sourcesMin = config.SKERRY_QUOTE_SOURCES_MIN;
  if (sources.length < sourcesMin) {
    throw new OperatorError(
      `SKERRY_QUOTE_SOURCES_MIN: a rate needs ${sourcesMin} prices, but SKERRY_QUOTE_SOURCES lists ` +
        `${sources.length}; add sources, or lower the minimum`,
    );
  }
  const maxAgeS = config.SKERRY_QUOTE_MAX_AGE_S;
  const maxSpreadPercent = config.SKERRY_QUOTE_MAX_SPREAD_PERCENT;
  return { sources, rules: { maxAgeS, sourcesMin, maxSpreadPercent } };
}

/** Prices that the operator fixed. Empty: prices come from sources. */
export function configuredPrices(config: Config): FixedPrices {
  return parseFixedPrices(config.SKERRY_FIXED_RATES);
}

/** Feeds for the quotes job: none for what has a fixed price. */
export function configuredFeeds(config: Config): {
  readonly feeds: readonly QuoteFeed[];
  readonly euro: EuroFeed | null;
} {
  const fixed = configuredPrices(config);
  const euro = fixed.has('EUR') ? null : new EcbEuro({ url: config.SKERRY_EURO_URL });
  if (fixed.size > 0) return { feeds: [], euro };
  const feeds = quoteFeeds(parseQuoteSources(config.SKERRY_QUOTE_SOURCES), {
    maxSpreadPercent: config.SKERRY_QUOTE_MAX_SPREAD_PERCENT,
  });
  return { feeds, euro };
}

/** Returns null if mail is not configured. loadConfig has validated both settings. */
export function createMailer(config: Config): Mailer | null {
  const server = parseSmtpUrl(config.SKERRY_SMTP_URL ?? '');
  const from = parseSender(config.SKERRY_MAIL_FROM ?? '');
  return server && from ? new SmtpMailer({ server, from }) : null;
}

/** Returns the publisher of reverse DNS, or null if it is not configured. */
export function createReverseDns(config: Config): ReverseDns | null {
  const { SKERRY_DNS_URL: url, SKERRY_DNS_KEY: key } = config;
  return url === null || key === null ? null : new PowerDns({ url, key });
}

/**
 * Returns where customers' files are: in a store, or in the data folder. Databases that share a bucket have
 * names of their own in it.
 */
export function createBlobs(config: Config, database: string): BlobStore {
  const disk = new DiskBlobs({ folder: join(config.SKERRY_DATA_DIR, 'images') });
  const options = storeOptions(config);
  if (options === null) return disk;
  return new LayeredBlobs(disk, new S3Blobs({ ...options, prefix: `skerry-${database}` }));
}

/** Returns how to reach the store of files; null if there is none. */
export function storeOptions(config: Config): Omit<S3Options, 'prefix'> | null {
  const {
    SKERRY_S3_URL: url,
    SKERRY_S3_BUCKET: bucket,
    SKERRY_S3_ACCESS_KEY: accessKey,
    SKERRY_S3_SECRET_KEY: secretKey,
  } = config;
  if (url === null || bucket === null || accessKey === null || secretKey === null) return null;
  const { SKERRY_S3_REGION: region, SKERRY_S3_HOST_STYLE: hostStyle } = config;
  return { url, bucket, region, accessKey, secretKey, hostStyle };
}

/** Creates the webhook sender. Throws if the certificate file is unreadable: every receiver would fail. */
export function createWebhookSender(config: Config): HttpsSender {
  const file = config.SKERRY_WEBHOOK_CA_FILE;
  return new HttpsSender({
    timeoutMs: config.SKERRY_WEBHOOK_TIMEOUT_MS,
    allowLoopback: config.SKERRY_WEBHOOK_ALLOW_LOOPBACK,
    ...(file === null ? {} : { ca: readCertificates(file) }),
  });
}

function readCertificates(file: string): string {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // Reported below: a missing file has no certificates.
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new OperatorError(
    'SKERRY_WEBHOOK_CA_FILE: not a readable file of PEM certificates; fix the path, or unset it',
  );
}
