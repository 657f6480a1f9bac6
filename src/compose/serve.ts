/** The running service: its HTTP server and workers, and how both stop. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyListenOptions as ListenOptions } from 'fastify';
import { baseUrl, type Config } from '../config.ts';
import { EventStreams } from '../domain/events/streams.ts';
import type { BucketRules } from '../domain/tokens/buckets.ts';
import { compareMarks } from '../domain/topups/recovery.ts';
import type { LmtpListener } from '../drivers/mail/lmtp.ts';
import { RequestMetrics } from '../http/metrics/requests.ts';
import type { OnionListener } from '../http/onion-listener.ts';
import { buildHttpServer } from '../http/server.ts';
import type { HttpSettings } from '../http/settings.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { PasswordCost } from '../kernel/passwords.ts';
import { parseExplorers, parseTrustedProxies } from '../kernel/settings/lists.ts';
import { SECOND_MS } from '../kernel/time.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import { LIMITS } from '../spec/limits.ts';
import { isUnavailable } from '../store/connections/errors.ts';
import { Readiness } from '../store/connections/readiness.ts';
import type { ConnectionSettings } from '../store/db.ts';
import { registerProcess, removeOwnProcess } from '../store/service/processes.ts';
import { WAKE_CHANNEL } from '../store/service/service.ts';
import type { Job } from '../workers/job.ts';
import { JobRunner } from '../workers/job-runner.ts';
import { commonJobs } from '../workers/jobs.ts';
import { quotesJob } from '../workers/quotes.ts';
import { addressMarksJob, holdInRecovery } from '../workers/recovery.ts';
import { type AdminListener, listenForStaff } from './admin.ts';
import { syncClock } from './clock.ts';
import { ENDINGS, type Ending, keepIdleConnections } from './draining.ts';
import { createWebhookSender } from './drivers.ts';
import { listenForMail, listenForTor } from './listeners.ts';
import { createSandboxControl } from './sandbox.ts';
import { type OpenedService, openService } from './service.ts';
import { readSite } from './site.ts';
import { toListenError } from './startup-messages.ts';

export type Role = 'api' | 'worker';

export interface ServeOptions {
  readonly processes: number;
  readonly roles: ReadonlySet<Role>;
  /** Whether other services on this machine listen on the same port. */
  readonly sharedPort: boolean;
  /** Whether this is a child of a parent process. */
  readonly child: boolean;
  /** Print a line on standard output, and on standard error. */
  readonly print: (line: string) => void;
  readonly warn: (line: string) => void;
}

const ALL_ROLES: ReadonlySet<Role> = new Set(['api', 'worker']);

export interface RunningService {
  readonly opened: OpenedService;
  readonly http: FastifyInstance;
  readonly runner: JobRunner;
  /** The URL it listens on, or null without the role `api`. */
  readonly url: string | null;
  /** The URL of the operator's console, or null if it has no port. */
  readonly consoleUrl: string | null;
  /** The port for mail to tickets, or null. */
  readonly lmtpPort: number | null;
  /** Stops listening, finishes requests, lets workers finish their step, and closes the database. */
  stop(ending?: Ending): Promise<void>;
}

/**
 * Connections that wait to be accepted. Node accepts one for each turn of its event loop, and a connection
 * that finds no place is tried again by its client after a second. Linux has the same default maximum.
 */
const BACKLOG = 4_096;
const IDLE_SWEEP_INTERVAL_MS = 100;

export interface StartOptions {
  readonly roles?: ReadonlySet<Role>;
  /** Whether other processes listen on the same port. */
  readonly sharedPort?: boolean;
  /**
   * Whether token buckets are stored in the database. Default: if other processes may serve the same
   * customers.
   */
  readonly sharedRateLimits?: boolean;
  /** Of new passwords. Tests that sign up many customers lower it. */
  readonly passwordCost?: PasswordCost;
}

