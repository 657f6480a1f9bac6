/**
 * The service as `npm run bench` measures it. Arguments: the connection, whether rate limits are shared, the
 * data folder, and a port that other processes share; without it, a free one.
 */
import { startService } from '../src/compose/serve.ts';
import { loadConfig } from '../src/config.ts';

const [connection = '{}', shared = 'false', dataDir = './data', port = '0'] = process.argv.slice(2);
const config = loadConfig({
  SKERRY_PORT: port,
  SKERRY_DATA_DIR: dataDir,
  SKERRY_LOG_LEVEL: 'info',
  SKERRY_RATE_CAPACITY: '1000000',
  SKERRY_RATE_REFILL_PER_S: '1000000',
  SKERRY_PROVISION_RATE_CAPACITY: '1000000',
  SKERRY_PROVISION_RATE_REFILL_PER_S: '1000000',
  SKERRY_WORKER_POLL_MS: '60000',
  // A busy machine must not refuse requests that the bench counts.
  SKERRY_OVERLOAD_MS: '10000',
});
const { url, stop } = await startService(config, JSON.parse(connection), {
  roles: new Set(['api']),
  sharedRateLimits: shared === 'true',
  sharedPort: port !== '0',
});
process.once('SIGTERM', () => void stop());
process.stdout.write(`ready ${url}\n`);
