/** The metrics of a server, with charts as pictures. */
import type { FastifyInstance } from 'fastify';
import { getMetrics } from '../../../domain/servers/metrics.ts';
import { describeServer } from '../../../domain/servers/read.ts';
import { fail } from '../../../kernel/fail.ts';
import { chartValues } from '../../../panel/charts/values.ts';
import {
  chartsEnd,
  isChart,
  isPeriod,
  metricsView,
  type Period,
  serverChart,
  stepOf,
} from '../../../panel/servers/metrics.ts';
import { type Form, field, parseQuery } from '../../form.ts';
import type { Edge } from '../../settings.ts';
import { page } from '../page-types.ts';
import { registerPicture } from '../pipeline.ts';
import { chartPng } from '../png-renderer.ts';
import { loadServer, SERVER_PATH } from './overview.ts';

function readPeriod(query: Form): Period {
  const word = field(query, 'period');
  return isPeriod(word) ? word : '24h';
}

/** A page that was open for a while shows newer pictures than it asks for. */
const KEPT_S = 3_600;

/** The end of the page's charts, so that its pictures and values agree with its texts. */
function readEnd(query: Form, latestS: number): number {
  const endS = Number(field(query, 'until'));
  return Number.isInteger(endS) && endS <= latestS && endS > latestS - KEPT_S ? endS : latestS;
}

export const SERVER_METRICS_PAGE = page({
  path: `${SERVER_PATH}/metrics`,
  access: 'customer',
  readOperations: ['servers.metrics'],
  render: async (context) => {
    const period = readPeriod(context.query);
    const [page, metrics] = await Promise.all([
      loadServer(context),
      getMetrics(context.service, context.customer(), context.params.id, stepOf(period)),
    ]);
    return metricsView({ ...page, metrics, period });
  },
});

/** Serves charts to the server's owner. */
export function registerServerCharts(scope: FastifyInstance, edge: Edge): void {
  const path = `${SERVER_PATH.replace('{id}', ':id')}/charts/:file`;
  registerPicture<{ id: string; file: string }>(scope, edge, path, async (owner, { params, url }) => {
    const name = params.file.replace(/\.(png|json)$/, '');
    if (!isChart(name)) fail('not_found');
    const query = parseQuery(url);
    const period = readPeriod(query);
    const [{ ramMb }, metrics] = await Promise.all([
      describeServer(edge.service, owner, params.id),
      getMetrics(edge.service, owner, params.id, stepOf(period)),
    ]);
    const theme = field(query, 'theme') === 'dark' ? 'dark' : 'light';
    const endS = readEnd(query, chartsEnd(metrics));
    const isSmall = field(query, 'size') === 'small';
    const chart = serverChart({ metrics, ramMb, period, endS, isSmall }, name, theme);
    if (params.file.endsWith('.json')) return { values: chartValues(chart) };
    const scale = field(query, 'scale') === '2' ? 2 : 1;
    return { png: await chartPng(chart, { scale, customerId: owner.customerId }) };
  });
}
