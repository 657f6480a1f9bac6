/** The console of a server: issues a single-use ticket, and opens the screen for a ticket. */
import type { Duplex } from 'node:stream';
import { fail, notFound } from '../../kernel/fail.ts';
import { newSecretToken, parseId } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
import { formatRfc3339, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { ComputeError } from '../../ports/compute.ts';
import { LIMITS } from '../../spec/limits.ts';
import { consolePath } from '../../spec/paths.ts';
import type { Console } from '../../spec/schemas/server-actions.ts';
import {
  type ConsoleServerRow,
  consumeTicket,
  findConsoleHolder,
  findConsoleServer,
  insertTicket,
} from '../../store/servers/console.ts';
import type { CustomerActor, Service } from '../context.ts';
import { sessionCutoffs } from '../sessions/identify.ts';
import { driverCapabilities } from './hardware.ts';
import { requireActionAllowed } from './lock-server.ts';
import { withDriverTimeout } from './operations/driver-call.ts';

const TICKET_BYTES = 32;

/**
 * Creates a single-use URL for the server's screen that is valid for five minutes. Refuses with `not_found`,
 * with `conflict_state` unless the server is running, and with `unavailable` if the hardware has no console.
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
  // Whole seconds, so that the displayed expiry is the exact one.
  const expiresAt = new Date(
    Math.floor(now.getTime() / SECOND_MS) * SECOND_MS + LIMITS.consoleUrlMinutes * MINUTE_MS,
  );
  const row = { digest: digest(ticket), customerId, serverId, tokenId, sessionId, readOnly, expiresAt, now };
  const inserted = await insertTicket(service.db, row);
  const { read_only } = inserted ?? notFound('server');
  const url = `${baseUrl.replace(/\/+$/, '')}${consolePath(ticket, { readOnly: read_only })}`;
  return { object: 'console', url, expires_at: formatRfc3339(expiresAt), read_only };
}

function requireConsole(service: Service, server: ConsoleServerRow): void {
  requireActionAllowed(server, 'console');
  if (!driverCapabilities(service.compute, server.category).console) {
    fail('unavailable', { field: '' }, 'The console is not available on the hardware of this server.');
  }
}

/** Ids are in stored form. */
export interface ConsoleGrant {
  readonly serverId: string;
  readonly customerId: string;
  /** The token or session that requested the ticket. */
  readonly tokenId: string | null;
  readonly sessionId: string | null;
  /** The holder may watch but not type. */
  readonly readOnly: boolean;
}

/**
 * Redeems a ticket. An unknown, used, or expired ticket, or one whose token or session ended, is `not_found`.
 * If the server has stopped since, `conflict_state`.
 */
export async function redeemConsoleTicket(service: Service, ticket: string): Promise<ConsoleGrant> {
  const now = service.clock.now();
  const used = await consumeTicket(service.db, digest(ticket), now, sessionCutoffs(now));
  if (!used) {
    fail(
      'not_found',
      {},
      'This console link was already used or has expired. Open the console again to get a new link.',
    );
  }
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
 * Returns why an open console must close, or null. Callers poll it: `revoked` when its token was revoked or
 * has expired, `signed_out` when its session ended, `frozen` when it takes input and its customer was frozen.
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

/** Opens the RFB stream of the server's screen; the caller closes it. Refuses if the host cannot. */
export async function connectConsole(service: Service, serverId: string): Promise<Duplex> {
  const opening = service.compute.console(serverId);
  try {
    return await withDriverTimeout(opening);
  } catch (error) {
    // A stream that arrives after the timeout has no owner to close it.
    opening.then(
      (screen) => screen.destroy(),
      () => undefined,
    );
    if (!(error instanceof ComputeError)) throw error;
    service.log.warn({ err: error }, 'console could not be opened');
    if (error.fault === 'refused') {
      fail('conflict_state', {}, 'The server has no screen right now. Try again in a moment.');
    }
    return fail('maintenance');
  }
}
