/** The metrics of a server, with charts as pictures. */
import type { FastifyInstance } from 'fastify';
import { getMetrics } from '../../../domain/servers/metrics.ts';
import { describeServer } from '../../../domain/servers/read.ts';
import { fail } from '../../../kernel/fail.ts';
import { isChart, isPeriod, metricsView, type Period, serverChart } from '../../../panel/servers/metrics.ts';
import { buildVisit } from '../../admission/forms.ts';
import { toFailure } from '../../errors.ts';
import { type Form, field, parseQuery } from '../../form.ts';
import type { Edge } from '../../settings.ts';
import { page } from '../page-types.ts';
import { sendNotFound } from '../pipeline.ts';
import { chartPng, sendPng } from '../png-renderer.ts';
import { identifyRequest } from '../visitor.ts';
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
    const [page, metrics] = await Promise.all([
      loadServer(context),
      getMetrics(context.service, context.customer(), context.params.id),
    ]);
    return metricsView({ ...page, metrics, period: readPeriod(context.query) });
  },
});

/** Serves charts to the server's owner. Everyone else gets a 404. */
export function registerServerCharts(scope: FastifyInstance, edge: Edge): void {
  const path = `${SERVER_PATH.replace('{id}', ':id')}/charts/:file`;
  scope.get<{ Params: { id: string; file: string } }>(path, async (request, reply) => {
    try {
      const identity = await identifyRequest(edge, request);
      const { actor } = buildVisit(edge, identity, request);
      const name = request.params.file.replace(/\.png$/, '');
      if (actor.customerId === null || !isChart(name)) fail('not_found');
      const owner = { ...actor, customerId: actor.customerId };
      const { id } = request.params;
      const [{ ramMb }, metrics] = await Promise.all([
        describeServer(edge.service, owner, id),
        getMetrics(edge.service, owner, id),
      ]);
      const query = parseQuery(request.url);
      const theme = field(query, 'theme') === 'dark' ? 'dark' : 'light';
      const chart = serverChart({ metrics, ramMb, period: readPeriod(query) }, name, theme);
      const scale = field(query, 'scale') === '2' ? 2 : 1;
      return sendPng(reply, await chartPng(chart, { scale, customerId: owner.customerId }));
    } catch (error) {
      if (toFailure(edge, error).code !== 'not_found') throw error;
      return await sendNotFound(edge, request, reply);
    }
  });
}
