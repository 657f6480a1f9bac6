/** The database of a test run: an embedded server, or that of SKERRY_TEST_DATABASE_URL. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { scratchParent } from './scratch-parent.ts';

/** Gives `work` the connection settings for `pg`, and a folder that is removed afterwards. */
export async function withTestDatabase<T>(
  log: (line: string) => void,
  work: (server: object, folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(await scratchParent(), 'skerry-test-'));
  try {
    const url = process.env.SKERRY_TEST_DATABASE_URL;
    if (url) return await work(serverSettings(url), folder);
    // When root runs the tests, the database runs as another user, who must be able to enter this folder.
    await chmod(folder, 0o755);
    const database = await startEmbedded({ dataDir: join(folder, 'data'), log });
    try {
      return await work(database.connection, folder);
    } finally {
      await database.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads `postgres://user:password@host:port/database`; `?host=/folder` names a Unix socket. */
function serverSettings(text: string): object {
  const url = URL.parse(text);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol)) {
    throw new Error('SKERRY_TEST_DATABASE_URL must have the form postgres://user@host:port/database.');
  }
  return {
    host: url.searchParams.get('host') ?? (url.hostname || 'localhost'),
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username) || 'postgres',
    database: decodeURIComponent(url.pathname.slice(1)) || 'postgres',
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
  };
}
