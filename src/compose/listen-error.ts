/** Why we may not listen, in words that name the setting and its cure. */
import type { Config } from '../config.ts';
import { OperatorError } from '../kernel/operator-error.ts';

const REASONS: Readonly<Record<string, (config: Config) => string>> = {
  EADDRINUSE: ({ SKERRY_PORT }) =>
    `SKERRY_PORT: port ${SKERRY_PORT} is in use; give another, or 0 for a free one`,
  EACCES: ({ SKERRY_PORT }) =>
    `SKERRY_PORT: this user may not listen on port ${SKERRY_PORT}; give one above 1023`,
  EADDRNOTAVAIL: ({ SKERRY_HOST }) => `SKERRY_HOST: this machine has no address ${SKERRY_HOST}`,
  ENOTFOUND: ({ SKERRY_HOST }) => `SKERRY_HOST: ${SKERRY_HOST} is no name of this machine`,
};

/** The refusal that a listen error calls for; any other error as it is. */
export function toListenError(config: Config, error: unknown): unknown {
  const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ''];
  return reason ? new OperatorError(reason(config)) : error;
}
