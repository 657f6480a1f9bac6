/** One poll for all open streams: new numbers, credentials that ended, and for the panel what moves. */
import { formatId } from '../../kernel/ids.ts';
import { type KnownToken, pollReaders } from '../../store/events/events.ts';
import { type MovingRow, pollSessions, type SessionReaderRow } from '../../store/events/sessions.ts';
import { RESOURCE_ID_KINDS } from '../actions/object.ts';
import type { Service } from '../context.ts';
import { sessionCutoffs } from '../sessions/identify.ts';
import type { EventStream, Moving } from './stream.ts';

export async function pollStreams(service: Service, streams: readonly EventStream[]): Promise<void> {
  await Promise.all([
    pollTokenStreams(
      service,
      groupBy(streams, ({ reader }) => reader.tokenId),
    ),
    pollSessionStreams(
      service,
      groupBy(streams, ({ reader }) => reader.sessionId),
    ),
  ]);
}

/** The streams of each token or session. */
type StreamGroups = ReadonlyMap<string, readonly EventStream[]>;

function groupBy(streams: readonly EventStream[], keyOf: (stream: EventStream) => string | null) {
  const groups = new Map<string, EventStream[]>();
  for (const stream of streams) {
    const key = keyOf(stream);
    if (key === null) continue;
    const group = groups.get(key);
    if (group) group.push(stream);
    else groups.set(key, [stream]);
  }
  return groups;
}

async function pollTokenStreams({ db, clock }: Service, groups: StreamGroups): Promise<void> {
  if (groups.size === 0) return;
  const known = new Map([...groups].map(([id, streams]) => [id, knownOf(streams)]));
  for (const row of await pollReaders(db, known, clock.now())) {
    for (const stream of groups.get(row.token_id) ?? []) {
      if (!row.lives) stream.end('revoked');
      else if (row.limits_version !== stream.reader.limitsVersion) stream.end('limited');
      else stream.advanceTo(row.last_seq);
    }
  }
}

/** Returns the latest number and the version of the limits that all of these streams know. */
function knownOf(streams: readonly EventStream[]): KnownToken {
  return {
    last: lowestLast(streams),
    version: Math.min(...streams.map(({ reader }) => reader.limitsVersion)),
  };
}

function lowestLast(streams: readonly EventStream[]): bigint {
  return streams.reduce((lowest, { last }) => (last < lowest ? last : lowest), streams[0]?.last ?? 0n);
}

async function pollSessionStreams({ db, clock }: Service, groups: StreamGroups): Promise<void> {
  if (groups.size === 0) return;
  const known = new Map([...groups].map(([id, streams]) => [id, lowestLast(streams)]));
  for (const row of await pollSessions(db, known, sessionCutoffs(clock.now()))) {
    for (const stream of groups.get(row.session_id) ?? []) updateSessionStream(stream, row);
  }
}

function updateSessionStream(stream: EventStream, { lives, last_seq, moving }: SessionReaderRow): void {
  if (!lives) stream.end('revoked');
  stream.advanceTo(last_seq);
  stream.announceMoves(new Map(moving?.map((row) => [row.id, toMoving(row)])));
}

function toMoving({ id, kind, resource_id: resource, server_id: server, mark }: MovingRow): Moving {
  if (kind === 'topup') return { type: 'topup.progress', ids: [formatId('topup', id)], mark };
  if (kind === 'webhook') return { type: 'webhook.progress', ids: [formatId('webhook', id)], mark };
  const ids = [formatId('action', id), formatId(RESOURCE_ID_KINDS[kind], resource)];
  if (server !== null && server !== resource) ids.push(formatId('server', server));
  return { type: 'action.progress', ids, mark };
}
