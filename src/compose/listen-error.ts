/** Explains why the service cannot listen, with the setting to change. */
import type { Config } from '../config.ts';
import { OperatorError } from '../kernel/operator-error.ts';

const REASONS: Readonly<Record<string, (config: Config) => string>> = {
  EADDRINUSE: ({ SKERRY_PORT }) =>
    `SKERRY_PORT: port ${SKERRY_PORT} is in use; set another port, or 0 for a free one`,
  EACCES: ({ SKERRY_PORT }) =>
    `SKERRY_PORT: no permission to listen on port ${SKERRY_PORT}; set a port above 1023`,
  EADDRNOTAVAIL: ({ SKERRY_HOST }) => `SKERRY_HOST: this machine does not have the address ${SKERRY_HOST}`,
  ENOTFOUND: ({ SKERRY_HOST }) =>
    `SKERRY_HOST: cannot resolve ${SKERRY_HOST}; set an address of this machine`,
};

/** Returns an OperatorError for a listen error, and any other error unchanged. */
export function toListenError(config: Config, error: unknown): unknown {
  const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ''];
  return reason ? new OperatorError(reason(config)) : error;
}
