/** Console tickets. */
import type { Sql } from '../../kernel/sql.ts';
import type { ServerStatus, SuspendedReason } from '../../spec/states.ts';
import type { SessionCutoffs } from '../customers/sessions.ts';

/** The columns that decide whether a server has a console now. */
export interface ConsoleServerRow {
  readonly status: ServerStatus;
  readonly suspended_reason: SuspendedReason | null;
  readonly category: 'vps' | 'dedicated';
}

export async function findConsoleServer(
  tx: Sql,
  customerId: string,
  serverId: string,
): Promise<ConsoleServerRow | undefined> {
  return await tx.row<ConsoleServerRow>(
    `select s.status, s.suspended_reason, p.category
     from servers s join plans p on p.id = s.plan_id
     where s.id = $1 and s.customer_id = $2`,
    [serverId, customerId],
  );
}

const SWEEP_BATCH = 100;

/**
 * Saves the ticket and deletes some expired ones. Returns whether it is read-only, as every ticket of a
 * frozen customer is. Undefined: the customer has no server with this id.
 */
export async function insertTicket(
  tx: Sql,
  ticket: {
    readonly digest: Buffer;
    readonly customerId: string;
    readonly serverId: string;
    readonly tokenId: string | null;
    readonly sessionId: string | null;
    readonly readOnly: boolean;
    readonly expiresAt: Date;
    readonly now: Date;
  },
): Promise<{ readonly read_only: boolean } | undefined> {
  const [made] = await tx.rows<{ read_only: boolean }>(
    `with swept as (
       delete from console_tickets where digest in (
         select digest from console_tickets where expires_at <= $now
         order by expires_at limit ${SWEEP_BATCH} for update skip locked))
     insert into console_tickets (digest, customer_id, server_id, token_id, read_only, expires_at, session_id)
     select $digest, s.customer_id, s.id, $tokenId, $readOnly or c.frozen_at is not null, $expiresAt,
            $sessionId
     from servers s join customers c on c.id = s.customer_id
     where s.id = $serverId and s.customer_id = $customerId
     returning read_only`,
    ticket,
  );
  return made;
}

/** SQL: the token exists and has not expired, or the column is null. */
const tokenValidSql = (token: string, now: string) =>
  `(${token} is null or exists (
      select from api_tokens a where a.id = ${token} and (a.expires_at is null or a.expires_at > ${now})))`;

/** SQL: the same for the session, with the two times of `SessionCutoffs`. */
const sessionValidSql = (session: string, [createdAfter, seenAfter]: readonly [string, string]) =>
  `(${session} is null or exists (
      select from sessions e
       where e.id = ${session} and e.created_at > ${createdAfter} and e.seen_at > ${seenAfter}))`;

/** A used ticket, with the current state of its server. */
export interface ConsumedTicketRow extends ConsoleServerRow {
  readonly server_id: string;
  readonly customer_id: string;
  readonly token_id: string | null;
  readonly session_id: string | null;
  readonly read_only: boolean;
}

/**
 * Consumes the ticket; of concurrent attempts one succeeds. Undefined: the ticket is unknown, used or
 * expired, or its token or session is.
 */
export async function consumeTicket(
  tx: Sql,
  digest: Buffer,
  now: Date,
  cutoffs: SessionCutoffs,
): Promise<ConsumedTicketRow | undefined> {
  const [used] = await tx.rows<ConsumedTicketRow>(
    `delete from console_tickets t using servers s, customers c, plans p
     where t.digest = $1 and t.expires_at > $2
       and ${tokenValidSql('t.token_id', '$2')} and ${sessionValidSql('t.session_id', ['$3', '$4'])}
       and s.id = t.server_id and c.id = s.customer_id and p.id = s.plan_id
     returning t.server_id, t.customer_id, t.token_id, t.session_id,
       t.read_only or c.frozen_at is not null as read_only, s.status, s.suspended_reason, p.category`,
    [digest, now, cutoffs.createdAfter, cutoffs.seenAfter],
  );
  return used;
}

export interface ConsoleHolderRow {
  readonly frozen: boolean;
  /** The token that opened it exists and has not expired; true if no token did. */
  readonly token_lives: boolean;
  /** The same for the session. */
  readonly session_lives: boolean;
}

/** Reads the current holder of an open console; undefined: the account was deleted. */
export async function findConsoleHolder(
  tx: Sql,
  holder: {
    readonly customerId: string;
    readonly tokenId: string | null;
    readonly sessionId: string | null;
    readonly now: Date;
  },
  cutoffs: SessionCutoffs,
): Promise<ConsoleHolderRow | undefined> {
  return await tx.row<ConsoleHolderRow>(
    `select frozen_at is not null as frozen, ${tokenValidSql('$2::uuid', '$3')} as token_lives,
            ${sessionValidSql('$4::uuid', ['$5', '$6'])} as session_lives
     from customers where id = $1`,
    [
      holder.customerId,
      holder.tokenId,
      holder.now,
      holder.sessionId,
      cutoffs.createdAfter,
      cutoffs.seenAfter,
    ],
  );
}
