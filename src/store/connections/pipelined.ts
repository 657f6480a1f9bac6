/**
 * Two connections for short reads on the hot path. Statements of many requests are sent without waiting for
 * earlier results, which costs less than one pool connection each. A lost connection is replaced; meanwhile,
 * for the statements that it did not answer, and for everything else, the pool is used.
 */
import type pg from 'pg';
import { DeadlineExceeded } from '../../kernel/faults/deadline.ts';
import type { Sql, SqlValues } from '../../kernel/sql.ts';
import { settlesWithin } from '../../kernel/timeout.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { OpenDatabase } from '../db.ts';
import { hasNoResponse, WRITES } from './errors.ts';
import { ANSWER_LIMIT_MS, failureOf } from './silence.ts';
import { destroyConnection, socketOf } from './socket.ts';

const CONNECTION_COUNT = 2;
const RECONNECT_DELAY_MS = 1_000;
/** A statement that takes longer closes its connection: all others wait for its response. */
const STATEMENT_TIMEOUT_MS = LIMITS.readTimeoutMs;

export interface PipelinedReads extends Sql {
  close(): Promise<void>;
}

export async function openPipelined(db: OpenDatabase): Promise<PipelinedReads> {
  const connections = await Promise.all(Array.from({ length: CONNECTION_COUNT }, () => openConnection(db)));
  let nextIndex = 0;
  let ofThisTurn: PipelinedConnection | null = null;
  // The statements of one event loop turn use one connection, so that they are sent in one write.
  function next(): Sql {
    const open = ofThisTurn?.current();
    if (open) return open;
    for (let attempts = 0; attempts < CONNECTION_COUNT; attempts++) {
      nextIndex = (nextIndex + 1) % CONNECTION_COUNT;
      const connection = connections[nextIndex];
      const sql = connection?.current();
      if (!connection || !sql) continue;
      ofThisTurn = connection;
      connection.holdBack(() => {
        ofThisTurn = null;
      });
      return sql;
    }
    return db;
  }
  async function read<T>(text: string, run: (sql: Sql) => Promise<T>): Promise<T> {
    const sql = next();
    try {
      return await run(sql);
    } catch (error) {
      if (sql === db || !hasNoResponse(error)) throw error;
      db.silence.suspect();
      // A bucket of a rate limit is drawn here, too.
      if (error instanceof DeadlineExceeded || WRITES.test(text)) throw error;
      return await run(db);
    }
  }
  db.silence.addCheck(async () => {
    await Promise.all(connections.map((connection) => connection.check()));
  });
  return {
    rows: <Row extends object>(text: string, values?: SqlValues) =>
      read(text, (sql) => sql.rows<Row>(text, values)),
    row: <Row extends object>(text: string, values?: SqlValues) =>
      read(text, (sql) => sql.row<Row>(text, values)),
    run: (text, values) => db.run(text, values),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.stop()));
    },
  };
}

interface PipelinedConnection {
  current(): Sql | null;
  /** Sends what this turn of the event loop writes at its end, in one system call. */
  holdBack(onSend: () => void): void;
  /** Closes a connection that does not answer. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

async function openConnection(db: OpenDatabase): Promise<PipelinedConnection> {
  let client: pg.Client | null = null;
  let sql: Sql | null = null;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  async function start(): Promise<void> {
    // Pending statements on a lost connection fail; later ones use another connection. It may be lost before
    // we learn that it is open.
    const lost = new WeakSet<pg.Client>();
    const prepare = (candidate: pg.Client) => {
      const onLost = () => {
        lost.add(candidate);
        destroyConnection(candidate);
        if (client !== candidate) return;
        client = null;
        sql = null;
        scheduleReconnect();
      };
      candidate.on('error', onLost);
      candidate.on('end', onLost);
    };
    const opened = await db.open({ query_timeout: 0, pipeline: true }, prepare);
    if (lost.has(opened) || stopped) {
      destroyConnection(opened);
      throw new Error('Connection terminated while it was opened');
    }
    client = opened;
    sql = db.withClient(opened, STATEMENT_TIMEOUT_MS);
  }
  function scheduleReconnect(): void {
    if (stopped) return;
    timer = setTimeout(() => start().catch(scheduleReconnect), RECONNECT_DELAY_MS);
    timer.unref();
  }
  await start();
  return {
    current: () => sql,
    holdBack: (onSend) => {
      const stream = client && socketOf(client);
      stream?.cork();
      setImmediate(() => {
        onSend();
        stream?.uncork();
      });
    },
    check: async () => {
      if (client) await closeIfSilent(client);
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      const last = client;
      client = null;
      await last?.end().catch(() => undefined);
    },
  };
}

/** Its statements are answered in their order, so a slow one delays the check. Then any progress will do. */
async function closeIfSilent(client: pg.Client): Promise<void> {
  const before = socketOf(client).bytesRead;
  const checking = failureOf(client, STATEMENT_TIMEOUT_MS);
  if (await settlesWithin(checking, ANSWER_LIMIT_MS)) return;
  if (socketOf(client).bytesRead === before) destroyConnection(client);
}
