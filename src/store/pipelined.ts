/**
 * Two connections for short reads on the hot path: statements of many requests follow each other without waiting for the
 * answers in between, which costs less than a pool's connection each. A lost connection is replaced; until then, and for
 * everything else, the pool does the work.
 */
import type { Socket } from 'node:net';
import pg from 'pg';
import type { Sql } from '../kernel/sql.ts';
import type { OpenDatabase } from './db.ts';

const CONNECTIONS = 2;
const AGAIN_MS = 1_000;

export interface PipelinedReads extends Sql {
  close(): Promise<void>;
}

export async function openPipelined(db: OpenDatabase): Promise<PipelinedReads> {
  const lines = await Promise.all(Array.from({ length: CONNECTIONS }, () => openLine(db)));
  let turn = 0;
  function next(): Sql {
    for (let tried = 0; tried < CONNECTIONS; tried++) {
      turn = (turn + 1) % CONNECTIONS;
      const sql = lines[turn]?.current();
      if (sql) return sql;
    }
    return db;
  }
  return {
    rows: async <Row extends object>(text: string, values?: readonly unknown[]) =>
      await next().rows<Row>(text, values),
    row: async <Row extends object>(text: string, values?: readonly unknown[]) =>
      await next().row<Row>(text, values),
    run: async (text, values) => await next().run(text, values),
    close: async () => {
      await Promise.all(lines.map((line) => line.stop()));
    },
  };
}

/** Statements that begin in one turn of the event loop go out in one write: writing costs more than most of the rest. */
function gathered(client: pg.Client, sql: Sql): Sql {
  const { stream } = client.connection as unknown as { stream: Socket };
  let holding = false;
  function hold(): void {
    if (holding) return;
    holding = true;
    stream.cork();
    setImmediate(() => {
      holding = false;
      stream.uncork();
    });
  }
  return {
    rows: <Row extends object>(text: string, values?: readonly unknown[]) => {
      hold();
      return sql.rows<Row>(text, values);
    },
    row: <Row extends object>(text: string, values?: readonly unknown[]) => {
      hold();
      return sql.row<Row>(text, values);
    },
    run: (text, values) => {
      hold();
      return sql.run(text, values);
    },
  };
}

interface Line {
  current(): Sql | null;
  stop(): Promise<void>;
}

async function openLine(db: OpenDatabase): Promise<Line> {
  let client: pg.Client | null = null;
  let sql: Sql | null = null;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  async function start(): Promise<void> {
    const fresh = new pg.Client({ ...db.settings, pipeline: true } as pg.ClientConfig);
    // What is under way on a lost connection fails by itself; what comes next takes another way.
    const lost = () => {
      if (client !== fresh) return;
      client = null;
      sql = null;
      again();
    };
    fresh.on('error', lost);
    fresh.on('end', lost);
    try {
      await fresh.connect();
    } catch (error) {
      await fresh.end().catch(() => undefined);
      throw error;
    }
    client = fresh;
    sql = gathered(fresh, db.on(fresh));
  }
  function again(): void {
    if (stopped) return;
    timer = setTimeout(() => start().catch(again), AGAIN_MS);
    timer.unref();
  }
  await start();
  return {
    current: () => sql,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      const last = client;
      client = null;
      await last?.end().catch(() => undefined);
    },
  };
}
