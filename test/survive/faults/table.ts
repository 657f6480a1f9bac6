/** How each fault begins. It returns how to end it. */
import type { Begin } from './begin.ts';
import * as database from './database.ts';
import { failOver } from './fail-over.ts';
import type { FaultName } from './names.ts';
import * as outside from './outside.ts';
import * as processes from './processes.ts';

export const FAULTS: Readonly<Record<FaultName, Begin>> = {
  'process killed': processes.killProcess,
  'all processes killed': processes.killAll,
  'process frozen': processes.freezeProcess,
  'process stopped': processes.stopProcess,
  'database killed': database.signalServer('SIGKILL'),
  'database restarted': database.signalServer('SIGINT'),
  'database restarted immediately': database.signalServer('SIGQUIT'),
  'database frozen': database.freezeServer,
  'backend killed': database.killBackend,
  'backends terminated': database.terminateBackends,
  'database disk full': database.fillDatabaseDisk,
  'database delayed': database.delayDatabase,
  'database unreachable': database.hangDatabase,
  'database connections reset': database.resetDatabase,
  'database connections half-open': database.loseDatabase,
  'database connections dropped': database.dropDatabase,
  'database fatal error': database.failDatabase,
  'data disk full': processes.fillDataDisk,
  'data disk read-only': processes.makeDataReadOnly,
  'descriptors exhausted': processes.exhaustDescriptors,
  'memory exhausted': processes.exhaustMemory,
  'business clock forward': outside.advanceClock,
  'process clock forward': processes.shiftClock(1),
  'process clock back': processes.shiftClock(-1),
  'receiver delayed': outside.delayReceiver,
  'receiver unreachable': outside.onReceiver(
    (proxy) => proxy.hang(),
    (proxy) => proxy.resume(),
  ),
  'receiver connections reset': outside.onReceiver((proxy) => proxy.reset() > 0, null),
  'receiver connections half-open': outside.onReceiver((proxy) => proxy.lose() > 0, null),
  'receiver fails': outside.failReceiver,
  reorganization: outside.reorganize(false),
  'reorganization that drops payments': outside.reorganize(true),
  'node fails': outside.failNode,
  'host fails': outside.failHost,
  'host frozen': outside.freezeHost,
  'host lost': outside.loseHost,
  'host process killed': outside.killHost,
  'host process frozen': outside.freezeHostProcess,
  'host delayed': outside.delayHost,
  'host unreachable': outside.onHost(
    (proxy) => proxy.hang(),
    (proxy) => proxy.resume(),
  ),
  'host connections reset': outside.onHost((proxy) => proxy.reset() > 0, null),
  'host connections half-open': outside.onHost((proxy) => proxy.lose() > 0, null),
  'primary switched': failOver('switch'),
  'primary crashed': failOver('crash'),
  'primary killed': failOver('kill'),
};
