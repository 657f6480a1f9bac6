/**
 * The two seams between the service and the world: its commits, and its calls to drivers. A sandbox whose
 * SKERRY_CRASH_AT is set wraps both, so that tests can list and kill at every place, also in code that is not
 * written yet. Everywhere else nothing is wrapped.
 */
import { EventEmitter } from 'node:events';
import { CrashPlaces } from '../kernel/faults/crash.ts';
import type { Database, Sql } from '../kernel/sql.ts';

export interface Seams {
  database(db: Database): Database;
  /** Wraps a driver; `name` is the name of its calls, such as `compute`. */
  port<T extends object | null>(name: string, port: T): T;
}

const NO_SEAMS: Seams = { database: (db) => db, port: (_, port) => port };

export function createSeams(crashAt: string | null): Seams {
  if (crashAt === null) return NO_SEAMS;
  const places = new CrashPlaces(crashAt);
  return {
    database: (db) => databaseWithPlaces(db, places),
    port: (name, port) => (port === null ? port : portWithPlaces(name, port, places)),
  };
}

/** The tables that a statement writes. `for update`, `for no key update`, and `do update` name none. */
const WRITES =
  /(?<!\b(?:for|key|do)\s+)\b(?:insert\s+into|update|delete\s+from|merge\s+into)\s+(?:only\s+)?(\w+)/gi;

function tablesWritten(text: string): string[] {
  return [...text.matchAll(WRITES)].map(([, table = '']) => table.toLowerCase());
}

function databaseWithPlaces(db: Database, places: CrashPlaces): Database {
  const transaction = async <T>(work: (tx: Sql) => Promise<T>): Promise<T> => {
    let committed = (): void => undefined;
    const result = await db.transaction(async (tx) => {
      committed = () => undefined;
      const tables = new Set<string>();
      const done = await work(
        mapStatements(tx, (text, run) => {
          for (const table of tablesWritten(text)) tables.add(table);
          return run(tx);
        }),
      );
      if (tables.size > 0 && (await hasChanges(tx))) {
        committed = places.begin(`commit(${[...tables].sort().join()})`);
      }
      return done;
    });
    committed();
    return result;
  };
  const autocommit = mapStatements(db, (text, run) =>
    tablesWritten(text).length > 0 ? transaction(run) : run(db),
  );
  return { ...autocommit, transaction };
}

/** A transaction that only looked for work, and found none, has no id: its commit is no place. */
async function hasChanges(tx: Sql): Promise<boolean> {
  const row = await tx.row<{ id: string | null }>('select pg_current_xact_id_if_assigned()::text as id');
  return row?.id !== null;
}

/** Passes each statement to `around`, which runs it on the given connection. */
function mapStatements(sql: Sql, around: <T>(text: string, run: (on: Sql) => Promise<T>) => Promise<T>): Sql {
  return {
    ...sql,
    rows: (text, values) => around(text, (on) => on.rows(text, values)),
    row: (text, values) => around(text, (on) => on.row(text, values)),
    run: (text, values) => around(text, (on) => on.run(text, values)),
  };
}

function portWithPlaces<T extends object>(name: string, port: T, places: CrashPlaces): T {
  const part = (key: string, value: unknown): unknown =>
    isPort(value) ? portWithPlaces(`${name}.${key}`, value, places) : value;
  return new Proxy(port, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof key === 'symbol') return value;
      if (typeof value !== 'function') return part(key, value);
      return (...args: unknown[]) => {
        const done = places.begin(`${name}.${key}`);
        const result: unknown = value.apply(target, args);
        if (result instanceof Promise) return result.then((answer) => part(key, answer)).finally(done);
        done();
        return part(key, result);
      };
    },
  });
}

/** Whether it has methods of its own, like the writer of a file. A stream counts as data. */
function isPort(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || value instanceof EventEmitter) return false;
  const isBuiltIn = (value.constructor?.name ?? 'Object') in globalThis;
  return !isBuiltIn || Object.values(value).some((member) => typeof member === 'function');
}
