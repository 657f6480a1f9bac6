/**
 * The service of a checkout, without limits, as `bench/previous.ts` measures it. Arguments: the folder of the
 * checkout, the connection, the data folder.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [root = '.', connection = '{}', dataDir = './data'] = process.argv.slice(2);
const load = async (path: string) => await import(pathToFileURL(join(root, path)).href);
const { startService } = await load('src/compose/serve.ts');
const { loadConfig } = await load('src/config.ts');
const config = loadConfig({
  SKERRY_PORT: '0',
  SKERRY_DATA_DIR: dataDir,
  SKERRY_QUOTAS: 'servers=1000000',
  SKERRY_RATE_CAPACITY: '1000000',
  SKERRY_RATE_REFILL_PER_S: '1000000',
  SKERRY_PROVISION_RATE_CAPACITY: '1000000',
  SKERRY_PROVISION_RATE_REFILL_PER_S: '1000000',
  SKERRY_WORKER_POLL_MS: '60000',
});
const { url, stop } = await startService(config, JSON.parse(connection), { roles: new Set(['api']) });
process.once('SIGTERM', () => void stop());
process.stdout.write(`ready ${url}\n`);
