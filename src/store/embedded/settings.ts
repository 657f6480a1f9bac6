/**
 * The settings of every embedded server. Given on the command line, they take precedence over files in the
 * cluster.
 */
import { PORT, type Socket } from './socket.ts';

/** The maximum number of connections to the embedded server. */
export const EMBEDDED_CONNECTIONS = 200;

/**
 * Durable, without TCP, and without client data in the log: no statements, no parameters, and no statement
 * errors (their messages quote data, and the client receives them anyway).
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

/** Returns the settings as arguments of the postgres program. */
export function settingsFor(socket: Socket): string[] {
  // The value is a list of directories, so the path is quoted: it may contain a comma.
  const sockets = `unix_socket_directories="${socket.folder.replaceAll('"', '""')}"`;
  const settings = Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`);
  return [...settings, sockets].flatMap((setting) => ['-c', setting]);
}
