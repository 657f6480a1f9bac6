/** The console of a server: a ticket for its screen, and the screen for the ticket. */
import type { Duplex } from 'node:stream';
import { fail, notFound } from '../../kernel/fail.ts';
import { newSecretText, readId } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
import { MINUTE_MS, rfc3339, SECOND_MS } from '../../kernel/time.ts';
import { ComputeError } from '../../ports/compute.ts';
import { LIMITS } from '../../spec/limits.ts';
import { consolePath } from '../../spec/paths.ts';
import type { Console } from '../../spec/schemas/console.ts';
import {
  type ConsoleServerRow,
  findConsoleHolder,
  findConsoleServer,
  insertTicket,
  useTicket,
} from '../../store/console.ts';
import type { CustomerActor, Service } from '../context.ts';
import { livingSince } from '../sessions/identify.ts';
import { ableOf } from './hardware.ts';
import { requireCan } from './lock-for.ts';
import { ANSWER_MAX_MS, answerWithin } from './within.ts';

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
  const serverId = readId('server', shownId) ?? notFound('server');
  const { customerId, tokenId, sessionId } = actor;
  requireConsole(service, (await findConsoleServer(service.db, customerId, serverId)) ?? notFound('server'));
  const ticket = newSecretText(TICKET_BYTES);
  const now = service.clock.now();
  // In whole seconds, so that the time shown is the time it ends.
  const expiresAt = new Date(
    Math.floor(now.getTime() / SECOND_MS) * SECOND_MS + LIMITS.consoleUrlMinutes * MINUTE_MS,
  );
  const kept = await insertTicket(service.db, {
    ...{ digest: digest(ticket), customerId, serverId, tokenId, sessionId, readOnly, expiresAt, now },
  });
  const { read_only } = kept ?? notFound('server');
  const url = `${baseUrl.replace(/\/+$/, '')}${consolePath(ticket, { readOnly: read_only })}`;
  return { object: 'console', url, expires_at: rfc3339(expiresAt), read_only };
}

function requireConsole(service: Service, server: ConsoleServerRow): void {
  requireCan(server, 'console');
  if (!ableOf(service.compute, server.category).console) {
    fail('unavailable', { field: '' }, 'This hardware has no console.');
  }
}

/** Ids are stored ones. */
export interface Admission {
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
export async function admitToConsole(service: Service, ticket: string): Promise<Admission> {
  const now = service.clock.now();
  const used = await useTicket(service.db, digest(ticket), now, livingSince(now));
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
export async function reviewConsole(
  service: Service,
  { customerId, tokenId, sessionId, readOnly }: Admission,
): Promise<'revoked' | 'signed_out' | 'frozen' | null> {
  const now = service.clock.now();
  const asked = { customerId, tokenId, sessionId, now };
  const holder = await findConsoleHolder(service.db, asked, livingSince(now));
  if (!holder?.token_lives) return 'revoked';
  if (!holder.session_lives) return 'signed_out';
  return holder.frozen && !readOnly ? 'frozen' : null;
}

/** The stream of the server's screen, in RFB; the caller ends it. Refuses when its host does not give it now. */
export async function connectScreen(service: Service, serverId: string): Promise<Duplex> {
  const opening = service.compute.console(serverId);
  try {
    return await answerWithin(ANSWER_MAX_MS, opening);
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
