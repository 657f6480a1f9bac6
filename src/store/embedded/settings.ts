/** The settings every embedded server runs with; given on its command line, they win over files in the cluster. */
import { PORT, type Socket } from './socket.ts';

/** How many connections the embedded server takes. */
export const EMBEDDED_CONNECTIONS = 200;

/**
 * Safe on disk, no TCP, and nothing of what clients send reaches the log: no statements, no parameters, no
 * errors of statements (their texts quote data, and the client gets them anyway).
 */
const SETTINGS = {
  listen_addresses: '',
  port: PORT,
  max_connections: EMBEDDED_CONNECTIONS,
  shared_buffers: '128MB',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_destination: 'stderr',
  log_statement: 'none',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_min_duration_statement: -1,
  log_error_verbosity: 'terse',
  log_parameter_max_length: 0,
  log_parameter_max_length_on_error: 0,
  log_checkpoints: 'off',
};

/** The settings as arguments of the postgres program. */
export function settingsFor(socket: Socket): string[] {
  // A list of folders, so the path is quoted: it may hold a comma.
  const sockets = `unix_socket_directories="${socket.folder.replaceAll('"', '""')}"`;
  const settings = Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`);
  return [...settings, sockets].flatMap((setting) => ['-c', setting]);
}
