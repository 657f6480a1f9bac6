/**
 * GET /metrics, in the text format of Prometheus, for anyone with a staff token. Each process reports its own
 * requests and event loop, and what all share from the database.
 */
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import { type Gauges, readGauges } from '../../domain/health/metrics.ts';
import { DATABASE_METRICS, type DatabaseMetric, METRICS_PATH } from '../../spec/staff/monitoring.ts';
import type { RequestMetrics } from '../metrics/requests.ts';
import { answerAdminError, requireActor } from './api.ts';
import type { AdminEdge } from './route.ts';

/** Several scrapers read the database once. */
const FRESH_MS = 2_000;
/** Gauges whose names end like those of counters. */
const MISNAMED = ['handles', 'requests', 'resources'].map((each) => `skerry_nodejs_active_${each}_total`);

let processRegistry: Registry | null = null;

/** Once for all servers of a process, because the library observes the event loop from then on. */
function processMetrics(): Registry {
  if (processRegistry) return processRegistry;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'skerry_' });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  processRegistry = registry;
  return registry;
}

/** The counts of this process. */
export interface OwnMetrics {
  readonly requests: RequestMetrics;
  /** Other processes answer on the same port: the series of each need a label, or they would be mixed. */
  readonly sharesPort: boolean;
}

export function registerMetrics(scope: FastifyInstance, edge: AdminEdge, own: OwnMetrics): void {
  const label = own.sharesPort ? { pid: String(process.pid) } : {};
  const ofProcess = processMetrics();
  ofProcess.setDefaultLabels(label);
  let latest: { readonly atMs: number; readonly gauges: Promise<Gauges> } | null = null;
  const read = (): Promise<Gauges> => {
    const nowMs = performance.now();
    if (latest && nowMs - latest.atMs < FRESH_MS) return latest.gauges;
    const gauges = readGauges(edge.service);
    latest = { atMs: nowMs, gauges };
    gauges.catch(() => (latest = null));
    return gauges;
  };
  scope.setErrorHandler((error, request, reply) => answerAdminError(edge, error, request, reply));
  scope.get(METRICS_PATH, async (request, reply) => {
    await requireActor(edge, request, reply);
    const ofRequests = requestRegistry(own.requests);
    ofRequests.setDefaultLabels(label);
    const registries = [ofProcess, ofRequests, databaseRegistry(await read())];
    const texts = await Promise.all(registries.map((each) => each.metrics()));
    return await reply.type(ofProcess.contentType).send(texts.join('\n'));
  });
}

/** The library formats what `get` returns. Its own histogram would allocate for each request. */
function requestRegistry(requests: RequestMetrics): Registry {
  const registry = new Registry();
  for (const each of requests.read()) {
    registry.registerMetric({ ...each, get: async () => each } as unknown as Metric);
  }
  return registry;
}

function databaseRegistry(gauges: Gauges): Registry {
  const registry = new Registry();
  for (const name of Object.keys(DATABASE_METRICS) as DatabaseMetric[]) {
    const { help, labels } = DATABASE_METRICS[name];
    const metric = new Gauge<string>({ name, help, labelNames: [...labels], registers: [registry] });
    for (const row of gauges[name]) metric.set(row.labels, row.value);
  }
  return registry;
}
