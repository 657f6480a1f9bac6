/** A database server on which tests may create databases. */
export interface TestServer {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password?: string;
}

const DEFAULT_PORT = 5432;

/**
 * Parses `postgres://user:password@host:port/database`; `?host=/folder` names a Unix socket. Throws on any
 * other form, without repeating the password.
 */
export function parseDatabaseUrl(text: string): TestServer {
  const url = URL.parse(text);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol)) {
    throw new Error('SKERRY_TEST_DATABASE_URL must have the form postgres://user@host:port/database.');
  }
  return {
    host: url.searchParams.get('host') ?? (url.hostname || 'localhost'),
    port: Number(url.searchParams.get('port') ?? (url.port || DEFAULT_PORT)),
    user: decodeURIComponent(url.username) || 'postgres',
    database: decodeURIComponent(url.pathname.slice(1)) || 'postgres',
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
  };
}