export async function startService(
  config: Config,
  connection: ConnectionSettings,
  { roles = ALL_ROLES, sharedPort = false, sharedRateLimits, passwordCost }: StartOptions = {},
): Promise<RunningService> {
  const sender = createWebhookSender(config);
  const site = readSite(config);
  const opened = await openService(config, connection, { passwordCost });
  await compareMarks(opened.service).catch(async (error: unknown) => {
    await opened.close();
    throw error;
  });
  const runner = new JobRunner({
    jobs: createJobs(opened, sender),
    pollMs: config.SKERRY_WORKER_POLL_MS,
    log: opened.log,
  });
  // Only the embedded database is certain to have one service; any other may have several.
  const rates = {
    shared: sharedRateLimits ?? (sharedPort || config.DATABASE_URL !== null),
    ...configuredRateLimits(config),
  };
  const streams = new EventStreams(opened.service);
  const requests = new RequestMetrics();
  let hasStopped = false;
  const isStopping = () => hasStopped;
  const http = createHttp(config, opened, runner, { sharedPort, rates, streams, site, requests, isStopping });
  let onion: OnionListener | null = null;
  let admin: AdminListener | null = null;
  let lmtp: LmtpListener | null = null;
  const stop = async ({ isDelayed, idleMs, requestsMs }: Ending = ENDINGS.stopped) => {
    hasStopped = true;
    if (isDelayed && http.server.listening) await sleep(config.SKERRY_STOP_DELAY_S * SECOND_MS);
    const servers = [http.server, ...(admin === null ? [] : [admin.server])];
    if (idleMs > 0) for (const server of servers) keepIdleConnections(server, idleMs);
    const drainTimer = setTimeout(() => {
      for (const server of servers) server.closeAllConnections();
      opened.service.mailer?.close();
    }, requestsMs);
    // A keep-alive connection whose response was sent after the stop began would wait for a request.
    const sweep = setInterval(() => {
      for (const server of servers) server.closeIdleConnections();
    }, IDLE_SWEEP_INTERVAL_MS);
    // Stop the runner first, so that a request that waits for work to settle gets its response.
    const runnerStopped = runner.stop();
    onion?.close();
    await Promise.all([http.close(), admin?.close(), lmtp?.close()]);
    onion?.endAll();
    clearInterval(sweep);
    await runnerStopped;
    clearTimeout(drainTimer);
    // Without a database, the others remove the record and release what is left.
    await removeOwnProcess(opened.db).catch(() => undefined);
    await opened.close();
  };
  try {
    await subscribeToWakeups(opened, () => {
      runner.wake();
      streams.wake();
    });
    if (roles.has('api') && config.SKERRY_GEO_FILE !== null) await requireGeoDatabase(opened);
    const url = roles.has('api') ? await listen(config, http, sharedPort) : null;
    if (url !== null) opened.setListenUrl(url);
    if (url !== null) onion = await listenForTor(config, http, { opened, sharedPort, backlog: BACKLOG });
    if (url !== null)
      admin = await listenForStaff(config, opened, { sharedPort, site, requests, isStopping });
    if (url !== null) lmtp = await listenForMail(config, opened, sharedPort);
    if (roles.has('worker')) runner.start();
    if (roles.has('api')) preloadGeoDatabase(opened);
    return { opened, http, runner, url, consoleUrl: admin?.url ?? null, lmtpPort: lmtp?.port ?? null, stop };
  } catch (error) {
    await stop(ENDINGS.abandoned);
    throw error;
  }
}

function createJobs(opened: OpenedService, sender: WebhookSender): Job[] {
  const { service } = opened;
  const clockJob: Job = {
    name: 'clock of other processes',
    run: () => syncClock(opened).then(() => 0),
    nextDue: async () => null,
    busy: async () => false,
  };
  const webhooks = opened.seams.port('webhooks', sender);
  const jobs = [...createModeJobs(opened), ...commonJobs(service, webhooks)];
  return [clockJob, addressMarksJob(service), ...holdInRecovery(service, jobs)];
}
/** Jobs of one mode only: a sandbox mines its own blocks, and a live service polls prices. */
function createModeJobs({ service, simulation, live }: OpenedService): Job[] {
  if (live !== null) return [quotesJob(service, live.feeds)];
  if (simulation === null) return [];
  return [
    {
      name: 'simulated blocks',
      run: () => simulation.chains.tick(),
      nextDue: () => simulation.chains.nextBlockDue(),
      busy: async () => false,
    },
  ];
}

