/** The metrics of a server, with charts as pictures. */
import type { FastifyInstance } from 'fastify';
import { getMetrics } from '../../../domain/servers/metrics.ts';
import { describeServer } from '../../../domain/servers/read.ts';
import { fail } from '../../../kernel/fail.ts';
import {
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
    const name = params.file.replace(/\.png$/, '');
    if (!isChart(name)) fail('not_found');
    const query = parseQuery(url);
    const period = readPeriod(query);
    const [{ ramMb }, metrics] = await Promise.all([
      describeServer(edge.service, owner, params.id),
      getMetrics(edge.service, owner, params.id, stepOf(period)),
    ]);
    const theme = field(query, 'theme') === 'dark' ? 'dark' : 'light';
    const chart = serverChart({ metrics, ramMb, period }, name, theme);
    const scale = field(query, 'scale') === '2' ? 2 : 1;
    return { png: await chartPng(chart, { scale, customerId: owner.customerId }) };
  });
}
