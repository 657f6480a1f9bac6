/** Databases of new sandboxes: seeded, but not yet bound to a key. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareSandbox } from '../../src/compose/seed.ts';
import { openService } from '../../src/compose/service.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { type ConnectionSettings, openDatabase } from '../../src/store/db.ts';
import { readTree } from '../support/project-files.ts';
import { createScratchDatabase, defineTemplate } from './database.ts';

const SEED_SOURCES = [
  'catalogue/sandbox.yaml',
  'src/domain/catalogue',
  'src/domain/inventory',
  'src/drivers/compute/simulator',
];

/** The seed of simulated machines never varies and most worlds need it, so it is created once and copied. */
const SEEDED_TEMPLATE = defineTemplate(
  'sandbox',
  [...readTree(SEED_SOURCES, /\.(?:ts|yaml)$/).values()],
  async (connection) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'skerry-seed-'));
    await seedDatabase(loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' }), connection);
    await rm(dataDir, { recursive: true, force: true });
    // The first service that opens a copy binds it to its own key.
    const db = openDatabase(connection, { poolSize: 1 });
    await db.run('delete from service');
    await db.close();
  },
);

async function seedDatabase(config: Config, connection: ConnectionSettings): Promise<void> {
  const opened = await openService(config, connection);
  await prepareSandbox(opened);
  await opened.close();
}

/** Creates a sandbox database without open connections. */
export async function createSandboxDatabase(
  config: Config,
): Promise<Awaited<ReturnType<typeof createScratchDatabase>>> {
  if (config.SKERRY_COMPUTE === 'simulator') return await createScratchDatabase({ from: SEEDED_TEMPLATE });
  const scratch = await createScratchDatabase();
  await seedDatabase(config, scratch.connection);
  return scratch;
}
