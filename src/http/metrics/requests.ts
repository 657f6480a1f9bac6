/**
 * Counts requests in memory. A request of a known route increments numbers and allocates nothing, so counting
 * costs it well under a microsecond.
 */
import { DURATION_BOUNDS_S, REQUEST_METRICS } from '../../spec/staff/monitoring.ts';

export type Surface = 'api' | 'form' | 'page' | 'other';

/** One line of the answer to a scrape. */
export interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface RequestMetric {
  readonly name: keyof typeof REQUEST_METRICS;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  readonly values: readonly Sample[];
}

const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
/** Other methods share one series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const BOUNDS_MS = DURATION_BOUNDS_S.map((seconds) => seconds * 1_000);
const HISTOGRAM = 'skerry_request_duration_seconds';

class Durations {
  /** By bound; the last one has the rest. */
  readonly counts = new Float64Array(BOUNDS_MS.length + 1);
  sumMs = 0;

  add(ms: number): void {
    let index = 0;
    while (index < BOUNDS_MS.length && ms > (BOUNDS_MS[index] ?? 0)) index += 1;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.sumMs += ms;
  }
}

interface RouteCounts {
  readonly surface: Surface;
  readonly route: string;
  readonly method: string;
  readonly byStatus: Float64Array;
  readonly durations: Durations;
}

export class RequestMetrics {
  refused = 0;
  /** By method, then by pattern of the path: both are bounded, and neither is from the request itself. */
  readonly #routes = new Map<string, Map<string, RouteCounts>>();
  readonly #durations = new Map<Surface, Durations>();

  /** `route` is the pattern; null: no route matched. */
  count(method: string, route: string | null, status: number, ms: number, isTimed: boolean): void {
    const counts = this.#countsOf(METHODS.has(method) ? method : 'other', route ?? 'none');
    const index = Math.min(Math.max(Math.floor(status / 100), 1), STATUS_CLASSES.length) - 1;
    counts.byStatus[index] = (counts.byStatus[index] ?? 0) + 1;
    if (isTimed) counts.durations.add(ms);
  }

  #countsOf(method: string, route: string): RouteCounts {
    const ofMethod = this.#routes.get(method) ?? new Map<string, RouteCounts>();
    const known = ofMethod.get(route);
    if (known) return known;
    this.#routes.set(method, ofMethod);
    const surface = surfaceOf(route);
    const counts: RouteCounts = {
      ...{ surface, route, method },
      byStatus: new Float64Array(STATUS_CLASSES.length),
      durations: this.#durationsOf(surface),
    };
    ofMethod.set(route, counts);
    return counts;
  }

  #durationsOf(surface: Surface): Durations {
    const known = this.#durations.get(surface) ?? new Durations();
    this.#durations.set(surface, known);
    return known;
  }

  read(): RequestMetric[] {
    const routes = [...this.#routes.values()].flatMap((each) => [...each.values()]);
    const counted = routes.flatMap(({ surface, route, method, byStatus }) =>
      STATUS_CLASSES.flatMap((status, index) => {
        const value = byStatus[index] ?? 0;
        return value > 0 ? [{ labels: { surface, route, method, status }, value }] : [];
      }),
    );
    const durations = [...this.#durations].flatMap(([surface, each]) => histogramOf(surface, each));
    return [
      metric('skerry_requests_total', 'counter', counted),
      metric(HISTOGRAM, 'histogram', durations),
      metric('skerry_requests_refused_total', 'counter', [{ labels: {}, value: this.refused }]),
    ];
  }
}

function metric(
  name: RequestMetric['name'],
  type: RequestMetric['type'],
  values: readonly Sample[],
): RequestMetric {
  return { name, help: REQUEST_METRICS[name].help, type, values };
}

function histogramOf(surface: Surface, { counts, sumMs }: Durations): Sample[] {
  let total = 0;
  const buckets = [...counts].map((count, index): Sample => {
    total += count;
    const le = String(DURATION_BOUNDS_S[index] ?? '+Inf');
    return { metricName: `${HISTOGRAM}_bucket`, labels: { surface, le }, value: total };
  });
  const labels = { surface };
  return [
    ...buckets,
    { metricName: `${HISTOGRAM}_sum`, labels, value: sumMs / 1_000 },
    { metricName: `${HISTOGRAM}_count`, labels, value: total },
  ];
}

function surfaceOf(route: string): Surface {
  if (route.startsWith('/v1/')) return 'api';
  if (route.endsWith('.php')) return 'form';
  return route === 'none' || /^\/(?:healthz|readyz|sandbox|assets)/.test(route) ? 'other' : 'page';
}
