/** `skerryd serve`: one process, or a parent that holds the database and keeps N children alive. */
import type { Config } from '../config.ts';
import { releaseAllLeases } from '../store/operations.ts';
import { serveWithChildren } from './children.ts';
import { provideDatabase } from './database.ts';
import { prepareSandbox } from './seed.ts';
import { type ServeOptions, startService } from './serve.ts';
import { openService } from './service.ts';

/** Serves until SIGTERM or SIGINT, then stops cleanly and returns. */
export async function serve(config: Config, options: ServeOptions): Promise<void> {
  const asked = signalled();
  if (options.child) return await serveAsChild(config, options, asked);
  const database = await provideDatabase(config, 'own', options.warn);
  try {
    const opened = await openService(config, database.connection);
    try {
      await prepareSandbox(opened);
      // Whoever holds the folder's lock is alone: leases of a process that was killed need not run out.
      if (config.DATABASE_URL === null) await releaseAllLeases(opened.db);
    } finally {
      await opened.close();
    }
    if (options.processes > 1) {
      await serveWithChildren(config, options, asked, (url) => announce(options, url));
    } else {
      const running = await startService(config, database.connection, { roles: options.roles });
      announce(options, running.url);
      await asked;
      await running.stop();
    }
  } finally {
    await database.stop();
  }
}

async function serveAsChild(config: Config, options: ServeOptions, asked: Promise<void>): Promise<void> {
  // A parent that died takes the database with it: nothing is left to serve.
  const orphaned = new Promise<void>((resolve) => process.once('disconnect', resolve));
  const database = await provideDatabase(config, 'join', options.warn);
  const { roles } = options;
  const running = await startService(config, database.connection, { roles, sharedPort: true });
  process.send?.({ url: running.url });
  await Promise.race([asked, orphaned]);
  await running.stop();
  await database.stop();
  // The channel to the parent would keep this process alive.
  if (process.connected) process.disconnect();
}

function announce(options: ServeOptions, url: string | null): void {
  if (url === null) {
    options.say('skerry workers ready');
    return;
  }
  options.say(`skerry ready on ${url}`);
  options.say(
    'A sandbox: simulated coins and machines, no real money. Open the address above for the first step.',
  );
}

/** Resolves at the first SIGTERM or SIGINT. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
}
