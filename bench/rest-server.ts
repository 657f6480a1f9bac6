/**
 * The service as `npm run bench` measures it. Arguments: the connection, whether rate limits are shared, the
 * data folder.
 */
import { startService } from '../src/compose/serve.ts';
import { loadConfig } from '../src/config.ts';

const [connection = '{}', shared = 'false', dataDir = './data'] = process.argv.slice(2);
const config = loadConfig({
  SKERRY_PORT: '0',
  SKERRY_DATA_DIR: dataDir,
  SKERRY_LOG_LEVEL: 'info',
  SKERRY_RATE_CAPACITY: '1000000',
  SKERRY_RATE_REFILL_PER_S: '1000000',
  SKERRY_WORKER_POLL_MS: '60000',
});
const { url, stop } = await startService(config, JSON.parse(connection), {
  roles: new Set(['api']),
  sharedRateLimits: shared === 'true',
});
process.once('SIGTERM', () => void stop());
process.stdout.write(`ready ${url}\n`);
