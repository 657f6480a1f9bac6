/**
 * Preloaded into each test process. Node's own timeouts need a running event loop; this thread also ends a
 * process whose main thread is blocked, so that the file fails and the other files continue.
 */
import { Worker } from 'node:worker_threads';

const maxS = Number(process.env.SKERRY_TEST_PROCESS_MAX_S);
if (maxS > 0) {
  const code = `setTimeout(() => {
    require('node:fs').writeSync(2, 'not finished within ${maxS} s\\n');
    process.kill(process.pid, 'SIGKILL');
  }, ${maxS * 1_000})`;
  new Worker(code, { eval: true, env: {}, execArgv: [] }).unref();
}
