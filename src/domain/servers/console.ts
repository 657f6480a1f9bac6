/** The console of a server: a ticket for its screen, and the screen for the ticket. */
import type { Duplex } from 'node:stream';
import { fail, notFound } from '../../kernel/fail.ts';
import { newSecretToken, parseId } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
import { formatRfc3339, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { ComputeError } from '../../ports/compute.ts';
import { LIMITS } from '../../spec/limits.ts';
import { consolePath } from '../../spec/paths.ts';
import type { Console } from '../../spec/schemas/console.ts';
import {
  type ConsoleServerRow,
  consumeTicket,
  findConsoleHolder,
  findConsoleServer,
  insertTicket,
} from '../../store/console.ts';
import type { CustomerActor, Service } from '../context.ts';
import { sessionCutoffs } from '../sessions/identify.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from './driver-timeout.ts';
import { driverCapabilities } from './hardware.ts';
import { requireActionAllowed } from './lock-server.ts';

const TICKET_BYTES = 32;

/**
 * A page that shows the server's screen, once, within five minutes. Refuses with `not_found`, with `conflict_state`
 * unless the server runs, and with `unavailable` where its hardware has no console.
 */
export async function openConsole(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  { readOnly, baseUrl }: { readonly readOnly: boolean; readonly baseUrl: string },
): Promise<Console> {
  const serverId = parseId('server', shownId) ?? notFound('server');
  const { customerId, tokenId, sessionId } = actor;
  requireConsole(service, (await findConsoleServer(service.db, customerId, serverId)) ?? notFound('server'));
  const ticket = newSecretToken(TICKET_BYTES);
  const now = service.clock.now();
  // In whole seconds, so that the time shown is the time it ends.
  const expiresAt = new Date(
    Math.floor(now.getTime() / SECOND_MS) * SECOND_MS + LIMITS.consoleUrlMinutes * MINUTE_MS,
  );
  const inserted = await insertTicket(service.db, {
    ...{ digest: digest(ticket), customerId, serverId, tokenId, sessionId, readOnly, expiresAt, now },
  });
  const { read_only } = inserted ?? notFound('server');
  const url = `${baseUrl.replace(/\/+$/, '')}${consolePath(ticket, { readOnly: read_only })}`;
  return { object: 'console', url, expires_at: formatRfc3339(expiresAt), read_only };
}

function requireConsole(service: Service, server: ConsoleServerRow): void {
  requireActionAllowed(server, 'console');
  if (!driverCapabilities(service.compute, server.category).console) {
    fail('unavailable', { field: '' }, 'This hardware has no console.');
  }
}

/** Ids are stored ones. */
export interface ConsoleGrant {
  readonly serverId: string;
  readonly customerId: string;
  /** The token that asked for the ticket, or the session that did. */
  readonly tokenId: string | null;
  readonly sessionId: string | null;
  /** The holder may look and nothing else. */
  readonly readOnly: boolean;
}

/**
 * Uses a ticket up. One that is unknown, used or over, as it is with its token or session, is `not_found`; a server that
 * stopped since, `conflict_state`.
 */
export async function redeemConsoleTicket(service: Service, ticket: string): Promise<ConsoleGrant> {
  const now = service.clock.now();
  const used = await consumeTicket(service.db, digest(ticket), now, sessionCutoffs(now));
  if (!used) fail('not_found', {}, 'This console was opened before, or its time is over: ask for another.');
  requireConsole(service, used);
  return {
    serverId: used.server_id,
    customerId: used.customer_id,
    tokenId: used.token_id,
    sessionId: used.session_id,
    readOnly: used.read_only,
  };
}

/**
 * Why an open console must end, null while it may go on. Asked from time to time: `revoked` when its token is gone or has
 * expired, `signed_out` when its session has, `frozen` when its customer may only look by now and it takes input.
 */
export async function checkConsoleAccess(
  service: Service,
  { customerId, tokenId, sessionId, readOnly }: ConsoleGrant,
): Promise<'revoked' | 'signed_out' | 'frozen' | null> {
  const now = service.clock.now();
  const asked = { customerId, tokenId, sessionId, now };
  const holder = await findConsoleHolder(service.db, asked, sessionCutoffs(now));
  if (!holder?.token_lives) return 'revoked';
  if (!holder.session_lives) return 'signed_out';
  return holder.frozen && !readOnly ? 'frozen' : null;
}

/** The stream of the server's screen, in RFB; the caller ends it. Refuses when its host does not give it now. */
export async function connectConsole(service: Service, serverId: string): Promise<Duplex> {
  const opening = service.compute.console(serverId);
  try {
    return await withDriverTimeout(DRIVER_TIMEOUT_MS, opening);
  } catch (error) {
    // One that comes after all has nobody to end it.
    opening.then(
      (screen) => screen.destroy(),
      () => undefined,
    );
    if (!(error instanceof ComputeError)) throw error;
    service.log.warn({ err: error }, 'a console was not opened');
    if (error.fault === 'refused') fail('conflict_state', {}, 'The machine has no screen right now.');
    return fail('maintenance');
  }
}
