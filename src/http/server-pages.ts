/** The pages of a customer's servers. A server of somebody else is not found, like one that never was. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { closedFor } from '../domain/rules/rules.ts';
import { findOwnServer, listOwnServers } from '../domain/servers/find.ts';
import { notesOnServer } from '../domain/servers/notes.ts';
import { serverObject } from '../domain/servers/object.ts';
import { identify } from '../domain/sessions/identify.ts';
import { Failure } from '../kernel/fail.ts';
import { sessionTime } from '../kernel/time.ts';
import { type ServerView, serverListPage, serverPage, signInFirstPage } from '../panel/servers.ts';
import { PANEL_PATHS, serverPath } from '../spec/paths.ts';
import { cookieOf } from './cookie.ts';
import { sendNotFoundPage, sendPage } from './send-page.ts';
import type { Edge } from './settings.ts';

type Row = Awaited<ReturnType<typeof findOwnServer>>;

export function registerServerPages(scope: FastifyInstance, edge: Edge): void {
  const customerOf = async (request: FastifyRequest) =>
    (await identify(edge.service, cookieOf(request))).session?.customerId ?? null;

  scope.get(PANEL_PATHS.servers, async (request, reply) => {
    const customerId = await customerOf(request);
    if (customerId === null) return sendPage(reply, signInFirstPage('Servers'));
    const servers = await listOwnServers(edge.service, customerId);
    const closed = closedFor(await edge.rules.read(), 'servers.create', edge.service.clock.now());
    return sendPage(
      reply,
      serverListPage(
        servers.map((server) => view(server)),
        closed?.message ?? null,
      ),
    );
  });

  const one = `${PANEL_PATHS.servers}/:no(^[1-9]\\d{0,15}$)`;
  scope.get<{ Params: { no: string } }>(one, async (request, reply) => {
    const customerId = await customerOf(request);
    if (customerId === null) return sendPage(reply, signInFirstPage('Your server'));
    try {
      const server = await findOwnServer(edge.service, customerId, BigInt(request.params.no));
      return sendPage(reply, serverPage(view(server, await notesOnServer(edge.service, server))));
    } catch (error) {
      if (error instanceof Failure && error.code === 'not_found') return sendNotFoundPage(reply);
      throw error;
    }
  });
}

function view(row: Row, notes: readonly string[] = []): ServerView {
  const { name, status, plan, ipv4, ipv6 } = serverObject(row);
  return {
    path: serverPath(row.public_no),
    name,
    status,
    plan,
    region: row.region_name,
    ipv4: ipv4?.address ?? null,
    ipv6: ipv6?.address ?? null,
    paidUntil: sessionTime(row.paid_until),
    notes,
  };
}
