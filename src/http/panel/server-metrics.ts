/** Metrics of a server, and their charts as pictures. */
import type { FastifyInstance } from 'fastify';
import { describeServer } from '../../domain/servers/describe.ts';
import { getMetrics } from '../../domain/servers/metrics.ts';
import { fail } from '../../kernel/fail.ts';
import { isChart, isPeriod, metricsView, type Period, serverChart } from '../../panel/server-metrics.ts';
import { visitOf } from '../endpoint.ts';
import { failureOf } from '../errors.ts';
import { type Form, field, queryOf } from '../form.ts';
import type { Edge } from '../settings.ts';
import type { PanelPage } from './page.ts';
import { chartPng, sendPng } from './pictures.ts';
import { sendNotFound } from './pipeline.ts';
import { lookedAt, SERVER_PATH } from './server.ts';
import { meet } from './visitor.ts';

function periodOf(query: Form): Period {
  const word = field(query, 'period');
  return isPeriod(word) ? word : '24h';
}

export const SERVER_METRICS_PAGE: PanelPage = {
  path: `${SERVER_PATH}/metrics`,
  access: 'customer',
  shows: ['servers.metrics'],
  show: async (look) => {
    const [page, metrics] = await Promise.all([
      lookedAt(look),
      getMetrics(look.service, look.customer(), look.params.id ?? ''),
    ]);
    return metricsView({ ...page, metrics, period: periodOf(look.query) });
  },
};

/** For nobody but the server's owner: to everybody else it is not there. */
export function registerServerCharts(scope: FastifyInstance, edge: Edge): void {
  const path = `${SERVER_PATH.replace('{id}', ':id')}/charts/:file`;
  scope.get<{ Params: { id: string; file: string } }>(path, async (request, reply) => {
    try {
      const identity = await meet(edge, request);
      const { actor } = visitOf(edge, identity, request);
      const name = request.params.file.replace(/\.png$/, '');
      if (actor.customerId === null || !isChart(name)) fail('not_found');
      const owner = { ...actor, customerId: actor.customerId };
      const { id } = request.params;
      const [{ ramMb }, metrics] = await Promise.all([
        describeServer(edge.service, owner, id),
        getMetrics(edge.service, owner, id),
      ]);
      const query = queryOf(request.url);
      const theme = field(query, 'theme') === 'dark' ? 'dark' : 'light';
      const chart = serverChart({ metrics, ramMb, period: periodOf(query) }, name, theme);
      const scale = field(query, 'scale') === '2' ? 2 : 1;
      return sendPng(reply, await chartPng(chart, { scale, of: owner.customerId }));
    } catch (error) {
      if (failureOf(edge, error).code !== 'not_found') throw error;
      return await sendNotFound(edge, request, reply);
    }
  });
}
