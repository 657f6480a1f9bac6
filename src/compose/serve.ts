/** The running service: the HTTP door, the workers, and how both stop. */
import type { FastifyInstance, FastifyListenOptions as ListenOptions } from 'fastify';
import { baseUrl, type Config } from '../config.ts';
import { EventStreams } from '../domain/events/streams.ts';
import type { BucketRules } from '../domain/tokens/buckets.ts';
import { sandboxRoutes } from '../http/sandbox/routes.ts';
import { buildHttp } from '../http/server.ts';
import type { HttpSettings } from '../http/settings.ts';
import { parseProxies } from '../kernel/proxies.ts';
import { Refusal } from '../kernel/refusal.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import { readClockOffset, WAKE_CHANNEL } from '../store/clock.ts';
import { type ConnectionSettings, isUnavailable } from '../store/db.ts';
import { deliverDuty } from '../workers/deliver.ts';
import type { Duty } from '../workers/duty.ts';
import { expireTopupsDuty } from '../workers/expire-topups.ts';
import { fanOutDuty } from '../workers/fan-out.ts';
import { mailDuty } from '../workers/mail.ts';
import { operateDuty } from '../workers/operate.ts';
import { quotesDuty } from '../workers/quotes.ts';
import { renewDuty } from '../workers/renew.ts';
import { retainDuty } from '../workers/retain.ts';
import { Runner } from '../workers/runner.ts';
import { sampleDuty } from '../workers/sample.ts';
import { tasksDuty } from '../workers/tasks.ts';
import { tendDuty } from '../workers/tend.ts';
import { throttleDuty } from '../workers/throttle.ts';
import { watchDuty } from '../workers/watch.ts';
import { listenRefusal } from './listen.ts';
import { sandboxControl } from './sandbox.ts';
import { type Opened, openService } from './service.ts';
import { readTerms } from './terms.ts';
import { webhookSender } from './webhooks.ts';

export type Role = 'api' | 'worker';

export interface ServeOptions {
  readonly processes: number;
  readonly roles: ReadonlySet<Role>;
  /** One of the processes that a parent started. */
  readonly child: boolean;
  /** A line on standard output, and on standard error. */
  readonly say: (line: string) => void;
  readonly warn: (line: string) => void;
}

const BOTH: ReadonlySet<Role> = new Set(['api', 'worker']);

export interface Running {
  readonly opened: Opened;
  readonly http: FastifyInstance;
  readonly runner: Runner;
  /** Where it listens, or null without the role `api`. */
  readonly url: string | null;
  /** Stops listening, finishes requests, lets workers finish their step, closes the database. */
  stop(): Promise<void>;
}

/** Requests that take longer than this to finish are cut when the service stops. */
const DRAIN_MS = 6_000;
const IDLE_SWEEP_MS = 100;

export interface StartOptions {
  readonly roles?: ReadonlySet<Role>;
  /** Whether other processes listen on the same port. */
  readonly sharedPort?: boolean;
  /** Whether token buckets are kept in the database; left out, where other processes may serve the same customers. */
  readonly sharedRates?: boolean;
}

