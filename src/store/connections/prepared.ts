/**
 * Sends a statement. The driver asks the database to describe the columns of a result each time. Here it asks
 * once per connection and prepared statement, whose columns cannot change: the database refuses to run it
 * when they would. Describing them costs more than reading a row.
 */
import pg from 'pg';
import { TimeLimits } from '../../kernel/faults/time-limits.ts';
import { destroyConnection } from './socket.ts';
import { hasUnreplicated } from './unreplicated.ts';

export interface Statement {
  readonly text: string;
  /** It is prepared under this name. Absent: it is parsed each time. */
  readonly name?: string;
  readonly values?: readonly unknown[];
}

type Callback = (error: Error | null, result: pg.QueryResult) => void;

/** The parts of a result that depend only on its columns. */
interface Columns {
  fields: unknown;
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}

/** A connection of the driver, which has no types for it. */
interface Connection {
  describe(part: object): void;
}

/** The driver's query, with what it has no types for. */
interface DriverQuery {
  name: string | undefined;
  readonly _result: Columns;
  _accumulateRows: boolean;
  prepare(connection: Connection): void;
  handleRowDescription(message: unknown): void;
}

const DriverQuery = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[] | undefined,
  callback: Callback,
) => DriverQuery;

const described = new WeakMap<Connection, Map<string, Columns>>();
const silenced = new WeakMap<Connection, Connection>();

class PreparedQuery extends DriverQuery {
  #connection: Connection | undefined;

  constructor({ name, text, values }: Statement, callback: Callback) {
    super(text, values, callback);
    this.name = name;
  }

  override prepare(connection: Connection): void {
    const columns = this.name && described.get(connection)?.get(this.name);
    if (columns) {
      Object.assign(this._result, columns);
      this._accumulateRows = true;
      super.prepare(withoutDescribe(connection));
    } else {
      this.#connection = connection;
      super.prepare(connection);
    }
  }

  override handleRowDescription(message: unknown): void {
    super.handleRowDescription(message);
    if (!this.#connection || !this.name) return;
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    const ofConnection = described.get(this.#connection) ?? new Map<string, Columns>();
    described.set(
      this.#connection,
      ofConnection.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject }),
    );
  }
}

/** Returns the same connection with a `describe` that sends nothing. */
function withoutDescribe(connection: Connection): Connection {
  const known = silenced.get(connection);
  if (known) return known;
  const silent = Object.create(connection, { describe: { value: () => undefined } }) as Connection;
  silenced.set(connection, silent);
  return silent;
}

/** No response came in time. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
  override readonly message = 'Query read timeout';
}

const limits = new TimeLimits();

/**
 * Rejects with `NoResponse` after `timeoutMs`. The connection must be closed then, because it still waits for
 * the response. A pipelined one, on which others wait too, is closed here.
 */
export function sendStatement(
  client: pg.ClientBase,
  statement: Statement,
  timeoutMs: number,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const endsAtMs = performance.now() + timeoutMs;
    const fail = (error: NoResponse) => {
      reject(error);
      if ((client as { readonly pipeline?: boolean }).pipeline) destroyConnection(client);
    };
    const forget = limits.add(
      () => endsAtMs - performance.now(),
      () => fail(new NoResponse()),
    );
    const query = new PreparedQuery(statement, (error, result) => {
      forget();
      if (error) reject(error);
      else if (hasUnreplicated(client)) fail(new NoResponse());
      else resolve(result);
    });
    client.query(query as unknown as pg.Query);
  });
}
