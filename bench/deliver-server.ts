/** The whole service, including workers. The arguments are the connection and the data folder. */
import { startService } from '../src/compose/serve.ts';
import { loadConfig } from '../src/config.ts';

const [connection = '{}', dataDir = './data'] = process.argv.slice(2);
const config = loadConfig({
  SKERRY_PORT: '0',
  SKERRY_DATA_DIR: dataDir,
  SKERRY_LOG_LEVEL: 'error',
  SKERRY_SIM_BLOCK_S: '0',
  SKERRY_RATE_CAPACITY: '1000000',
  SKERRY_RATE_REFILL_PER_S: '1000000',
});
const { url, stop } = await startService(config, JSON.parse(connection), { sharedRateLimits: false });
process.once('SIGTERM', () => void stop());
process.stdout.write(`ready ${url}\n`);