export async function startService(
  config: Config,
  connection: ConnectionSettings,
  { roles = BOTH, sharedPort = false, sharedRates }: StartOptions = {},
): Promise<Running> {
  const sender = webhookSender(config);
  const terms = readTerms(config);
  const opened = await openService(config, connection);
  const runner = new Runner({
    duties: duties(opened, sender),
    pollMs: config.SKERRY_WORKER_POLL_MS,
    log: opened.log,
  });
  // Only the embedded database is sure to have one service; behind another there may be many.
  const rates = { shared: sharedRates ?? (sharedPort || config.DATABASE_URL !== null), ...ratesOf(config) };
  const streams = new EventStreams(opened.service);
  const http = door(config, opened, runner, { sharedPort, rates, streams, terms });
  const stop = async () => {
    const cut = setTimeout(() => {
      http.server.closeAllConnections();
      opened.service.mailer?.close();
    }, DRAIN_MS);
    // A kept-alive connection whose request was answered after the stop began would wait for the next one.
    const sweep = setInterval(() => http.server.closeIdleConnections(), IDLE_SWEEP_MS);
    // Told first, so that a request that waits for work to settle is answered.
    const rested = runner.stop();
    await http.close();
    clearInterval(sweep);
    await rested;
    clearTimeout(cut);
    await opened.close();
  };
  try {
    await listenForOthers(opened, () => {
      runner.wake();
      streams.wake();
    });
    if (roles.has('api') && config.SKERRY_GEO_FILE !== null) await requireCountries(opened);
    const url = roles.has('api') ? await listen(config, http, sharedPort) : null;
    if (url !== null) opened.listensAt(url);
    if (roles.has('worker')) runner.start();
    if (roles.has('api')) loadCountries(opened);
    return { opened, http, runner, url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function duties(opened: Opened, sender: WebhookSender): Duty[] {
  const { service } = opened;
  const others: Duty = {
    name: 'clock of other processes',
    run: () => readClock(opened).then(() => 0),
    nextDue: async () => null,
    busy: async () => false,
  };
  return [
    others,
    ...outsideDuties(opened),
    watchDuty(service),
    expireTopupsDuty(service),
    // After the chains were read: what was paid is known before somebody is suspended.
    renewDuty(service),
    operateDuty(service),
    tasksDuty(service),
    tendDuty(service),
    sampleDuty(service),
    throttleDuty(service),
    fanOutDuty(service),
    deliverDuty(service, sender),
    mailDuty(service),
    retainDuty(service),
  ];
}

/** What nobody else does: a sandbox makes its own blocks, and a live service asks for prices. */
function outsideDuties({ service, simulation, reality }: Opened): Duty[] {
  if (reality !== null) return [quotesDuty(service, reality.feeds)];
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

function door(
  config: Config,
  opened: Opened,
  runner: Runner,
  {
    sharedPort,
    rates,
    streams,
    terms,
  }: {
    sharedPort: boolean;
    rates: HttpSettings['rates'];
    streams: EventStreams;
    terms: HttpSettings['terms'];
  },
): FastifyInstance {
  const { service, db, simulation } = opened;
  return buildHttp({
    service,
    geo: opened.geo,
    requestLog: opened.requestLog,
    streams,
    settings: {
      baseUrl: config.SKERRY_BASE_URL,
      terms,
      contact: config.SKERRY_CONTACT,
      trustedProxies: parseProxies(config.SKERRY_TRUSTED_PROXIES),
      signupsPerHour: config.SKERRY_SIGNUPS_PER_HOUR,
      signinFailuresPerHour: config.SKERRY_SIGNIN_FAILURES_PER_HOUR,
      tokenFailuresPerHour: config.SKERRY_TOKEN_FAILURES_PER_HOUR,
      rates,
      isUnavailable,
    },
    ready: async () => (await db.rows('select 1 as one')).length === 1,
    // With several processes, a caller who moved the clock may be answered by another one next.
    ...(sharedPort ? { beforeRequest: () => readClock(opened) } : {}),
    ...(simulation && {
      sandbox: (scope) => sandboxRoutes(scope, sandboxControl({ ...opened, simulation }, runner)),
    }),
  });
}

function ratesOf(config: Config): BucketRules {
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
    // Fastify's types do not know it; Node's `listen` does.
    const options: ListenOptions & { reusePort: boolean } = { host, port, reusePort: sharedPort };
    await http.listen(options);
  } catch (error) {
    throw listenRefusal(config, error);
  }
  const address = http.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : config.SKERRY_PORT;
  return baseUrl({ ...config, SKERRY_BASE_URL: null }, port);
}

/** The operator's own file: what it blocks by country must not be let through because of a typing error. */
async function requireCountries({ geo }: Opened): Promise<void> {
  try {
    await geo.load();
  } catch {
    throw new Refusal(
      'SKERRY_GEO_FILE: there is no .mmdb file of countries that can be read; unset it for our own',
    );
  }
}

/** Not before it listens: until it is read, a look-up reads it. */
function loadCountries({ geo, log }: Opened): void {
  geo.load().catch((error: unknown) => log.error({ err: error }, 'countries of addresses are not known'));
}

/** Other processes' commits wake our workers and the event streams, as our own do. */
async function listenForOthers(opened: Opened, wake: () => void): Promise<void> {
  opened.onWake(wake);
  await opened.db.listen(WAKE_CHANNEL, () => {
    readClock(opened)
      .catch(() => undefined)
      .finally(wake);
  });
}

/** A clock that another process moved moves here too; it never goes back. */
async function readClock({ db, clock }: Opened): Promise<void> {
  clock.offsetMs = Math.max(clock.offsetMs, await readClockOffset(db));
}