function createHttp(
  config: Config,
  opened: OpenedService,
  runner: JobRunner,
  {
    sharedPort,
    rates,
    streams,
    site,
    requests,
    isStopping,
  }: {
    sharedPort: boolean;
    rates: HttpSettings['rates'];
    streams: EventStreams;
    site: HttpSettings['site'];
    requests: RequestMetrics;
    isStopping: () => boolean;
  },
): FastifyInstance {
  const { service, db, simulation } = opened;
  const sandbox = simulation && createSandboxControl({ ...opened, simulation }, runner);
  const readiness = new Readiness(db, LIMITS.readyTimeoutMs);
  const http = buildHttpServer({
    service,
    geo: opened.geo,
    requestLog: opened.requestLog,
    requests,
    streams,
    settings: {
      baseUrl: config.SKERRY_BASE_URL,
      site,
      explorers: parseExplorers(config.SKERRY_EXPLORERS),
      trustedProxies: parseTrustedProxies(config.SKERRY_TRUSTED_PROXIES),
      signupsPerHour: config.SKERRY_SIGNUPS_PER_HOUR,
      signinFailuresPerHour: config.SKERRY_SIGNIN_FAILURES_PER_HOUR,
      tokenFailuresPerHour: config.SKERRY_TOKEN_FAILURES_PER_HOUR,
      rates,
      overload: { targetMs: config.SKERRY_OVERLOAD_MS, requestsMax: config.SKERRY_REQUESTS_MAX },
      isUnavailable,
    },
    isStopping,
    ready: async () => !isStopping() && (await readiness.isReady()),
    // Another process may serve the next request of the caller that moved the clock of a sandbox.
    ...(sharedPort && simulation !== null ? { beforeRequest: () => syncClock(opened) } : {}),
    ...(sandbox && {
      sandbox: {
        control: sandbox,
        publicUrl: () => (config.SKERRY_SANDBOX_PUBLIC ? service.settings.baseUrl : null),
      },
    }),
  });
  http.addHook('onClose', async () => readiness.close());
  return http;
}

function configuredRateLimits(config: Config): BucketRules {
  return {
    general: { capacity: config.SKERRY_RATE_CAPACITY, refillPerS: config.SKERRY_RATE_REFILL_PER_S },
    provision: {
      capacity: config.SKERRY_PROVISION_RATE_CAPACITY,
      refillPerS: config.SKERRY_PROVISION_RATE_REFILL_PER_S,
    },
  };
}

async function listen(config: Config, http: FastifyInstance, sharedPort: boolean): Promise<string> {
  try {
    const { SKERRY_HOST: host, SKERRY_PORT: port } = config;
    // Fastify's types lack `reusePort`; Node's `listen` accepts it.
    const options: ListenOptions & { reusePort: boolean } = {
      ...{ host, port, backlog: BACKLOG, reusePort: sharedPort },
    };
    await http.listen(options);
  } catch (error) {
    throw toListenError(config, error);
  }
  const address = http.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : config.SKERRY_PORT;
  return baseUrl({ ...config, SKERRY_BASE_URL: null }, port);
}

/** Fails on an unreadable file: a typing error must not disable the operator's blocks by country. */
async function requireGeoDatabase({ geo }: OpenedService): Promise<void> {
  try {
    await geo.load();
  } catch {
    throw new OperatorError(
      'SKERRY_GEO_FILE: not a readable .mmdb country database; fix the path, or unset it for our own',
    );
  }
}

/** Runs after the service listens: until the file is loaded, each lookup loads it. */
function preloadGeoDatabase({ geo, log }: OpenedService): void {
  geo.load().catch((error: unknown) => log.error({ err: error }, 'loading the country database failed'));
}

/** Wakes the workers and the event streams on commits of this and of other processes. */
async function subscribeToWakeups(opened: OpenedService, wake: () => void): Promise<void> {
  opened.onWake(wake);
  const onNotification = () => {
    syncClock(opened)
      .catch(() => undefined)
      .finally(wake);
  };
  await opened.db.listen(WAKE_CHANNEL, onNotification, registerProcess);
}
